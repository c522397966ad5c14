"""Tests the files of the benchmark: the same bytes for the same seed and rows, and their documented content."""

import csv
import hashlib

import pytest

from bench.files import PIECES, files_of
from bench.growth import parted
from bench.workloads import WORKLOADS
from bench.workloads.table import BLOCK_ROWS

# More than a block, so that the boundary between two blocks is included.
ROWS = BLOCK_ROWS + 1000


def digest(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def records(path, separator=",") -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=separator))


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
class TestFiles:
    def test_each_file_has_its_columns_rows_and_size(self, workload, tmp_path):
        rows = ROWS if workload.row_bytes < 500 else 1000
        files = files_of(workload, rows, tmp_path)
        total = 0
        for table in workload.tables:
            header, *data = records(files.whole(table))
            assert tuple(header) == table.names
            assert len(data) == table.rows_of(rows)
            assert {len(record) for record in data} == {len(table.fields)}
            total += len(data)
        assert total == rows
        assert files.bytes / rows == pytest.approx(workload.row_bytes, rel=0.06)
        estimated = sum(table.bytes_of(table.rows_of(rows)) for table in workload.tables)
        assert estimated == pytest.approx(files.bytes, rel=0.06)

    def test_the_pieces_of_a_file_joined_are_its_data(self, workload, tmp_path):
        files = files_of(workload, 200, tmp_path)
        for table in workload.tables:
            pieces = [piece.read_bytes() for piece in files.pieces(table)]
            assert len(pieces) == PIECES
            assert all(piece.endswith(b"\n") for piece in pieces if piece)
            assert b"".join(pieces) == files.whole(table).read_bytes().partition(b"\n")[2]


def test_the_same_rows_give_the_same_bytes_wherever_they_are_made(tmp_path):
    """The digests are fixed: other ones would make results of different days incomparable."""
    digests = {
        table.name: digest(files_of(workload, 3000, tmp_path).whole(table))
        for workload in WORKLOADS.values()
        for table in workload.tables
    }
    assert digests == {
        "nodes": "bc93b7b1a7c8817e",
        "mixed": "94824c54231a5bee",
        "benchmark_data": "c948ce2a6a160ce8",
        "partitioned": "0819b4eb93b0a252",
        "event": "c3fa6c001f6a25f9",
        "sitting_table": "14086f4034250e3a",
        "registrant": "b83912de32905fcd",
    }


def test_a_longer_file_begins_with_the_shorter_one(tmp_path):
    nodes = WORKLOADS["nodes"]
    short, long = (files_of(nodes, rows, tmp_path).whole(nodes.tables[0]).read_bytes() for rows in (ROWS, 2 * ROWS))
    assert long.startswith(short)


def test_several_files_share_the_rows_of_one_workload(tmp_path):
    parts = files_of(parted(4), 1000, tmp_path)
    assert [len(records(parts.whole(table))) - 1 for table in parts.workload.tables] == [250] * 4
    assert len({table.name for table in parts.workload.tables}) == 4


def test_a_file_is_made_once_for_each_separator(tmp_path):
    mixed = WORKLOADS["mixed"]
    first = files_of(mixed, 100, tmp_path)
    before = first.whole(mixed.tables[0]).stat().st_mtime_ns
    assert files_of(mixed, 100, tmp_path).whole(mixed.tables[0]).stat().st_mtime_ns == before
    tabbed = files_of(mixed, 100, tmp_path, "\t")
    assert records(tabbed.whole(mixed.tables[0]), "\t") == records(first.whole(mixed.tables[0]))


def test_keys_ascend_and_every_reference_exists(tmp_path):
    nodes, events = WORKLOADS["nodes"], WORKLOADS["events-linked"]
    keys = [int(record[0]) for record in records(files_of(nodes, ROWS, tmp_path).whole(nodes.tables[0]))[1:]]
    assert keys == sorted(set(keys))
    files = files_of(events, 1000, tmp_path)
    event, table, registrant = (records(files.whole(each))[1:] for each in events.tables)
    assert {record[1] for record in table} <= {record[0] for record in event}
    assert {record[1] for record in registrant} <= {record[0] for record in table}
    assert {len(bytes.fromhex(record[3])) for record in registrant} == {1024}
