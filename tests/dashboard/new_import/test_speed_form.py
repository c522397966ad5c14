"""The speed settings on the new import page: shown with what the plan makes of them, kept, refused at their field."""

import re

import pytest
from django.urls import reverse
from django.utils.html import escape

from dashboard.new_import.speed_form import SpeedChoices, card
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.option_specs import SPEED
from importer.engine.plan.options import Options
from importer.models import ImportJob, MappingPreset
from tests.dashboard.new_import.test_page import show, shown_form, start, target, uploaded
from tests.dashboard.new_import.test_presets import save

__all__ = ["target"]

ASKED = {"commit_rows": "2", "isolation": "READ-COMMITTED", "session": "Sort_Buffer_Size = 4M\nnet_read_timeout=60"}
MEANT = {
    "commit_rows": 2,
    "isolation": "READ-COMMITTED",
    "session": {"sort_buffer_size": "4M", "net_read_timeout": "60"},
}


def options(**values: str) -> Options:
    return Options(**SpeedChoices(values, values.get("mode", "append")).options)


def at_field(answer, name: str) -> str:
    """The problem shown at a field that is marked as invalid; "" if it is not."""
    html = answer.content.decode()
    found = re.search(rf'<div class="invalid-feedback" id="{name}-[^"]*-problem">([^<]*)', html)
    return found[1] if found and re.search(rf'is-invalid" id="{name}-', html) else ""


class TestChoices:
    def test_nothing_chosen_leaves_everything_to_the_planner(self):
        assert options() == Options()

    def test_what_was_written_is_what_was_meant(self):
        chosen = {name: MEANT[name] for name in MEANT}
        assert options(**ASKED) == Options(**chosen)
        assert options(chunk_mib="0.5").chunk_bytes == 2**19
        assert options(unique_checks="no", lock_table="yes") == Options(unique_checks=False, lock_table=True)

    @pytest.mark.parametrize("begun", [Options(), Options(**MEANT), Options(chunk_bytes=1_000_001, lock_table=True)])
    def test_options_come_back_through_the_form(self, begun):
        shown = card(SpeedChoices({}, "append", begun), None, None)
        assert options(**{each.name: each.text for each in shown.settings}) == begun

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            *(("commit_rows", text) for text in ("0", "-1", "x", "1e3", "9" * 12)),
            *(("parallelism", text) for text in ("0", "65")),
            *(("chunk_bytes", text) for text in ("0", "x", "99999", "nan")),
            *(("session", text) for text in ("a", "a=", "=1", "a=1\nA=2")),
            ("server_variables", "innodb_io_capacity = 5"),
        ],
    )
    def test_what_cannot_be_is_said_of_its_option(self, name, text):
        with pytest.raises(Problem) as caught:
            options(**{"chunk_mib" if name == "chunk_bytes" else name: text})
        assert caught.value.option == name

    def test_what_means_nothing_beside_other_choices_is_left_out(self):
        begun = Options(partitions=8, load_as="myisam", rows_per_statement=100)
        assert Options(**SpeedChoices({"method": "load_data_local"}, "append", begun).options) == Options(
            method="load_data_local"
        )
        assert Options(**SpeedChoices({}, "create", begun).options) == begun

    def test_server_variables_need_a_word_of_consent(self):
        written = {"server_variables": "innodb_io_capacity = 5"}
        assert options(**written, server_variables_agreed="yes").server_variables == {"innodb_io_capacity": "5"}


class TestPage:
    def test_closed_it_says_what_the_planner_chose(self, browser, user, target):
        html = show(browser, uploaded(user)).content.decode()
        assert re.search(r'speed-summary break">LOAD DATA LOCAL · 1 in parallel · One chunk of', html)
        assert not re.search(r'<details class="speed"[^>]* open', html)
        for setting in SPEED:
            if setting.name not in ("rows_per_statement", "partitions", "load_as"):
                assert f">{escape(setting.label)}</label>" in html
        assert "set manually" not in html

    def test_a_choice_changes_the_plan_and_stays_in_the_form(self, browser, user, target):
        source = uploaded(user)
        answer = show(browser, source, **shown_form(show(browser, source)) | ASKED)
        html = answer.content.decode()
        assert "Sort_Buffer_Size = 4M\nnet_read_timeout=60" in html
        assert "sort_buffer_size = 4M in each session" in html
        assert "3 set manually" in html
        assert shown_form(answer)["commit_rows"] == "2"

    def test_a_bad_value_is_said_beside_its_field(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        answer = show(browser, source, **{**values, "commit_rows": "many"})
        assert answer.status_code == 422
        assert "whole number" in at_field(answer, "commit_rows")
        assert re.search(r'<details class="speed"[^>]* open', answer.content.decode())
        answer = show(browser, source, **{**values, "session": "sql_mode = ANSI"})
        assert "sql_mode cannot be set" in at_field(answer, "session")
        assert start(browser, source, **{**values, "method": "telepathy"}).status_code == 422
        assert not ImportJob.objects.exists()

    def test_the_page_comes_back_as_it_was_left(self, browser, user, target):
        source = uploaded(user)
        show(browser, source, **shown_form(show(browser, source)) | ASKED)
        assert shown_form(browser.get(reverse("new_source", args=[source.key])))["commit_rows"] == "2"
        afresh = browser.get(reverse("new_source", args=[source.key]), {"afresh": "yes"})
        assert shown_form(afresh)["commit_rows"] == ""
        assert shown_form(show(browser, source))["commit_rows"] == ""

    def test_indexes_after_the_load_are_planned_with_their_sql(self, browser, user, target):
        with connect(target.address) as connection:
            execute(connection, "ALTER TABLE cities ADD KEY by_name (name), ADD KEY by_seen (seen)")
        source = uploaded(user)
        html = show(browser, source, **shown_form(show(browser, source)) | {"indexes": "defer"}).content.decode()
        assert re.search(r'setting-now break">2 indexes after the load', html)
        assert "DROP KEY `by_name`, DROP KEY `by_seen`" in html
        assert "ADD KEY `by_name`" in html

    def test_an_import_starts_with_them_and_shows_them(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)) | ASKED)
        job = ImportJob.objects.get()
        assert {name: getattr(job.options, name) for name in MEANT} == MEANT


class TestKept:
    def test_in_a_preset(self, browser, user, target):
        save(browser, uploaded(user), **ASKED, mode="atomic")
        preset = MappingPreset.objects.get()
        assert {name: getattr(preset.options, name) for name in MEANT} == MEANT
        values = shown_form(show(browser, uploaded(user, name="next.csv")))
        assert (values["commit_rows"], values["mode"]) == ("2", "atomic")
        assert values["session"] == "net_read_timeout = 60\nsort_buffer_size = 4M"

    def test_for_the_rejected_rows_of_an_import(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)) | ASKED)
        again = {"again": str(ImportJob.objects.get().pk)}
        answer = browser.get(reverse("new_source", args=[uploaded(user, name="mended.csv").key]), again)
        assert shown_form(answer)["commit_rows"] == "2"
