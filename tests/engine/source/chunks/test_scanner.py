"""Cutting a file into chunks: the reference's records for every block size, and clear refusals."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import xxhash
from hypothesis import assume, given
from hypothesis import strategies as st

from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.source.records.boundary.lines import ends_in_lf
from tests.engine.reference import Reading, documents, in_file, read, scan_with
from tests.examples import examples

EXAMPLES = examples(1000)
CRLF = Dialect(line_end="\r\n")
WHOLE = 1 << 30  # a chunk size that takes all


def scanned(data: bytes, dialect: Dialect = RFC4180, chunk_bytes: int = WHOLE, **options) -> list[ChunkRange]:
    with in_file(data) as fd:
        options = {"end": len(data), **options}
        return list(scan_with(fd, dialect, ChunkSizes(chunk_bytes), **options))


def refusal(data: bytes, dialect: Dialect = RFC4180, **options) -> SourceProblem:
    with pytest.raises(SourceProblem) as caught:
        scanned(data, dialect, **options)
    return caught.value


def without_blank_end(data: bytes, dialect: Dialect) -> bytes:
    if dialect.escapes_all or dialect.blank_lines == "keep":
        return data
    if dialect.line_end == "any":
        bare = data.rstrip(b"\r\n")
        return bare + (b"\r\n" if data.startswith(b"\r\n", len(bare)) else data[len(bare) :][:1]) if bare else b""
    end = dialect.line_end.encode()
    while data.endswith(end * 2) or data == end:
        data = data.removesuffix(end)
    return data


def lines_before(data: bytes, dialect: Dialect) -> int:
    ends = rb"\n" if dialect.line_end in ("\n", "\r\n") else rb"\r\n|\n|\r"
    return len(re.findall(ends, data))


def _without_trailing_delimiter(data: bytes, reading: Reading, dialect: Dialect) -> set[int]:
    """The numbers of the records that lack it, where the dialect has one."""
    records = [data[slice(*reading.record(number))] for number in range(len(reading.ends))]
    lacking = (number for number, raw in enumerate(records) if not _trailed(raw, dialect))
    return set(lacking) - reading.blank if dialect.trailing_delimiter else set()


def _trailed(raw: bytes, dialect: Dialect) -> bool:
    return raw.rstrip(b"\r\n").endswith(dialect.delimiter_bytes)


class TestRecordEnds:
    @EXAMPLES
    @given(document=documents(), block_bytes=st.integers(1, 40))
    def test_one_record_per_chunk_ends_where_the_reference_says(self, document, block_bytes):
        dialect, data = document
        reading = read(data, dialect)
        if reading.foreign or reading.unclosed:
            # It may be the last record of the file, after some that are fine: what counts is that there is a refusal.
            refusal(data, dialect, chunk_bytes=1, block_bytes=block_bytes)
            return
        chunks = scanned(data, dialect, chunk_bytes=1, block_bytes=block_bytes, tolerate=True)
        expected = [end for end in reading.ends if end <= len(without_blank_end(data, dialect))]
        assert [chunk.offset + chunk.length for chunk in chunks] == expected
        skipped = reading.blank if dialect.blank_lines == "skip" else set()
        assert [chunk.rows for chunk in chunks] == [number not in skipped for number in range(len(expected))]
        untrailed = _without_trailing_delimiter(data, reading, dialect)
        bad = (reading.bad | skipped | untrailed) & set(range(len(expected)))
        assert {chunk.number for chunk in chunks if chunk.suspect} == bad
        if bad - skipped:
            refusal(data, dialect, chunk_bytes=1, block_bytes=block_bytes)


class TestChunks:
    @EXAMPLES
    @given(document=documents(), chunk_bytes=st.integers(1, 60), block_bytes=st.integers(1, 40))
    def test_chunks_are_as_large_as_they_may_be_and_join_to_the_file(self, document, chunk_bytes, block_bytes):
        dialect, data = document
        try:
            chunks = scanned(data, dialect, chunk_bytes, block_bytes=block_bytes, tolerate=True)
            records = scanned(data, dialect, 1, block_bytes=block_bytes, tolerate=True)
        except SourceProblem:
            return
        assert b"".join(data[c.offset : c.offset + c.length] for c in chunks) == without_blank_end(data, dialect)
        assert sum(chunk.rows for chunk in chunks) == sum(record.rows for record in records)
        offsets = {record.offset for record in records}
        for chunk in chunks:
            assert (
                chunk.length <= chunk_bytes or len(offsets & {*range(chunk.offset, chunk.offset + chunk.length)}) == 1
            )
            assert chunk.first_line == lines_before(data[: chunk.offset], dialect) + 1
            assert chunk.first_row == sum(each.rows for each in chunks[: chunk.number]) + 1
            assert chunk.digest == xxhash.xxh3_64(data[chunk.offset : chunk.offset + chunk.length]).hexdigest()
        length_at = {record.offset: record.length for record in records}
        for before, after in pairwise(chunks):
            assert before.length + length_at[after.offset] > chunk_bytes, "the next record would have gone in"

    @EXAMPLES
    @given(document=documents(), chunk_bytes=st.integers(1, 20))
    def test_going_on_after_any_chunk_gives_the_same_chunks(self, document, chunk_bytes):
        dialect, data = document
        try:
            chunks = scanned(data, dialect, chunk_bytes, tolerate=True)
        except SourceProblem:
            return
        for before, after in pairwise(chunks):
            begin = Position(before.offset + before.length, after.first_line, after.number, after.first_row)
            again = scanned(data, dialect, chunk_bytes, begin=begin, tolerate=True)
            assert again == chunks[after.number :]

    @EXAMPLES
    @given(document=documents(), marks=st.sampled_from([b"\x1a", b"\0\0", b"\x1a\0", b"\r"]))
    def test_what_stands_behind_the_last_record_is_in_no_chunk(self, document, marks):
        dialect, data = document
        assume(not dialect.escapes_all and (marks != b"\r" or ends_in_lf(dialect.line_end)))
        try:
            chunks = scanned(data, dialect, 20, tolerate=True)
        except SourceProblem:
            return
        assert scanned(data + marks, dialect, 20, tolerate=True) == chunks

    def test_a_letter_that_the_end_cuts_is_named_as_cut(self):
        cut = refusal("a\n1\nZoë".encode()[:-1])
        assert str(cut).startswith("line 3: The file ends within a letter of UTF-8, at offset 6: it was cut: 'Zo'.")

    def test_chunks_of_ascii_alone_are_known(self):
        data = "a,é\nb,c\n".encode() + b"x,y\n" * 10 + "東,d\n".encode()
        for block_bytes in (20, 1000):
            chunks = scanned(data, chunk_bytes=8, block_bytes=block_bytes)
            assert [each.ascii for each in chunks] == [
                data[each.offset : each.offset + each.length].isascii() for each in chunks
            ]
            assert {each.ascii for each in chunks} == {True, False}
        [large, small] = scanned(b"a" * 600_000 + b"\nb\n", chunk_bytes=4)
        assert (large.ascii, small.ascii) == (False, True)

    def test_a_chunk_is_there_before_the_rest_of_the_file_is_read(self):
        data = b"a,b\n" * 1000 + b"\xff\n"
        with in_file(data) as fd:
            found = scan(fd, RFC4180, ChunkSizes(100), end=len(data), policy=ScanPolicy(block_bytes=1000))
            digest = xxhash.xxh3_64(b"a,b\n" * 25).hexdigest()
            assert next(found) == ChunkRange(0, 0, 100, 25, 1, digest, ascii=True)

    def test_a_record_larger_than_chunk_and_block_is_a_chunk_by_itself(self):
        large = b'1,"' + b'x""\n' * 1000 + b'"\n'
        chunks = scanned(b"a,b\n" + large + b"c,d\ne,f\n", chunk_bytes=100, block_bytes=64)
        assert [(chunk.length, chunk.rows, chunk.first_line) for chunk in chunks] == [
            (4, 1, 1),
            (len(large), 1, 2),
            (8, 2, 1003),
        ]

    def test_a_file_of_nothing_has_no_chunks(self):
        assert scanned(b"") == []
        assert scanned(b"\n\n\n") == []


class TestBlankLines:
    @pytest.mark.parametrize(("dialect", "end"), [(RFC4180, b"\n"), (CRLF, b"\r\n")])
    def test_line_ends_after_the_last_record_are_no_records(self, dialect, end):
        [chunk] = scanned(b"a,b" + end * 5, dialect)
        assert (chunk.rows, chunk.length) == (1, 3 + len(end))

    def test_blank_lines_at_the_end_may_fill_blocks(self):
        [chunk] = scanned(b"a,b\n" + b"\n" * 700_000)
        assert (chunk.rows, chunk.length) == (1, 4)

    def test_a_chunk_can_be_nothing_else(self):
        chunks = scanned(b"a\n" + b"\n" * 10 + b"b\n", chunk_bytes=4)
        assert [chunk.rows for chunk in chunks] == [1, 0, 0, 1]
        assert chunks[-1].first_line == 12

    def test_at_the_end_of_a_range_inside_the_file_they_belong_to_it(self):
        [chunk] = scanned(b"a\n\n\nb\n", end=4, drop_blank_end=False)
        assert (chunk.rows, chunk.length) == (1, 4)


class TestUnclosedQuote:
    def test_the_line_on_which_it_opened_is_named(self):
        problem = refusal(b'a,b\nc,"d\ne,f\ng,h\n')
        assert problem.where == "line 2"
        assert "line 2 is not closed" in problem.what
        assert "double it" in problem.advice

    def test_the_line_is_right_in_a_record_of_many_lines_and_blocks(self):
        problem = refusal(b'a,b\n"1\n2\n3",x,"y\n' + b"z\n" * 100, block_bytes=8)
        assert problem.where == "line 4"

    def test_it_is_not_looked_for_longer_than_a_record_may_be(self):
        problem = refusal(b'a,"b\n' + b"c\n" * 10_000, block_bytes=64, max_record_bytes=1000)
        assert "not closed within 1,000 bytes" in problem.what

    def test_a_quote_that_was_closed_is_not_blamed(self):
        problem = refusal(b'a,"' + b"x" * 100 + b'",' + b"y" * 5000, block_bytes=64, max_record_bytes=1000)
        assert "No record ends within 1,000 bytes" in problem.what

    def test_records_before_it_become_chunks_first(self):
        data = b'a,b\nc,"d\n'
        with in_file(data) as fd:
            found = scan(fd, RFC4180, ChunkSizes(4), end=len(data))
            with pytest.raises(SourceProblem):
                assert [next(found).rows, next(found)]

    def test_data_without_any_line_end_is_refused_too(self):
        problem = refusal(b"x" * 5000, block_bytes=64, max_record_bytes=1000)
        assert "No record ends within 1,000 bytes from line 1" in problem.what


class TestEncoding:
    @pytest.mark.parametrize("block_bytes", [1, 2, 3, 5, 7, 1000])
    def test_line_offset_and_byte_are_named(self, block_bytes):
        problem = refusal("a,é\n東,京\n".encode() + b"x,\xe9t\xe9\n", block_bytes=block_bytes)
        assert problem.where == "line 3"
        assert "0xE9 at offset 15 " in problem.what
        assert "UTF-8" in problem.advice

    @pytest.mark.parametrize("bad", [b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80", b"\xc0\xaf"])
    def test_what_utf8_forbids_is_refused(self, bad):
        assert refusal(b"a\nb" + bad + b"\n").where == "line 2"
        assert refusal(b"a\nb" + bad).where == "line 2"


class TestLineEnds:
    @pytest.mark.parametrize(
        ("data", "line"),
        [(b"a,b\nc,d\r\ne,f\n", 2), (b'a,b\nc,"d"\r\n', 2), (b'a,b\n"c\n","d"\r\n"e"\n', 3)],
    )
    def test_cr_lf_read_as_lf(self, data, line):
        problem = refusal(data)
        assert problem.what.startswith(f"Line {line} ends with CR LF")
        assert "CR LF" in problem.advice

    @pytest.mark.parametrize("data", [b"a,b\r\nc,d\ne,f\r\n", b'a,b\r\n"c","d"\n"e","f"\r\n'])
    def test_lf_read_as_cr_lf(self, data):
        problem = refusal(data, CRLF)
        assert problem.what.startswith("Line 2 ends with a bare LF")


class TestSourceThatChanges:
    def test_a_file_that_has_become_shorter(self):
        with in_file(b"a,b\n" * 100) as fd, pytest.raises(SourceChanged, match="ends at byte 400"):
            list(scan(fd, RFC4180, ChunkSizes(100), end=500))

    def test_a_file_that_becomes_shorter_meanwhile(self):
        with in_file(b"a,b\n" * 100) as fd:
            found = scan(fd, RFC4180, ChunkSizes(8), end=400, policy=ScanPolicy(block_bytes=40))
            next(found)
            os.ftruncate(fd, 100)
            with pytest.raises(SourceChanged, match="ends at byte 100"):
                list(found)


LITTLE = 4 * 1024  # KB
MEASURE = """
import os, pathlib, sys
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.dialect import Dialect
from importer.engine.source.chunks.scanner import ScanPolicy, scan
path, quote, *ends = sys.argv[1:]
fd, policy = os.open(path, os.O_RDONLY), ScanPolicy(tolerate=True, block_bytes=64 * 1024)
for end in map(int, ends):
    chunks = scan(fd, Dialect(quote=quote), ChunkSizes(8 << 20), end=end, policy=policy)
    rows = sum(chunk.rows for chunk in chunks)
    print(rows, pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def measured(path: Path, quote: str, *ends: int) -> list[list[int]]:
    """The rows up to each end, and the largest memory (KB) of the process until then, which scans up to each in turn.

    Not by getrusage(): a process begins with the largest memory of the one that started it (getrusage(2), ru_maxrss).
    """
    command = [sys.executable, "-c", MEASURE, path, quote, *map(str, ends)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [[*map(int, line.split())] for line in done.stdout.splitlines()]


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="not on Linux")
class TestMemory:
    @pytest.mark.parametrize(
        ("piece", "rows", "quote", "some", "most"),
        [
            (b'"a","b ""c""",""\n' * 60_000, 60_000, '"', 12, 30),
            (b"a,b,c,d,e,f,g\n" * 70_000, 70_000, "", 12, 30),
            (b'"' * 1_000_000 + b"\n", 1, '"', 12, 30),
            # The memory of a scan with stray quotes is at its height after 10,000 of them.
            (b'5" disk,"b"c",d\n' * 5_000, 5_000, '"', 2, 8),
        ],
        ids=["quoted", "plain", "nothing but quotes", "stray quotes"],
    )
    def test_memory_does_not_grow_with_the_file(self, tmp_path, piece, rows, quote, some, most):
        path = tmp_path / "large.csv"
        with path.open("wb") as file:
            for _ in range(most):
                file.write(piece)
        first, whole = measured(path, quote, some * len(piece), most * len(piece))
        assert (first[0], whole[0]) == (some * rows, most * rows)
        assert whole[1] - first[1] < LITTLE, (first, whole)

    def test_one_record_of_fifty_megabytes_takes_no_more_memory(self, tmp_path):
        path = tmp_path / "record.csv"
        with path.open("wb") as file:
            file.write(b'a,"b"\n' * 1_000_000 + b'a,"')
            for _ in range(50):
                file.write(b"x" * 999_999 + b"\n")
            file.write(b'"\n')
        some, most = measured(path, '"', 6_000_000, path.stat().st_size)
        assert (some[0], most[0]) == (1_000_000, 1_000_001)
        assert most[1] - some[1] < LITTLE, (some, most)
