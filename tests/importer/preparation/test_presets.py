"""Presets, from the command line and on a real server."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer.access.limits import TooMany
from importer.engine.errors import Problem
from importer.engine.mapping.columns import FieldOverride, GeneratedColumn
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.schema.table import read_table
from importer.engine.source.profile.profile import profile_file
from importer.models import MappingPreset, Target
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.sources import uploads
from tests.documents import read
from tests.people import operator
from tests.shell import Shell
from tests.targets import on_mariadb

TABLES = ("CREATE TABLE prices (id INT, price DECIMAL(9,2), sold BIT(1), origin VARCHAR(40), line INT, at DATETIME)",)
database = on_mariadb


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text("nr;Preis;sold\n1;1.234,50;ja\n2;0,25;nein\n3;;ja\n")
    return path


def prepared(target: Target, path: Path) -> PreparedImport:
    return prepare(
        uploads.register(path),
        target,
        "prices",
        ImportRequest(
            overrides=[FieldOverride("nr", "id"), FieldOverride("preis", "price")],
            fillings=[GeneratedColumn("line", "line"), GeneratedColumn("origin", "text", "it's")],
            options=Options(on_error="reject", max_rejects=3),
        ),
    )


def run(shell: Shell, *args: str):
    return shell.manage("import_csv", *args, "--in-process", "--json", check=False)


WANTED = [(1, Decimal("1234.50"), b"\x01"), (2, Decimal("0.25"), b"\0"), (3, None, b"\x01")]


def test_map_and_set(target: Target, prices: Path, shell: Shell):
    done = run(
        shell,
        *(str(prices), "--target", "warehouse", "--table", "prices"),
        *("--map", "nr=id", "--map", "#2=price:trim,thousands-dot,null="),
        *("--set", "origin=@file", "--set", "line=@line", "--set", "at=@time"),
    )
    assert read(done.stdout)["balanced"] is True, done.stdout + done.stderr
    with connect(target.address) as connection:
        rows = fetch_all(connection, "SELECT id, price, sold, origin, line, at FROM prices ORDER BY id")
    assert [row[:3] for row in rows] == WANTED
    assert [row[3:5] for row in rows] == [("prices.csv", 2), ("prices.csv", 3), ("prices.csv", 4)]
    assert len({row[5] for row in rows}) == 1
    assert isinstance(rows[0][5], datetime)


def test_a_preset_is_an_import_by_name(target: Target, prices: Path, shell: Shell):
    presets.save("Monthly prices", prepared(target, prices))
    done = run(shell, str(prices), "--preset", "Monthly prices")
    assert read(done.stdout)["balanced"] is True, done.stdout + done.stderr
    with connect(target.address) as connection:
        rows = fetch_all(connection, "SELECT id, price, sold, origin, line FROM prices ORDER BY id")
    assert rows == [(*row, "it's", line) for line, row in enumerate(WANTED, start=2)]


def test_a_saved_preset_reads_back_unchanged(target: Target, prices: Path):
    before = prepared(target, prices)
    preset = MappingPreset.objects.get(pk=presets.save(" Monthly ", before).pk)
    assert (preset.name, preset.table, preset.target) == ("Monthly", f"{target.database}.prices", target)
    assert (preset.mapping, preset.fillings, preset.options) == (before.mapping, before.fillings, before.options)
    assert preset.file_dialect == before.profile.dialect
    assert presets.for_header([" NR ", "preis", "Sold"]) == [preset]
    assert presets.for_header(["preis", "nr", "sold"]) == []
    assert presets.differences(preset, before.table) == []


def test_options_of_another_version_are_left_out(target: Target, prices: Path):
    preset = presets.save("p", prepared(target, prices))
    MappingPreset.objects.update(options_json={**preset.options_json, "delayed_insert": True, "commit_rows": 500})
    assert presets.by_name("p").options == replace(preset.options, commit_rows=500)


def test_changes_of_the_table_are_reported(target: Target, prices: Path, shell: Shell):
    preset = presets.save("p", prepared(target, prices))
    with connect(target.address) as connection:
        execute(connection, "ALTER TABLE prices MODIFY price DECIMAL(12,2), DROP COLUMN at, ADD COLUMN note TEXT")
        table = read_table(connection, target.database, "prices")
    said = ["at is gone", "note is new", "price was decimal(9,2), is decimal(12,2)"]
    assert presets.differences(preset, table) == said
    done = run(shell, str(prices), "--preset", "p")
    assert f"has changed since the preset was saved: {'; '.join(said)}" in done.stderr
    assert read(done.stdout)["balanced"] is True


def test_a_missing_column_ends_the_import(target: Target, prices: Path, shell: Shell):
    presets.save("p", prepared(target, prices))
    with connect(target.address) as connection:
        execute(connection, "ALTER TABLE prices DROP COLUMN price")
    assert "has no column price" in run(shell, str(prices), "--preset", "p").stderr


def test_another_header_is_refused(target: Target, prices: Path, tmp_path: Path):
    preset = presets.save("p", prepared(target, prices))
    other = tmp_path / "other.csv"
    other.write_text("nr;Preis;verkauft\n1;1;ja\n")
    with pytest.raises(Problem, match="sold missing; verkauft new"):
        presets.check_header(preset, profile_file(other).header)
    with pytest.raises(Problem, match="the order differs"):
        presets.check_header(preset, ["Preis", "nr", "sold"])


@pytest.mark.parametrize(
    ("header", "refused"),
    [
        (["column_1", "column_2", "column_3"], False),
        (["id", "column_2", "note"], False),
        (["note", "column_2", "id"], True),
    ],
)
def test_columns_of_files_without_a_header(target: Target, prices: Path, header: list[str], refused: bool):
    """A column that has the generated name of its field is no header in another order."""
    preset = presets.save("p", prepared(target, prices))
    preset.header = ["column_1", "column_2", "column_3"]
    preset.dialect_json |= {"header": False}
    preset.mapping_json = [{"column": name} for name in ("id", "column_2", "note")]
    with pytest.raises(Problem, match="in another order") if refused else nullcontext():
        presets.check_header(preset, header)


def test_a_person_has_at_most_so_many(target: Target, prices: Path, settings):
    settings.PRESETS_PER_PERSON = 1
    ann = operator("ann")
    presets.save("p", prepared(target, prices), ann)
    with pytest.raises(TooMany, match=r"ann has as many presets as each person may have: 1\..*PRESETS_PER_PERSON"):
        presets.save("q", prepared(target, prices), ann)
    presets.save("q", prepared(target, prices), operator("ben"))


def test_a_long_name_is_not_repeated_in_full(target: Target, prices: Path):
    with pytest.raises(Problem, match="at most 64 characters") as caught:
        presets.save("x" * 2**20, prepared(target, prices))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 65, "taken"])
def test_a_name_that_cannot_be(target: Target, prices: Path, name: str):
    taken = presets.save("taken", prepared(target, prices))
    with pytest.raises(Problem, match="cannot be the preset's name"):
        presets.save(name, prepared(target, prices))
    other = presets.save("other", prepared(target, prices))
    with pytest.raises(Problem):
        presets.rename(other, taken.name)
    assert sorted(MappingPreset.objects.values_list("name", flat=True)) == ["other", "taken"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--preset", "nope"], "no preset named nope"),
        (["--preset", "p", "--null", "NA"], "--null cannot be combined with --preset"),
        (["--preset", "p", "--primary-key", "id"], "--primary-key cannot be combined with --preset"),
        (["--preset", "p", "--no-header"], "--no-header cannot be combined with --preset"),
        (["--preset", "p", "--header"], "--header cannot be combined with --preset"),
        (["--preset", "p", "--no-trailing-delimiter"], "--no-trailing-delimiter cannot be combined with --preset"),
        (["--preset", "p", "--escape", ""], "--escape cannot be combined with --preset"),
        (["--preset", "p", "--comment", "#"], "--comment cannot be combined with --preset"),
        (["--target", "warehouse"], "No table is named"),
        (["--table", "prices"], "No server is named"),
        (["--target", "warehouse", "--table", "prices", "--map", "x=id"], "has no field x"),
        (["--target", "warehouse", "--table", "prices", "--map", "nr=q"], "has no column q"),
        (["--target", "warehouse", "--table", "prices", "--map", "nr=id:hex"], "hex does not go with id"),
        (["--target", "warehouse", "--table", "prices", "--map", "nr=id", "--set", "id=1"], "id is given twice"),
    ],
)
def test_invalid_command_options_are_refused(target: Target, prices: Path, args: list[str], said: str):
    presets.save("p", prepared(target, prices))
    with pytest.raises(CommandError, match=said):
        call_command("import_csv", str(prices), *args, "--plan-only")
