"""The form of an import's options: made from their declarations, read, and written back."""

from dataclasses import replace

import pytest

from dashboard.fields.option_form import OptionsForm
from importer.engine.errors import Problem
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.plan.options import Options

ASKED = {"commit_rows": "2", "isolation": "READ-COMMITTED", "session": "Sort_Buffer_Size = 4M\nnet_read_timeout=60"}
MEANT = {
    "commit_rows": 2,
    "isolation": "READ-COMMITTED",
    "session": {"sort_buffer_size": "4M", "net_read_timeout": "60"},
}


def options(**values: str) -> Options:
    return OptionsForm(values, Options(), values.get("mode", "append")).options


def test_every_option_with_a_flag_has_a_field_with_its_words():
    shown = {
        each.name: each
        for mode in ("sync", "create")
        for each in OptionsForm({"on_error": "reject", "method": "insert"}, Options(), mode)
    }
    assert set(shown) == {each.name for each in OPTIONS if each.flag}
    for spec in (each for each in OPTIONS if each.flag):
        assert (shown[spec.name].label, bool(shown[spec.name].hint)) == (spec.label, True)


def test_nothing_chosen_leaves_everything_to_the_planner():
    assert options() == Options()


def test_what_was_written_is_what_was_meant():
    chosen = {name: MEANT[name] for name in MEANT}
    assert options(**ASKED) == Options(**chosen)
    assert options(chunk_mib="0.5").chunk_bytes == 2**19
    assert options(unique_checks="no", lock_table="yes") == Options(unique_checks=False, lock_table=True)


@pytest.mark.parametrize("begun", [Options(), Options(**MEANT), Options(chunk_bytes=1_000_001, lock_table=True)])
def test_options_come_back_through_the_form(begun):
    shown = OptionsForm({}, begun, "append")
    assert options(**{each.html_name: each.text for each in shown}) == begun


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("commit_rows", text) for text in ("0", "-1", "x", "1e3", "1,5", "9" * 12)),
        *(("parallelism", text) for text in ("0", "65")),
        *(("chunk_bytes", text) for text in ("0", "x", "99999", "nan")),
        *(("session", text) for text in ("a", "a=", "=1", "a=1\nA=2")),
        ("server_variables", "innodb_io_capacity = 5"),
    ],
)
def test_what_cannot_be_is_said_of_its_option(name, text):
    with pytest.raises(Problem) as caught:
        options(**{"chunk_mib" if name == "chunk_bytes" else name: text})
    assert caught.value.option == name


def test_what_means_nothing_beside_other_choices_is_left_out():
    begun = Options(partitions=8, rows_per_statement=100)
    shown = OptionsForm({"method": "load_data_local"}, begun, "append")
    assert shown.options == Options(method="load_data_local")
    assert OptionsForm({}, begun, "create").options == replace(begun, mode="create")


def test_server_variables_need_a_word_of_consent():
    written = {"server_variables": "innodb_io_capacity = 5"}
    assert options(**written, server_variables_agreed="yes").server_variables == {"innodb_io_capacity": "5"}


def test_the_consent_to_change_server_variables_goes_with_them() -> None:
    before = Options(server_variables={"innodb_io_capacity": 500})
    sent = {"server_variables": "innodb_io_capacity = 600", "server_variables_agreed": "yes"}
    assert OptionsForm(sent, before, "append").changed == sent
    withdrawn = {"server_variables": "innodb_io_capacity = 500", "server_variables_agreed": ""}
    assert OptionsForm(withdrawn, before, "append").changed == withdrawn
    assert OptionsForm({}, before, "append").changed == {}
