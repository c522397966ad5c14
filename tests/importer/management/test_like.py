"""`--like IMPORT`: table, columns, answers and options of an earlier import, and what the command line says instead."""

from collections.abc import Callable
from pathlib import Path

import pytest

from importer.access.acting import acting_as
from importer.engine.errors import Problem
from importer.engine.mapping.columns import FieldOverride, GeneratedColumn
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.preparation import presets
from tests.importer.management.test_import_options import prepared_by
from tests.importer.steps import import_of, run
from tests.people import stranger
from tests.targets import on_mariadb, target_with

TABLES = (
    "CREATE TABLE prices (id INT PRIMARY KEY, price DECIMAL(9,2), day DATE, note VARCHAR(40), origin VARCHAR(40))",
    "CREATE TABLE others (id INT PRIMARY KEY, price DECIMAL(9,2), day DATE, note VARCHAR(40), origin VARCHAR(40))",
)
database = on_mariadb
# Neither the columns of nr and cost nor the order of day and month show from the file.
FIRST = "nr;cost;day;note\n1;1,5;01/02/2024;-\n"
NEXT = "nr;cost;day;note\n2;2,5;03/04/2024;x\n"

File = Callable[..., str]


@pytest.fixture
def target(database, db) -> Target:
    return target_with(database, *TABLES)


@pytest.fixture
def file(tmp_path: Path) -> File:
    def written(text: str = NEXT, name: str = "next.csv") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


@pytest.fixture
def job(target: Target, file: File) -> ImportJob:
    """An import with columns, answers and options that somebody has stated."""
    columns = [
        FieldOverride("nr", "id"),
        FieldOverride("cost", "price", transforms=("decimal-comma",)),
        FieldOverride("day", "day", datetime_format="%d/%m/%Y"),
        FieldOverride("note", "note", null_markers=("-",)),
    ]
    return run(
        import_of(
            Path(file(FIRST, "first.csv")),
            target,
            "prices",
            overrides=columns,
            fillings=[GeneratedColumn("origin", "text", "shop")],
            options=Options(on_error="reject", max_rejects=3, commit_rows=7),
        )
    )


def like(job: ImportJob, path: str, *words: str):
    return prepared_by(path, "--like", str(job.pk), *words)


def test_all_of_it_is_taken_for_a_file_with_the_same_header(job: ImportJob, file: File):
    made = like(job, file())
    assert (made.target, f"{made.table.schema}.{made.table.name}") == (job.target, job.table)
    assert (made.mapping, made.fillings, made.options) == (job.mapping, job.fillings, job.options)
    with pytest.raises(NeedsAnswer):
        prepared_by(file(), "--to", job.target.name, "--table", "prices", "--map", "nr=id", "--map", "cost=price")


def test_what_the_command_line_states_wins(job: ImportJob, file: File):
    made = like(
        job, file(), "--map", "note=origin", "--map", "cost=price:null=?", "--max-rejects", "9", "--mode", "atomic"
    )
    assert [each.column for each in made.mapping] == ["id", "price", "day", "origin"]
    assert (made.mapping[1].transforms, made.mapping[1].null_markers) == (("decimal-comma",), ("?",))
    assert made.mapping[2] == job.mapping[2]
    assert made.fillings == ()
    assert (made.options.max_rejects, made.options.mode, made.options.commit_rows) == (9, "atomic", 7)
    made = like(job, file(), "--set", "origin=stall", "--null", "x")
    assert [each.text for each in made.fillings] == ["stall"]
    assert [each.null_markers for each in made.mapping] == [(), ("x",), ("x",), ("x",)]
    assert made.mapping[2].datetime_format == "%d/%m/%Y"
    made = like(job, file(NEXT.replace(";", "|")), "--delimiter", "|")
    assert (made.profile.dialect.delimiter, made.mapping) == ("|", job.mapping)


def test_a_field_in_another_column_is_asked_about_alone(job: ImportJob, file: File):
    """Its format is not that of the import any more; those of the others are."""
    with pytest.raises(NeedsAnswer) as asked:
        like(job, file(NEXT.replace("x", "05/06/2024")), "--map", "note=day", "--map", "day=")
    assert [each.field for each in asked.value.reading.guesses] == ["note"]
    made = like(job, file(), "--map", "note=day:date=%d/%m/%Y")
    assert [each.column for each in made.mapping] == ["id", "price", "", "day"]


def test_columns_are_for_the_same_table_and_header(job: ImportJob, file: File, capsys):
    said = f"Import {job.pk} went into {job.table}: only its format and options are taken."
    made = like(job, file("id;price;day;note\n2;2,5;2024-04-03;x\n"), "--table", "others")
    assert (made.table.name, made.options, made.reading.notes[0]) == ("others", job.options, said)
    said = f"Import {job.pk} had another header (nr missing; id new): only its format and options are taken."
    with pytest.raises(NeedsAnswer) as asked:
        like(job, file(NEXT.replace("nr", "id")))
    assert asked.value.reading.notes[0] == said
    assert said in capsys.readouterr().err
    assert {each.field for each in asked.value.reading.guesses} == {"cost", "day"}


def test_a_column_that_is_gone_is_asked_about_alone(job: ImportJob, file: File):
    with connect(job.target.address) as connection:
        execute(connection, "ALTER TABLE prices DROP COLUMN price")
    with pytest.raises(NeedsAnswer) as asked:
        like(job, file())
    assert [each.field for each in asked.value.reading.guesses] == ["cost"]


def test_a_file_that_shows_another_format_is_asked_about(job: ImportJob, file: File):
    with pytest.raises(NeedsAnswer, match="--skip-footer 1"):
        like(job, file(f"{NEXT}Total;;;\n"))
    assert like(job, file(f"{NEXT}Total;;;\n"), "--skip-footer", "1").profile.dialect.skip_footer == 1


def test_an_import_that_made_its_table_is_followed_by_rows_for_it(target: Target, file: File):
    request = {
        "options": Options(mode="create"),
        "overrides": [FieldOverride("day", "day", datetime_format="%d/%m/%Y")],
    }
    first = run(import_of(Path(file(FIRST, "first.csv")), target, "made", **request))
    assert first.status == ImportJob.Status.SUCCEEDED, first.problem
    assert like(first, file()).options.mode == "append"
    with connect(target.address) as connection:
        execute(connection, "DROP TABLE made")
    again = like(first, file(), "--mode", "create", "--map", "note=remark")
    assert [each.column for each in again.mapping] == ["nr", "cost", "day", "remark"]
    assert again.mapping[:3] == first.mapping[:3]


def test_only_an_import_that_the_person_sees_can_be_followed(job: ImportJob, file: File):
    with pytest.raises(Problem, match=f"There is no import {job.pk + 1}"):
        prepared_by(file(), "--like", str(job.pk + 1))
    with acting_as(stranger("ann")), pytest.raises(Problem, match=f"There is no import {job.pk}"):
        like(job, file())
    presets.save_from_job("p", job)
    with pytest.raises(Problem, match="--like cannot be combined with --preset"):
        like(job, file(), "--preset", "p")


def test_the_rows_are_loaded(job: ImportJob, file: File):
    run(commands.create(like(job, file())))
    with connect(job.target.address) as connection:
        rows = fetch_all(connection, "SELECT id, CAST(price AS CHAR), CAST(day AS CHAR), note, origin FROM prices")
    assert sorted(rows) == [(1, "1.50", "2024-02-01", None, "shop"), (2, "2.50", "2024-04-03", "x", "shop")]
