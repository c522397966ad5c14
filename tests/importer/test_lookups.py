"""Lookups: a field has the name of another table's row, and the column gets its number."""

import csv
import io
from pathlib import Path

import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load import ledger
from importer.engine.mapping.columns import FieldOverride, Lookup
from importer.engine.mysql.connection import connect
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.models import ImportJob
from importer.preparation import presets
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest
from importer.sources import uploads
from tests.engine.loads import account_with, rows_of, run_sql
from tests.importer.steps import import_of, run
from tests.targets import saved_target

pytestmark = [pytest.mark.both_servers, pytest.mark.usefixtures("no_workers"), pytest.mark.django_db(transaction=True)]

TABLES = (
    "CREATE TABLE team (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), old VARCHAR(9) CHARACTER SET latin1)"
    " CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
    "INSERT INTO team (name, old) VALUES ('Sales', 'a'), ('Zürich', 'b'), ('Twice', 'ä'), ('twice', '?'), (NULL, NULL),"
    " ('7', 'c'), ('it''s/=\\\\', 'd')",
    "CREATE TABLE people (id INT PRIMARY KEY, team_id INT, FOREIGN KEY (team_id) REFERENCES team (id))",
)
ROWS = "id,team\n1,Sales\n2,SALES \n3,zurich\n4,Twice\n5,\n6,7\n7,8\n8,it's/=\\\n9,Nobody\n10,sale\n"
STORED = [(1, 1), (2, 1), (3, 2), (5, None), (6, 6), (8, 7)]


def request_of(text: str = "team.name", **others) -> ImportRequest:
    return ImportRequest(overrides=[FieldOverride("team", "team_id", lookup=Lookup.of(text))], **others)


def loaded(target, path: Path, **options) -> ImportJob:
    asked = Options(on_error="reject", **options)
    return run(import_of(path, target, "people", **vars(request_of(options=asked))))


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"verify": "full"},
        {"method": "insert"},
        {"method": "insert_prepared"},
        {"mode": "atomic"},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "plain",
)
def test_a_column_gets_the_number_of_the_row_with_the_name(target, people: Path, options):
    job = loaded(target, people, **options)
    assert job.status == ImportJob.Status.SUCCEEDED, job.problem
    assert rows_of(target.address, "SELECT id, team_id FROM people ORDER BY id") == STORED
    assert reasons_of(job) == {
        4: "Several rows of team have the name 'Twice'.",
        7: "No row of team has the name '8'.",
        9: "No row of team has the name 'Nobody'.",
        10: "No row of team has the name 'sale'.",
    }


def reasons_of(job: ImportJob) -> dict[int, str]:
    """The reason of each rejected row, by the number in its line."""
    text = b"".join(downloads.reasons_file(job)).decode()
    return {int(row["line"]) - 1: row["reason"] for row in csv.DictReader(io.StringIO(text))}


def test_a_column_of_another_character_set_takes_no_other_letter_for_a_question_mark(target, tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text("id,team\n1,ä\n2,Ł\n3,?\n4,B \n")
    job = run(import_of(path, target, "people", request_of("team.old", options=Options(on_error="reject"))))
    assert rows_of(target.address, "SELECT id, team_id FROM people ORDER BY id") == [(1, 3), (3, 4), (4, 2)]
    assert [*reasons_of(job).values()] == ["No row of team has the old 'Ł'."]


def test_a_row_without_a_number_is_none_and_the_longest_number_is_whole(target, tmp_path: Path):
    longest = 2**64 - 1
    run_sql(
        target.address,
        "CREATE TABLE site (number BIGINT UNSIGNED UNIQUE, name VARCHAR(9))",
        f"INSERT INTO site VALUES (NULL, 'new'), ({longest}, 'old')",
        "CREATE TABLE visit (id INT PRIMARY KEY, team_id BIGINT UNSIGNED, FOREIGN KEY (team_id)"
        " REFERENCES site (number))",
    )
    path = tmp_path / "visits.csv"
    path.write_text("id,team\n1,old\n2,new\n")
    job = run(import_of(path, target, "visit", request_of("site.name", options=Options(on_error="reject"))))
    assert rows_of(target.address, "SELECT id, team_id FROM visit") == [(1, longest)]
    assert list(reasons_of(job)) == [2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing.name", "There is no table “nothing”"),
        ("team.title", "team has no column title"),
        ("team.id", "id is int"),
        ("people.name", "cannot be looked up in"),
    ],
)
def test_a_lookup_that_is_not_possible_is_refused(target, people: Path, text: str, words: str):
    with pytest.raises(Problem, match=words):
        import_of(people, target, "people", request_of(text))


def test_the_right_to_read_the_parent_is_named(target, people: Path):
    with connect(target.address) as connection:
        ledger.create(connection)
    with account_with(target.address, "CREATE") as account:
        name = f"`{account.database}`"
        for granted in ("people", "millrace_ledger"):
            run_sql(target.address, f"GRANT INSERT, SELECT ON {name}.{granted} TO 'only_few'@'127.0.0.1'")
        with pytest.raises(TargetProblem, match=f"GRANT SELECT ON {name}.`team` TO 'only_few'"):
            import_of(people, saved_target(account, "few"), "people", request_of())


def test_a_preset_keeps_the_lookup_and_finds_the_numbers_of_today(target, people: Path):
    preset = presets.save("p", prepare(uploads.register(people), target, "people", request_of(accept_guesses=True)))
    run_sql(target.address, "UPDATE team SET name = 'Nobody' WHERE id = 3")
    wish = {"options": {"on_error": "reject"}}
    run(commands.create(presets.prepare_with(preset, uploads.register(people), target, "people", wish), None))
    assert (9, 3) in rows_of(target.address, "SELECT id, team_id FROM people")
