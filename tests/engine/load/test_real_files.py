"""Real files, from profile to table: what arrives is what the file says, whole and in chunks of one record each."""

import csv
import io
import json
from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import Position, scan
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile, profile_file

OURS = sorted((Path(__file__).parents[1] / "csv").glob("*.csv"))
# csv-spectrum, if it is next to the checkout: 12 files, each with its parsed content.
SPECTRUM = Path(__file__).parents[4] / "shared" / "data" / "csv-spectrum"
# Its JSON has another number here than its CSV.
REDACTED = {"1234567890": "2095257564"}
SPECTRUM_FILES = sorted(SPECTRUM.glob("csvs/*.csv"))


def loaded(address: Address, path: Path, profile: Profile, chunk_bytes: int) -> list[tuple]:
    """The rows of a table of texts after all chunks of the file were loaded, in the file's order."""
    names = [f"c{number}" for number in range(len(profile.header))]
    with connect(address) as connection:
        execute(connection, "DROP TABLE IF EXISTS t")
        columns = ", ".join(f"{name} LONGTEXT" for name in names)
        execute(connection, f"CREATE TABLE t (position INT AUTO_INCREMENT PRIMARY KEY, {columns}) CHARSET utf8mb4")
        ledger.create(connection)
        table, server = read_table(connection, address.database, "t"), read_server(connection, address)
    mapping = tuple(ColumnMapping(name) for name in names)
    plan = make_plan(PlanningContext(profile.size, profile.dialect, table, mapping, Options(), server))
    with open_source(path) as fd:
        chunks = list(
            scan(
                fd,
                profile.dialect,
                ChunkSizes(chunk_bytes),
                Position(profile.data_offset, profile.data_line),
                end=profile.size,
            )
        )
    for chunk in chunks:
        load_chunk(
            ChunkLoad(f"{path.name} {chunk_bytes}", 1, path, address, profile.dialect, plan, chunk), LoadCallbacks()
        )
    with connect(address) as connection:
        return fetch_all(connection, f"SELECT {', '.join(names)} FROM t ORDER BY position")


def expected(path: Path, dialect: Dialect) -> list[tuple]:
    """What Python's csv module reads, without header and blank lines."""
    quoting = {"quotechar": dialect.quote} if dialect.quote else {"quoting": csv.QUOTE_NONE}
    text = io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")
    rows = csv.reader(text, delimiter=dialect.delimiter, escapechar=dialect.escape or None, **quoting)
    return [tuple(row) for row in rows if row][dialect.header :]


@pytest.mark.one_of("chunk_bytes")
@pytest.mark.parametrize("chunk_bytes", [2**20, 1])
@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_file_arrives_as_pythons_csv_reads_it(database: Address, path: Path, chunk_bytes: int):
    profile = profile_file(path)
    if profile.dialect.escape:
        pytest.skip("MySQL writes NULL, which csv does not distinguish: test_scanner_on_servers.py")
    assert loaded(database, path, profile, chunk_bytes) == expected(path, profile.dialect)


@pytest.mark.one_of("chunk_bytes")
@pytest.mark.parametrize("chunk_bytes", [2**20, 1])
@pytest.mark.parametrize("path", SPECTRUM_FILES, ids=lambda path: path.stem)
def test_csv_spectrum_arrives_as_its_json_says(database: Address, path: Path, chunk_bytes: int):
    said = json.loads((SPECTRUM / "json" / f"{path.stem}.json").read_text())
    profile = profile_file(path, Dialect(line_end="\r\n" if b"\r\n" in path.read_bytes() else "\n"))
    rows = loaded(database, path, profile, chunk_bytes)
    said = said if isinstance(said, list) else [said]
    said = [{name: REDACTED.get(value, value) for name, value in row.items()} for row in said]
    assert [dict(zip(profile.header, row, strict=True)) for row in rows] == said
