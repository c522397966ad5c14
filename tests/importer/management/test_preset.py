"""`millrace preset`: presets are listed, shown, renamed, deleted, and taken to another installation."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.models import MappingPreset, Target
from tests.documents import read

pytestmark = pytest.mark.django_db

MAPPING = (ColumnMapping("id"), ColumnMapping("price", ("NA",), "", ("decimal-comma",)))
FILLINGS = (GeneratedColumn("origin", "file"),)
OPTIONS = Options(on_error="reject", max_rejects=3)


@pytest.fixture
def preset() -> MappingPreset:
    place = {"host": "127.0.0.1", "user": "me", "database": "shop", "tls": "off"}
    return MappingPreset.objects.create(
        name="monthly",
        target=Target.objects.create(name="warehouse", **place),
        schema_name="shop",
        table_name="prices",
        header=["nr", "Preis"],
        dialect_json=to_json(Dialect(delimiter=";")),
        mapping_json=[to_json(each) for each in MAPPING],
        fillings_json=[to_json(each) for each in FILLINGS],
        options_json=to_json(OPTIONS),
        columns_json=[["id", "int"], ["price", "decimal(9,2)"]],
    )


def printed(capsys, *words: str) -> str:
    call_command("preset", *words)
    return capsys.readouterr().out


def test_a_preset_goes_to_another_installation_unchanged(preset, tmp_path: Path, capsys):
    file = str(tmp_path / "monthly.json")
    printed(capsys, "export", "monthly", "--out", file)
    printed(capsys, "delete", "monthly")
    assert not MappingPreset.objects.exists()
    assert "The preset monthly is imported, for shop.prices of warehouse." in printed(capsys, "import", file)
    again = MappingPreset.objects.get()
    assert (again.file_dialect, again.mapping, again.fillings, again.options, again.header) == (
        preset.file_dialect,
        MAPPING,
        FILLINGS,
        OPTIONS,
        preset.header,
    )
    assert again.columns_json == preset.columns_json


def test_it_can_be_for_another_target_table_and_name(preset, tmp_path: Path, capsys):
    Target.objects.create(name="other", host="127.0.0.1", user="me", database="store", tls="off")
    file = tmp_path / "monthly.json"
    file.write_text(printed(capsys, "export", "monthly"))
    printed(capsys, "import", str(file), "--to", "other", "--table", "costs", "--new-name", "yearly")
    made = MappingPreset.objects.get(name="yearly")
    assert (made.table, made.target.name) == ("store.costs", "other")


def test_show_and_list_say_what_is_set(preset, capsys):
    assert printed(capsys, "list") == "monthly: shop.prices of warehouse, 2 fields, not used yet\n"
    told = printed(capsys, "show", "monthly")
    assert "  Preis -> price (decimal-comma), NULL: NA\n" in told
    assert "  origin = @file\n" in told
    assert read(printed(capsys, "show", "monthly", "--json"))["mapping"][1]["column"] == "price"
    assert read(printed(capsys, "list", "--json"))["presets"][0]["used"] is None
    assert read(printed(capsys, "export", "monthly", "--json"))["options"]["max_rejects"] == 3


def test_a_new_name_must_be_free(preset, capsys):
    printed(capsys, "rename", "monthly", "yearly")
    assert MappingPreset.objects.get().name == "yearly"
    with pytest.raises(CommandError, match="There is no preset named monthly"):
        call_command("preset", "delete", "monthly")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "millrace.report/1"}, "no exported preset"),
        ({"mapping": [{"column": 1}]}, r"no exported preset: .*mapping\[0\]"),
        ({"header": ["nr"]}, "1 field, and columns for 2"),
        ({"target": "gone"}, "no target named gone"),
        ({}, "cannot be the preset's name"),
    ],
)
def test_what_is_no_preset_of_this_installation_is_refused(preset, change, said: str, tmp_path: Path, capsys):
    file = tmp_path / "monthly.json"
    file.write_text(json.dumps(json.loads(printed(capsys, "export", "monthly")) | change))
    with pytest.raises(CommandError, match=said):
        call_command("preset", "import", str(file))
    assert MappingPreset.objects.count() == 1


def test_a_file_of_that_name_stays_as_it_is(preset, tmp_path: Path):
    file = tmp_path / "monthly.json"
    file.write_text("mine")
    with pytest.raises(CommandError, match="There is a file of that name"):
        call_command("preset", "export", "monthly", "--out", str(file))
    assert file.read_text() == "mine"
