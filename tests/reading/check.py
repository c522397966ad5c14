"""Imports the file of a case with the options of the command line, on a real server, and checks the result."""

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
from tests.reading.case import Case
from tests.targets import saved_target


def check(case: Case, database: Address, folder: Path) -> ImportJob | None:
    """Import the file into the table t of the database, and compare the rows, and whether anything was asked.

    Returns the job; None if it is right that none was made, because the import asked or was refused.
    """
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
        return None
    assert stored(case, database) == sorted(case.wanted, key=repr)
    if case.failed:
        assert job.status == ImportJob.Status.FAILED
        return job
    assert job.balanced, job.problem
    assert job.rejected_rows == case.rejected
    assert sum(each["values"] for each in job.notices) == case.notices, job.notices
    for column, begin in case.types.items():
        assert types(database)[column].startswith(begin), types(database)
    return job


def outcome(case: Case, path: Path) -> ImportJob | None:
    """The job of the import; None if it is right that none was made, because the import asked or was refused."""
    if case.refused:
        with pytest.raises(Problem) as refused:
            imported(path, case.arguments())
        assert case.refused in str(refused.value)
        return imported(path, case.arguments(answered=True)) if case.answer else None
    if case.asks:
        with pytest.raises(NeedsAnswer) as asked:
            imported(path, case.arguments())
        names = {each.name for each in asked.value.reading.guesses}
        assert case.asks in names
        return imported(path, case.arguments(answered=True)) if case.rows or case.answer else None
    try:
        return imported(path, case.arguments())
    except Problem as stopped:
        right = case.may_ask if isinstance(stopped, NeedsAnswer) else case.refused_or_asks
        if not right:
            pytest.fail(str(stopped))
    return imported(path, case.arguments(answered=True)) if case.answer else None


def imported(path: Path, arguments: list[str]) -> ImportJob:
    """Import the file into the table t with the options of the command line, to the job's end."""
    return run(jobs.create(prepare_from_options(options_of(path, arguments))))


def options_of(path: Path, arguments: list[str]) -> dict[str, Any]:
    """The options of `import_csv` for the file and the table t."""
    parser = Command().create_parser("manage.py", "import_csv")
    return vars(parser.parse_args([str(path), "--target", "t", "--table", "t", *arguments]))


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
    """The type of each column of the table t."""
    with connect(database) as connection:
        return dict(
            fetch_all(
                connection,
                "SELECT column_name, column_type FROM information_schema.columns"
                " WHERE table_schema = DATABASE() AND table_name = 't'",
            )
        )
