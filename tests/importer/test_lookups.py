"""Lookups: a field has the name of another table's row, and the column gets its number."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load import ledger
from importer.engine.load.rejects.new_parents import lock_of
from importer.engine.mapping.columns import FieldOverride, Lookup
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.stated import Stated
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.models import ImportJob
from importer.preparation import presets
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest
from importer.sources import uploads
from tests.engine.loads import account_with, rows_of, run_sql
from tests.importer.steps import import_of, run
from tests.stack import wait_until
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


def test_names_for_numbers_are_asked_about_unless_the_mapping_is_stated(target, people: Path):
    run_sql(
        target.address,
        "CREATE TABLE form (id INT PRIMARY KEY, name VARCHAR(9) UNIQUE)",
        "INSERT INTO form VALUES (5, 'first'), (6, 'second')",
        "CREATE TABLE pupil (id INT PRIMARY KEY, form INT, FOREIGN KEY (form) REFERENCES form (id))",
    )
    people.write_text("id,form\n1,first\n2,second\n")
    source = uploads.register(people)
    with pytest.raises(NeedsAnswer) as asked:
        prepare(source, target, "pupil", ImportRequest())
    assert [guess.key for guess in asked.value.reading.guesses] == ["lookup:form"]
    stated = prepare(source, target, "pupil", ImportRequest(stated=Stated(mapping=True)))
    assert [each.lookup for each in stated.mapping] == [None, None]


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


@pytest.mark.parametrize(
    ("everywhere", "of_tables", "lookup_missing", "lacks"),
    [("CREATE", "INSERT, SELECT", "reject", "SELECT"), ("CREATE, SELECT", "INSERT", "create", "INSERT")],
)
def test_the_right_on_the_parent_is_named(target, people: Path, everywhere, of_tables, lookup_missing, lacks):
    with connect(target.address) as connection:
        ledger.create(connection)
    with account_with(target.address, everywhere) as account:
        name = f"`{account.database}`"
        for granted in ("people", "millrace_ledger"):
            run_sql(target.address, f"GRANT {of_tables} ON {name}.{granted} TO 'only_few'@'127.0.0.1'")
        request = request_of(options=Options(lookup_missing=lookup_missing))
        with pytest.raises(TargetProblem, match=f"GRANT {lacks} ON {name}.`team` TO 'only_few'"):
            import_of(people, saved_target(account, "few"), "people", request)


def test_a_preset_keeps_the_lookup_and_finds_the_numbers_of_today(target, people: Path):
    preset = presets.save("p", prepare(uploads.register(people), target, "people", request_of(accept_guesses=True)))
    run_sql(target.address, "UPDATE team SET name = 'Nobody' WHERE id = 3")
    wish = {"options": {"on_error": "reject"}}
    run(commands.create(presets.prepare_with(preset, uploads.register(people), target, "people", wish), None))
    assert (9, 3) in rows_of(target.address, "SELECT id, team_id FROM people")


# Four names that the parent does not have, among others, in letters that its collation takes for equal.
NEW_NAMES = ["Nobody", " NOBODY", "sale", "Sales", "Ümit", "umit", "", "no\\N", "sale"]
TOO_LONG = "More than twenty letters"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"verify": "full"},
        {"method": "insert"},
        {"mode": "atomic"},
        {"mode": "sync", "missing": "keep", "on_error": "reject"},
        {"lock_table": True, "commit_rows": 2},
        {"parallelism": 4, "commit_rows": 1},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "plain",
)
def test_names_that_are_not_there_are_created_once(target, tmp_path: Path, options):
    path = tmp_path / "people.csv"
    path.write_text("id,team\n" + "".join(f"{row},{name}\n" for row, name in enumerate([*NEW_NAMES, TOO_LONG])))
    if "lock_table" in options:  # With a foreign key, the planner refuses it.
        run_sql(target.address, "ALTER TABLE people DROP FOREIGN KEY people_ibfk_1")
    overrides = [FieldOverride("team", "team_id", ("trim",), ("",), lookup=Lookup.of("team.name"))]
    asked = Options(**{"on_error": "reject", "lookup_missing": "create", **options})
    job = run(import_of(path, target, "people", ImportRequest(overrides=overrides, options=asked)))
    assert job.status == ImportJob.Status.SUCCEEDED, job.problem
    created = rows_of(target.address, "SELECT name FROM team WHERE id > 7 ORDER BY name")
    assert created == [("no\\N",), ("Nobody",), ("sale",), ("Ümit",)]
    sql = "SELECT p.id, LOWER(t.name) FROM people p LEFT JOIN team t ON t.id = p.team_id ORDER BY p.id"
    names = [name.strip().lower() for name in NEW_NAMES]
    assert rows_of(target.address, sql) == [
        (row, {"umit": "ümit", "": None}.get(name, name)) for row, name in enumerate(names)
    ]
    assert list(reasons_of(job).values()) == [f"No row of team has the name {TOO_LONG!r}."]
    assert sum(each["values"] for each in job.notices if each["code"] == "created") == 4


def test_two_sessions_do_not_add_the_same_name(target, tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text("id,team\n1,new\n")
    job = import_of(path, target, "people", request_of(options=Options(lookup_missing="create")))
    (lookup,) = job.plan.lookups
    with connect(target.address) as other:
        execute(other, f"DO GET_LOCK('{lock_of(lookup)}', 0)")
        execute(other, "INSERT INTO team (name) VALUES ('new')")
        with ThreadPoolExecutor(1) as pool:
            let_go = pool.submit(commit_once_somebody_waits, target.address, other)
            run(job)
            let_go.result()
    assert rows_of(target.address, "SELECT COUNT(*) FROM team WHERE name = 'new'") == [(1,)]
    assert rows_of(target.address, "SELECT t.name FROM people p JOIN team t ON t.id = p.team_id") == [("new",)]


def commit_once_somebody_waits(address, connection) -> None:
    sql = "SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'"
    wait_until(lambda: rows_of(address, sql))
    execute(connection, "COMMIT")
    execute(connection, "DO RELEASE_ALL_LOCKS()")


def test_names_that_an_ended_attempt_has_created_are_not_created_again(target, tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text("id,team\n1,new\n2,new\n1,other\n")
    request = request_of(options=Options(lookup_missing="create"))
    assert run(import_of(path, target, "people", request)).status == ImportJob.Status.FAILED
    path.write_text("id,team\n1,new\n2,other\n")
    assert run(import_of(path, target, "people", request)).status == ImportJob.Status.SUCCEEDED
    assert rows_of(target.address, "SELECT name, COUNT(*) FROM team WHERE id > 7 GROUP BY name ORDER BY name") == [
        ("new", 1),
        ("other", 1),
    ]


@pytest.mark.parametrize("method", ["auto", "insert", "insert_prepared"])
def test_a_large_parent_may_begin_empty(target, tmp_path: Path, method: str):
    run_sql(
        target.address,
        "CREATE TABLE site (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) UNIQUE)",
        "CREATE TABLE visit (id INT PRIMARY KEY, team_id INT NOT NULL, FOREIGN KEY (team_id) REFERENCES site (id))",
    )
    path = tmp_path / "visits.csv"
    asked = Options(lookup_missing="create", chunk_bytes=2**16, method=method)
    path.write_text("id,team\n" + "".join(f"{row},site {row % 2000}\n" for row in range(6000)))
    job = run(import_of(path, target, "visit", request_of("site.name", options=asked)))
    assert job.status == ImportJob.Status.SUCCEEDED, job.problem
    assert len(job.plan.statements.plain) < 1000, "a plan does not hold each of the variables"
    sql = "SELECT COUNT(*), SUM(s.name = CONCAT('site ', v.id % 2000)) FROM visit v JOIN site s ON s.id = v.team_id"
    assert rows_of(target.address, sql) == [(6000, 6000)]
    assert rows_of(target.address, "SELECT COUNT(*) FROM site") == [(2000,)]


@pytest.mark.parametrize(
    ("parent", "words"),
    [
        ("id INT PRIMARY KEY, name VARCHAR(9)", "id is no AUTO_INCREMENT column"),
        ("id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9), city INT NOT NULL", "needs more than its name: city"),
        ("id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9) AS ('a') STORED", "name is computed"),
    ],
)
def test_a_parent_whose_row_needs_more_than_the_name_is_refused(target, people: Path, parent: str, words: str):
    run_sql(target.address, f"CREATE TABLE club ({parent})")
    with pytest.raises(Problem, match=words):
        import_of(people, target, "people", request_of("club.name", options=Options(lookup_missing="create")))


def test_a_preview_creates_no_names(target, people: Path):
    options = Options(mode="update", preview=True, lookup_missing="create")
    with pytest.raises(Problem, match="A preview changes nothing"):
        import_of(people, target, "people", request_of(options=options))
