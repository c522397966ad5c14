"""Files whose reading went wrong somewhere, each with the rows that are right, on real servers.

The files are in cases/ (case.py explains their form). What still fails is in STILL_WRONG, with the reason.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from importer import jobs
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.engine.reading.questions import NeedsAnswer
from importer.management.build_import import prepare_from_options
from importer.management.commands.import_csv import Command
from importer.models import ImportJob
from tests.importer.steps import run
from tests.reading.case import STRUCTURE, Case, cases
from tests.reading.still_wrong import STILL_WRONG
from tests.targets import TestServer, saved_target

ALL = tuple(cases())
MOST_ASKED = 0.1  # of all cases


def parameters() -> Iterator[Any]:
    for case in ALL:
        reason = STILL_WRONG.get((case.kind, case.name))
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        yield pytest.param(case, id=f"{case.kind}: {case.name}", marks=marks)


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    """For the file; working copies and rejects lie beside it."""
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return tmp_path


@pytest.fixture
def in_zone(request: pytest.FixtureRequest, server: TestServer) -> Iterator[None]:
    """The server is in the case's time zone."""
    zone = request.getfixturevalue("case").zone
    if zone:
        server.run(f"SET GLOBAL time_zone = '{zone}'")
    yield
    if zone:
        server.run("SET GLOBAL time_zone = 'SYSTEM'")


@pytest.mark.parametrize("case", list(parameters()))
def test_the_rows_are_right(case: Case, database: Address, in_zone: None, folder: Path, transactional_db: None, capsys):
    saved_target(database, "t")
    path = folder / "input.csv"
    path.write_bytes(case.content)
    with connect(database) as connection:
        if case.table:
            execute(connection, f"CREATE TABLE t ({case.table}) CHARACTER SET utf8mb4")
        if case.before:
            execute(connection, case.before)
            connection.commit()
    job = outcome(case, path)
    if job is None:
        return
    assert stored(case, database) == sorted(case.wanted, key=repr)
    if case.failed:
        assert job.status == ImportJob.Status.FAILED
        return
    assert job.balanced, job.problem
    assert job.rejected_rows == case.rejected
    assert sum(each["values"] for each in job.notices) == case.notices, job.notices
    for column, begin in case.types.items():
        assert types(database)[column].startswith(begin), types(database)


def outcome(case: Case, path: Path) -> ImportJob | None:
    """The job of the import; None if it is right that none was made, because the import asked or was refused."""
    if case.refused:
        with pytest.raises(Problem) as refused:
            imported(path, case.arguments())
        assert case.refused in str(refused.value)
        return None
    if case.asks:
        with pytest.raises(NeedsAnswer) as asked:
            imported(path, case.arguments())
        names = {each.name for each in asked.value.reading.guesses}
        assert case.asks in names
        return imported(path, case.arguments(answered=True)) if case.rows else None
    try:
        return imported(path, case.arguments())
    except Problem as stopped:
        right = case.may_ask if isinstance(stopped, NeedsAnswer) else case.refused_or_asks
        if not right:
            pytest.fail(str(stopped))
    return imported(path, case.arguments(answered=True)) if case.answer else None


def imported(path: Path, arguments: list[str]) -> ImportJob:
    """Import the file into the table t with the options of the command line, to the job's end."""
    parser = Command().create_parser("manage.py", "import_csv")
    options = vars(parser.parse_args([str(path), "--target", "t", "--table", "t", *arguments]))
    return run(jobs.create(prepare_from_options(options)))


def stored(case: Case, database: Address) -> list[tuple[str | None, ...]]:
    """The rows of the table as text, in an order of their own."""
    with connect(database) as connection:
        if case.select == "*":
            columns = [name for (name,) in fetch_all(connection, "SELECT column_name FROM information_schema.columns"
                       " WHERE table_schema = DATABASE() AND table_name = 't' ORDER BY ordinal_position")]  # fmt: skip
            shown = ", ".join(f"CAST({quote_name(name)} AS CHAR)" for name in columns)
        else:
            shown = case.select
        rows = fetch_all(connection, f"SELECT {shown} FROM t")
    return sorted((tuple(None if each is None else str(each) for each in row) for row in rows), key=repr)


def types(database: Address) -> dict[str, str]:
    with connect(database) as connection:
        return dict(
            fetch_all(
                connection,
                "SELECT column_name, column_type FROM information_schema.columns"
                " WHERE table_schema = DATABASE() AND table_name = 't'",
            )
        )


def test_few_cases_may_ask():
    assert len(ALL) >= 161
    assert sum(case.may_ask for case in ALL) <= MOST_ASKED * len(ALL)


def test_no_question_about_the_structure_is_wanted_where_the_header_fits():
    """A header fits if it names columns of the table only."""
    asked = [case for case in ALL if case.asks in STRUCTURE and case.table]
    for case in asked:
        first = case.text.split("\n")[0].replace('"', "")
        names = {each.strip().lower() for each in first.replace(";", ",").split(",")}
        columns = {each.split()[0].strip("`").lower() for each in case.table.split(", ")}
        assert not names <= columns, case.name
