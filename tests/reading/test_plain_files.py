"""A plain file (RFC 4180, the header has the table's names) is never asked about, and loads exactly as it was written.

The tables, values and writers are those of the benchmark (`python -m bench.plain`), which takes more files.
"""

from itertools import groupby
from pathlib import Path

import pytest

from bench.plain.files import PlainFile, plain_files
from bench.plain.reading import fault
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.jobs.actions import commands
from importer.management.build_import import prepare_from_options
from importer.management.commands.import_csv import Command
from tests.examples import number_of_examples
from tests.importer.steps import run
from tests.targets import saved_target

OF_TABLE = 25


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    return tmp_path


def test_no_plain_file_is_asked_about_or_read_otherwise(tmp_path: Path):
    files = plain_files(number_of_examples(10_000, usual=400), seed=51)
    faults = [(found, each) for each in files if (found := fault(each, tmp_path / "plain.csv"))]
    assert faults == []


@pytest.mark.both_servers
@pytest.mark.timeout(3600)  # With the full profile.
def test_plain_files_load_exactly(database: Address, folder: Path, transactional_db: None):
    saved_target(database, "t")
    files = plain_files(number_of_examples(10_000, usual=200), seed=52, of_table=OF_TABLE)
    for table, group in groupby(files, lambda file: file.table):
        files_of_table = list(group)
        columns = [f"{quote_name(each.name)} {each.type}" for each in table.columns]
        with connect(database) as connection:
            execute(connection, "DROP TABLE IF EXISTS t")
            execute(connection, f"CREATE TABLE t ({', '.join(columns)}) CHARACTER SET utf8mb4")
        _load(files_of_table, folder)
        assert _stored(database, table.column_names) == sorted(row for file in files_of_table for row in file.rows)


def _load(files: list[PlainFile], folder: Path) -> None:
    """Load the files as one import, told nothing."""
    paths = []
    for number, file in enumerate(files):
        paths.append(str(folder / f"{number}.csv"))
        Path(paths[-1]).write_bytes(file.content)
    parser = Command().create_parser("manage.py", "import_csv")
    options = vars(parser.parse_args([*paths, "--target", "t", "--table", "t"]))
    job = run(commands.create(prepare_from_options(options)))
    assert not job.problem
    assert job.balanced


def _stored(database: Address, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    shown = ", ".join(f"CAST({quote_name(name)} AS CHAR)" for name in names)
    with connect(database) as connection:
        return sorted(fetch_all(connection, f"SELECT {shown} FROM t"))
