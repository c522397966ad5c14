"""Real files, from profile to table: what arrives is what the file says, whole and in chunks of one record each."""

import csv
import io
import json
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import profile_file
from tests.engine.load.values import came_of

OURS = sorted((Path(__file__).parents[1] / "csv").glob("*.csv"))
# csv-spectrum, if it is next to the checkout: 12 files, each with its parsed content.
SPECTRUM = Path(__file__).parents[4] / "shared" / "data" / "csv-spectrum"
# Its JSON has another number here than its CSV.
REDACTED = {"1234567890": "2095257564"}
SPECTRUM_FILES = sorted(SPECTRUM.glob("csvs/*.csv"))


def loaded(address: Address, folder: Path, path: Path, chunk_bytes: int, dialect: Dialect | None = None) -> list[tuple]:
    """The rows of a table of texts after all chunks of the file were loaded, in the file's order."""
    names = [f"c{number}" for number in range(len(profile_file(path, dialect).header))]
    columns = ", ".join(["position INT AUTO_INCREMENT PRIMARY KEY", *(f"{name} LONGTEXT" for name in names)])
    how = {"mapping": names, "options": Options(), "dialect": dialect, "chunk_bytes": chunk_bytes}
    return [row[1:] for row in sorted(came_of(address, folder, columns, path.read_bytes(), **how).rows)]


def expected(path: Path, dialect: Dialect) -> list[tuple]:
    """What Python's csv module reads, without header and blank lines."""
    quoting = {"quotechar": dialect.quote} if dialect.quote else {"quoting": csv.QUOTE_NONE}
    text = io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")
    rows = csv.reader(text, delimiter=dialect.delimiter, escapechar=dialect.escape or None, **quoting)
    return [tuple(row) for row in rows if row][dialect.header :]


@pytest.mark.one_of("chunk_bytes")
@pytest.mark.parametrize("chunk_bytes", [2**20, 1])
@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_file_arrives_as_pythons_csv_reads_it(database: Address, tmp_path: Path, path: Path, chunk_bytes: int):
    dialect = profile_file(path).dialect
    if dialect.escape:
        pytest.skip("MySQL writes NULL, which csv does not distinguish: test_scanner_on_servers.py")
    assert loaded(database, tmp_path, path, chunk_bytes) == expected(path, dialect)


@pytest.mark.one_of("chunk_bytes")
@pytest.mark.parametrize("chunk_bytes", [2**20, 1])
@pytest.mark.parametrize("path", SPECTRUM_FILES, ids=lambda path: path.stem)
def test_csv_spectrum_arrives_as_its_json_says(database: Address, tmp_path: Path, path: Path, chunk_bytes: int):
    said = json.loads((SPECTRUM / "json" / f"{path.stem}.json").read_text())
    dialect = Dialect(line_end="\r\n" if b"\r\n" in path.read_bytes() else "\n")
    rows = loaded(database, tmp_path, path, chunk_bytes, dialect)
    said = said if isinstance(said, list) else [said]
    said = [{name: REDACTED.get(value, value) for name, value in row.items()} for row in said]
    assert [dict(zip(profile_file(path, dialect).header, row, strict=True)) for row in rows] == said
