"""How large chunks are cut: by bytes, by rows, and smaller at the beginning; the same from any border on."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange, Position
from importer.engine.source.dialect import RFC4180, TSV
from tests.engine.reference import in_file, scan_with
from tests.examples import examples

HEADERLESS = replace(RFC4180, header=False)
LARGEST = 1 << 30
WHOLE = ChunkSizes(LARGEST)
RECORDS = st.lists(st.sampled_from([b"1,a\n", b'2,"b\nb"\n', b"\n", b"3,dddd\n"]), min_size=1, max_size=40)


def scanned(data: bytes, sizes: ChunkSizes = WHOLE, dialect=HEADERLESS, **options) -> list[ChunkRange]:
    options = {"end": len(data), **options}
    with in_file(data) as fd:
        return list(scan_with(fd, dialect, sizes, **options))


@examples(300)
@given(
    records=RECORDS,
    sizes=st.builds(
        ChunkSizes,
        bytes=st.sampled_from([10, 30, LARGEST]),
        rows=st.sampled_from([1, 2, 5, None]),
        first_bytes=st.sampled_from([5, 9, None]),
        last_chunks=st.sampled_from([0, 2, 4]),
    ),
    block_bytes=st.sampled_from([20, 64, 4096]),
)
def test_all_records_are_in_one_chunk_each_and_every_border_is_a_place_to_go_on_from(records, sizes, block_bytes):
    data = b"".join(records)
    found = scanned(data, sizes, block_bytes=block_bytes)
    [whole] = scanned(data) or [None]
    if not whole:
        assert found == []
        return
    assert (sum(each.rows for each in found), sum(each.length for each in found)) == (whole.rows, whole.length)
    assert max(each.rows for each in found) <= (sizes.rows or whole.rows)
    for number, chunk in enumerate(found):
        begin = Position(chunk.offset, chunk.first_line, number, chunk.first_row)
        assert scanned(data, sizes, begin=begin, block_bytes=33) == found[number:]


@pytest.mark.parametrize("chunk_rows", [1, 7, 1000])
def test_chunks_have_the_wanted_rows_across_blocks(chunk_rows: int):
    data = b"".join(b"%d\tx\n" % number for number in range(5000))
    found = scanned(data, ChunkSizes(LARGEST, chunk_rows), TSV, block_bytes=1000)
    assert {each.rows for each in found[:-1]} <= {chunk_rows}
    assert [each.first_row for each in found] == list(range(1, 5001, chunk_rows))


def test_each_of_the_first_chunks_may_be_twice_as_large_as_the_one_before():
    found = scanned(b"12,ab678\n" * 10_000, ChunkSizes(900, first_bytes=90))
    assert [each.length for each in found[:6]] == [90, 180, 360, 720, 900, 900]


@pytest.mark.parametrize(("usual", "least"), [(2880, 90), (28_800, 900)])
def test_the_last_chunks_shrink_to_the_first_ones_size_or_a_part_of_the_usual(usual: int, least: int):
    found = scanned(b"12,ab678\n" * 10_000, ChunkSizes(usual, first_bytes=90, last_chunks=4))
    assert [each.length for each in found[:4]] == [90, 180, 360, 720]
    left = 90_000
    for each in found:
        assert each.length <= max(least, left // 4)
        left -= each.length
    assert [each.length for each in found[-4:-1]] == [least] * 3


@pytest.mark.parametrize("usual", [60, 90, 900, 9000, LARGEST])
@pytest.mark.parametrize("last_chunks", [0, 2, 4, 16])
@pytest.mark.parametrize("records", [0, 1, 5, 99, 1000, 10_000])
def test_there_are_as_many_chunks_as_counted_beforehand(usual: int, last_chunks: int, records: int):
    sizes = ChunkSizes(usual, first_bytes=90, last_chunks=last_chunks)
    found = len(scanned(b"1\n" * records, sizes))
    # Each ends with a whole record, so that they are a little smaller than they may be.
    assert sizes.count(2 * records) == pytest.approx(max(1, found), rel=0.05, abs=1)


def test_a_record_larger_than_the_first_chunk_is_one_by_itself():
    found = scanned(b"1," + b"x" * 500 + b"\n2,y\n3,z\n", ChunkSizes(LARGEST, first_bytes=10))
    assert [each.rows for each in found] == [1, 2]
    assert all(before.offset + before.length == after.offset for before, after in pairwise(found))
