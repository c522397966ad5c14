"""The benchmark's files as a user would import them: nothing is asked, and every row is right.

Only for the hexadecimal digits of a binary column it is stated, and else asked, that they stand for bytes.
"""

from itertools import islice
from pathlib import Path

import pytest

from bench.content import content_of
from bench.files import Files, files_of
from bench.servers import Server
from bench.workloads import WORKLOADS
from bench.workloads.table import Workload, WorkloadTable
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.reading.questions import NeedsAnswer
from importer.jobs.actions import commands
from importer.management.build_import import prepare_from_options
from importer.management.commands.import_csv import Command
from importer.models import ImportJob
from scripts.flights import TABLE, flights_file
from tests.importer.steps import run
from tests.stack import ROOT
from tests.targets import saved_target

ROWS = 300
FLIGHTS = 20_000

pytestmark = pytest.mark.usefixtures("transactional_db")


def stated(table: WorkloadTable, header: bool) -> list[str]:
    """The flags for the fields whose bytes the file has as hexadecimal digits."""
    fields = [table.fields[number].name if header else f"#{number + 1}" for number in table.hexadecimal]
    columns = [table.fields[number].name for number in table.hexadecimal]
    return [f"--map={field}={column}:hex" for field, column in zip(fields, columns, strict=True)]


def imported(path: Path, table: str, *flags: str) -> ImportJob:
    """Import the file with the options of the command line. Raises NeedsAnswer if anything is asked."""
    parser = Command().create_parser("manage.py", "import_csv")
    options = parser.parse_args([str(path), "--target", "bench", "--table", table, *flags])
    return run(commands.create(prepare_from_options(vars(options))))


@pytest.fixture
def into(database: Address) -> Address:
    """The database, as the target `bench`."""
    saved_target(database, "bench")
    return database


def check(job: ImportJob, table: WorkloadTable, files: Files, header: bool) -> None:
    """The reading is right and sure."""
    assert job.balanced, job.problem
    assert not job.reading.guesses
    dialect = job.file_dialect
    assert (dialect.delimiter, dialect.quote, dialect.header) == (files.separator, '"', header)
    assert [each.column for each in job.reading.columns] == list(table.names)


@pytest.mark.parametrize("separator", [",", "\t"], ids=["comma", "tab"])
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_a_file_of_a_workload_is_read_without_a_question(workload: Workload, separator: str, into: Address, tmp_path):
    files = files_of(workload, ROWS, tmp_path, separator)
    for table in workload.tables:
        with connect(into) as connection:
            execute(connection, table.create_sql())
        check(imported(files.whole(table), table.name, *stated(table, True)), table, files, header=True)
        assert content_of(Server("", into), table, separator) == files.content(table, ROWS)


def test_only_hexadecimal_digits_are_asked_about(into: Address, tmp_path: Path):
    files = files_of(WORKLOADS["events"], ROWS, tmp_path)
    [table] = [each for each in files.workload.tables if each.hexadecimal]
    with connect(into) as connection:
        execute(connection, table.create_sql())
    with pytest.raises(NeedsAnswer) as asked:
        imported(files.whole(table), table.name)
    [guess] = asked.value.reading.guesses
    assert [guess.field] == [table.names[number] for number in table.hexadecimal]
    assert [each.states[0] for each in guess.answers] == [("transforms", ("hex",)), ("transforms", ())]
    assert max(map(len, str(asked.value).splitlines())) < 300


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_a_piece_without_a_header_is_read_by_position(workload: Workload, into: Address, tmp_path):
    files = files_of(workload, ROWS, tmp_path)
    for table in workload.tables:
        with connect(into) as connection:
            execute(connection, table.create_sql())
        files.cut(table, 2)
        for piece in files.pieces(table, 2):
            check(imported(piece, table.name, *stated(table, False)), table, files, header=False)
        assert content_of(Server("", into), table, files.separator) == files.content(table, ROWS)


@pytest.mark.parametrize("flags", [(), ("--null", "NA")], ids=["nothing stated", "NA stated"])
def test_the_flights_are_read_without_a_question(flags: tuple[str, ...], into: Address, tmp_path: Path):
    path = tmp_path / "flights.csv"
    with flights_file(ROOT / "var" / "demo").open("rb") as file:
        path.write_bytes(b"".join(islice(file, FLIGHTS + 1)))
    with connect(into) as connection:
        execute(connection, TABLE)
    job = imported(path, "flights", *flags)
    assert job.balanced, job.problem
    assert not job.reading.guesses
    assert (job.file_dialect.delimiter, job.file_dialect.quote, job.file_dialect.header) == (",", '"', True)
    with connect(into) as connection:
        [found] = fetch_all(
            connection,
            "SELECT COUNT(*), SUM(dep_time IS NULL), SUM(tailnum = 'NA'), SUM(tailnum IS NULL) FROM flights",
        )
    rows = [line.split(b",") for line in path.read_bytes().splitlines()[1:]]
    no_time, no_number = (sum(row[field] == b"NA" for row in rows) for field in (3, 11))
    assert no_number
    # In a text column NA is a text, unless it is stated to be NULL.
    assert found == (FLIGHTS, no_time, *((0, no_number) if flags else (no_number, 0)))
