"""A file whose bytes change in place after the scan: its chunks say so, even if they fail for another reason first."""

import random
from pathlib import Path

import pytest

from importer.engine.errors import SourceChanged
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import Loader, load_chunk
from importer.engine.mysql.connection import Address
from tests.engine.loads import Unchecked, five_chunks, rows_of, run_sql, works

ROWS = 60
STRICT = Unchecked()
CHOICES = {
    "stop": STRICT,
    "reject": Unchecked(on_error="reject"),
    "skip duplicates": Unchecked(on_error="reject", on_duplicate="skip"),
    "inserts": Unchecked(on_error="reject", method="insert"),
    "read back": Unchecked(on_error="reject", verify="full"),
}
# What an editor may leave in the place of one byte.
BYTES = [b"\n", b",", b'"', b"x", b"\xff", b"\\", b"\r", b"\0"]


def written(folder: Path) -> Path:
    path = folder / "t.csv"
    # Values that the table refuses make the chunk suspect, so that its records are read before they are sent.
    path.write_text("".join(f"{n},{'w' * (20 if n % 9 == 4 else 5)}\n" for n in range(ROWS)))
    return path


def changed(path: Path, *changes: tuple[int, bytes]) -> None:
    with path.open("r+b") as file:
        for at, byte in changes:
            file.seek(at)
            file.write(byte)


def keeps_nothing(work: ChunkLoad) -> None:
    with pytest.raises(SourceChanged, match="not those that were scanned"):
        load_chunk(work, LoadCallbacks())
    assert rows_of(work.address) == []
    assert not list((work.rejects or Path("/nowhere")).glob("*"))


@pytest.fixture
def table(database: Address) -> Address:
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(9)) CHARACTER SET utf8mb4")
    return database


@pytest.mark.parametrize("name", CHOICES)
def test_any_changed_byte_ends_the_chunk_as_a_changed_file(table: Address, tmp_path: Path, name: str):
    chance = random.Random(30)
    path = written(tmp_path)
    original = path.read_bytes()
    [work] = works(table, path, ["n", "word"], CHOICES[name])
    for _ in range(40):
        places = chance.sample(range(len(original)), chance.choice([1, 1, 3, 30]))
        changes = [(at, chance.choice(BYTES)) for at in places]
        changed(path, *changes)
        if path.read_bytes() != original:
            keeps_nothing(work)
        path.write_bytes(original)


def test_fewer_records_than_were_scanned(table: Address, tmp_path: Path):
    path = written(tmp_path)
    [work] = works(table, path, ["n", "word"], CHOICES["reject"])
    data = path.read_bytes()
    changed(path, *((at, b" ") for at in range(len(data) - 1) if data[at : at + 1] == b"\n"))
    keeps_nothing(work)


def test_chunks_that_share_a_transaction_are_left_to_be_loaded_one_by_one(table: Address, tmp_path: Path):
    run_sql(table, "DROP TABLE t")
    chunks = five_chunks(table, tmp_path, STRICT)
    path = tmp_path / "five.csv"
    changed(path, (3, b"\n"), (4, b'"'))
    with Loader(path, table, chunks[0].plan) as loader:
        assert loader.load_group(chunks[0], [each.chunk for each in chunks]) is None
    assert rows_of(table) == []
