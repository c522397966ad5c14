"""Loads a polluted file: by LOAD DATA alone, or by Millrace with parameters, with guesses, or into a new table."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import MySQLdb
from MySQLdb.connections import Connection

from bench.client import connected
from bench.pollution.polluters import Format, PollutedFile
from bench.pollution.score import Loaded
from bench.ways.client import arguments_of
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, execute, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_text

TABLE = "polluted"
LINE_ENDS = {"\r\n": "crlf", "\n": "lf", "\r": "cr"}
# A bad row is kept in the reject file, and the others are loaded, however many are bad.
REJECT = ("--on-error", "reject", "--max-rejects", "none")
Loader = Callable[[Connection, str, PollutedFile, Path], Loaded]


@contextmanager
def plain_client(address: Address) -> Iterator[Connection]:
    """A connection on which LOAD DATA LOCAL is allowed, and queries see what others have committed."""
    with connected(arguments_of(address)) as connection:
        execute(connection, "SET GLOBAL local_infile = 1")
        yield connection


def load_data(connection: Connection, _target: str, file: PollutedFile, path: Path) -> Loaded:
    """LOAD DATA LOCAL into text columns, with the file's parameters, as in the benchmark."""
    _make_table(connection, file)
    form = file.format
    try:
        execute(
            connection,
            f"LOAD DATA LOCAL INFILE {quote_text(str(path))} INTO TABLE {TABLE} CHARACTER SET utf8mb4"
            f" FIELDS TERMINATED BY {quote_text(form.delimiter)} OPTIONALLY ENCLOSED BY {quote_text(form.quote)}"
            f" ESCAPED BY {quote_text(form.escape or form.quote)} LINES TERMINATED BY {quote_text(form.line_end)}"
            f" IGNORE {file.preamble + file.header_lines} LINES ({', '.join(map(quote_name, file.names))})",
        )
    except MySQLdb.Error as error:
        return Loaded(problem=str(error))
    return Loaded(file.names, _rows(connection, file.names))


def with_parameters(connection: Connection, target: str, file: PollutedFile, path: Path) -> Loaded:
    """Millrace into text columns, with the file's parameters as flags."""
    _make_table(connection, file)
    return _import(connection, target, path, [*REJECT, *_flags(file)], file.names)


def with_guesses(connection: Connection, target: str, file: PollutedFile, path: Path) -> Loaded:
    """Millrace into text columns, without any parameter."""
    _make_table(connection, file)
    return _import(connection, target, path, [*REJECT, "--accept-guesses"], file.names)


def with_create(connection: Connection, target: str, _file: PollutedFile, path: Path) -> Loaded:
    """Millrace into a new table, without any parameter: names and types are its own."""
    _drop_table(connection)
    return _import(connection, target, path, [*REJECT, "--accept-guesses", "--mode", "create"], ())


LOADERS: dict[str, Loader] = {
    "LOAD DATA": load_data,
    "parameters": with_parameters,
    "guesses": with_guesses,
    "create": with_create,
}


def _flags(file: PollutedFile) -> list[str]:
    """The parameters as flags. The columns are given, so the header is skipped, as LOAD DATA does."""
    form: Format = file.format
    flags = {
        "--delimiter": form.delimiter,
        "--quote": form.quote,
        "--escape": "\\" if form.escape == "\\" else "",
        "--line-end": LINE_ENDS[form.line_end],
        "--encoding": "utf-8",
        "--skip-rows": str(file.preamble + file.header_lines),
        "--match": "position",
    }
    return [each for pair in flags.items() for each in pair] + ["--no-header"]


def _import(connection: Connection, target: str, path: Path, flags: Sequence[str], names: Sequence[str]) -> Loaded:
    """Import the file; without `names` the table's own columns are the loaded header."""
    from importer.jobs.report import report

    try:
        job = _run([str(path), "--target", target, "--table", TABLE, *flags])
    except Problem as problem:
        return Loaded(problem=str(problem))
    if job.problem:
        return Loaded(problem=str(job.problem))
    names = names or _columns(connection)
    rejects = f"{job.rejected_rows:,} rejected" if job.rejected_rows else ""
    guesses = [f"{each['name']}: {each['value']}" for each in report(job)["reading"]["guesses"]]
    return Loaded(tuple(names), _rows(connection, names), notes=tuple(filter(None, [rejects, *guesses])))


def _run(arguments: Sequence[str]) -> Any:
    """Run `millrace load --in-process` in this process; return the job at its end."""
    from importer.jobs.actions import commands
    from importer.management.build_import import prepare_from_options
    from importer.management.commands.import_csv import Command
    from importer.worker import local_pool

    options = vars(Command().create_parser("manage.py", "import_csv").parse_args([*arguments, "--in-process"]))
    prepared = prepare_from_options(options)
    job = commands.create(prepared)
    return local_pool.run(job.pk, prepared.plan.parallelism, lambda _job: None)


def _make_table(connection: Connection, file: PollutedFile) -> None:
    _drop_table(connection)
    columns = ", ".join(f"{quote_name(name)} TEXT" for name in file.names)
    execute(connection, f"CREATE TABLE {TABLE} (pk INT AUTO_INCREMENT PRIMARY KEY, {columns}) CHARACTER SET utf8mb4")


def _drop_table(connection: Connection) -> None:
    execute(connection, f"DROP TABLE IF EXISTS {TABLE}")


def _columns(connection: Connection) -> tuple[str, ...]:
    rows = fetch_all(connection, "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE()"
                     " AND table_name = %s ORDER BY ordinal_position", (TABLE,))  # fmt: skip
    return tuple(name for (name,) in rows)


def _rows(connection: Connection, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The table's rows as text; NULL is an empty text."""
    shown = ", ".join(f"COALESCE(CAST({quote_name(name)} AS CHAR), '')" for name in names)
    return tuple(fetch_all(connection, f"SELECT {shown} FROM {TABLE}"))
