"""Imports the file of a case with the options of the command line, on a real server, and checks the result."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from importer.engine.errors import Problem
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.scanner import Position, ScanPolicy, scan
from importer.engine.source.decoding import needs_copy
from importer.jobs.actions import commands
from importer.management.build_import import prepare_from_options
from importer.management.commands.import_csv import Command
from importer.preparation.prepare import PreparedImport
from tests.importer.steps import run
from tests.reading.case import Case
from tests.targets import saved_target


@dataclass(frozen=True)
class Imported:
    """What became of an import; `problem` is empty if it succeeded."""

    reading: Reading
    rejected: int
    changed_values: int
    problem: str = ""


def check(case: Case, database: Address, folder: Path) -> Imported | None:
    """Import the file into the table t of the database, and compare the rows, and whether anything was asked.

    Returns the import; None if it is right that none was made, because it asked or was refused.
    """
    saved_target(database, "t")
    path = folder / "input.csv"
    path.write_bytes(case.content)
    with connect(database) as connection:
        if case.parent:
            execute(connection, f"CREATE TABLE team ({case.parent}) CHARACTER SET utf8mb4")
        if case.table:
            execute(connection, f"CREATE TABLE t ({case.table}) CHARACTER SET utf8mb4")
        if case.before:
            execute(connection, case.before)
            connection.commit()
    ended = outcome(case, path)
    if ended is None:
        return None
    assert stored(case, database) == sorted(case.wanted, key=repr)
    assert bool(ended.problem) is case.failed, ended.problem
    assert case.failed or (ended.rejected, ended.changed_values) == (case.rejected, case.notices)
    for column, begin in case.types.items():
        assert types(database)[column].startswith(begin), types(database)
    return ended


def outcome(case: Case, path: Path) -> Imported | None:
    """The import; None if it is right that none was made, because the import asked or was refused."""
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


def imported(path: Path, arguments: list[str]) -> Imported:
    """Import the file into the table t with the options of the command line, to its end."""
    prepared = prepare_from_options(options_of(path, arguments))
    copied = needs_copy(prepared.profile.packing, prepared.profile.dialect)
    by_steps = copied or prepared.plan.staged or prepared.plan.sorted_by or prepared.options.on_error == "reject"
    return by_job(prepared) if by_steps else by_engine(prepared, path)


def by_job(prepared: PreparedImport) -> Imported:
    """By all steps of an import, which make the working copy or the staging table, and count the rejects."""
    job = run(commands.create(prepared))
    problem = str(job.problem or ("" if job.balanced else "not balanced"))
    return Imported(prepared.reading, job.rejected_rows, sum(each["values"] for each in job.notices), problem)


def by_engine(prepared: PreparedImport, path: Path) -> Imported:
    """By loading each chunk: what a job records of it is the same for all files."""
    profile, plan = prepared.profile, prepared.plan
    begin = Position(profile.data_offset, profile.data_line)
    policy = ScanPolicy(exactness=plan.exactness)
    dialect = replace(profile.dialect, raw_fields=plan.raw_fields)
    load = partial(ChunkLoad, str(prepared.key), 1, path, prepared.target.address, dialect, plan)
    try:
        with open_source(path) as fd:
            chunks = list(scan(fd, dialect, plan.chunk_sizes, begin, end=profile.size, policy=policy))
        outcomes = [load_chunk(load(each, options=prepared.options), LoadCallbacks()) for each in chunks]
    except Problem as problem:
        return Imported(prepared.reading, 0, 0, str(problem))
    notices = (notice.values for outcome in outcomes for notice in outcome.notices)
    return Imported(prepared.reading, 0, sum(notices))


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
