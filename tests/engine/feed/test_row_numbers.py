"""Numbers before each record: compared with counting the records one by one."""

from itertools import accumulate

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from importer.engine.errors import SourceProblem
from importer.engine.feed.feed import open_feed
from importer.engine.feed.row_numbers import numbered
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange, scan
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.fields import records
from importer.engine.source.records.record_stream import whole_records
from tests.engine.feed.test_feed import drained
from tests.engine.reference import documents, in_file, read
from tests.engine.validation.test_validator import DIALECTS
from tests.examples import examples


def as_numbered(raw: bytes, row: int, line: int, width: int, dialect: Dialect) -> bytes:
    mark = dialect.delimiter_bytes
    return b"%0*d%b%0*d%b" % (width, row, mark, width, line, mark) + raw


@examples(100)
@given(document=documents(), chunk_bytes=st.integers(1, 60), data_of_left_out=st.data())
def test_each_record_has_its_row_and_line_whatever_is_left_out(document, chunk_bytes, data_of_left_out):
    dialect, data = document
    with in_file(data) as fd:
        try:
            chunks = list(scan(fd, dialect, ChunkSizes(chunk_bytes), end=len(data)))
        except SourceProblem:
            assume(False)
        row, line = 1, 1
        for chunk in chunks:
            raw = data[chunk.offset : chunk.offset + chunk.length]
            found = list(records(raw, dialect))
            blank = read(raw, dialect).blank if dialect.blank_lines == "skip" else set()
            left_out = data_of_left_out.draw(st.sets(st.integers(0, len(found) - 1)))
            ranges = [(chunk.offset + found[at].start, chunk.offset + found[at].end) for at in sorted(left_out)]
            sent = open_feed(fd, chunk.offset, chunk.length, steps=[numbered(chunk, dialect, ("row", "line"), ranges)])
            width = len(str(max(row, line) + chunk.length))
            expected = b""
            for at, record in enumerate(found):
                if at not in left_out | blank:
                    number = row + at - len([each for each in blank if each < at])
                    expected += as_numbered(
                        raw[record.start : record.end], number, line + record.line - 1, width, dialect
                    )
            assert drained(sent) == expected
            assert sent.digest == chunk.digest
            row += len(found) - len(blank)
            line += line_ends(raw, dialect.line_end)


def test_ranges_that_join_leave_out_every_record_between_them():
    data = b"a\nb\nc\nd\n"
    chunk = ChunkRange(0, 100, 8, 4, 1, "")
    step = numbered(chunk, RFC4180, ("row",), [(102, 106)])
    assert b"".join(step([data])) == b"1,a\n4,d\n"


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_a_record_in_many_pieces_stays_whole(piece):
    data = b'1,"' + b'x\n""' * 1000 + b'"\n2,b\n'
    found = list(whole_records([data[at : at + piece] for at in range(0, len(data), piece)], RFC4180))
    assert b"".join(part for part, _ in found) == data
    assert sum(ends.count(0, ends.size) for _, ends in found) == 2


@examples(400)
@given(
    dialect=st.sampled_from(DIALECTS),
    parts=st.lists(st.sampled_from([b'"', b'""', b",", b"|", b"||", b"\t", b"\\", b"\n", b"\r\n", b"ab"]), max_size=40),
    piece=st.integers(1, 9),
)
def test_records_that_are_read_in_pieces_end_where_others_do(dialect, parts, piece):
    data = b"".join(parts)
    pieces = [data[at : at + piece] for at in range(0, len(data), piece)]

    def ends_and_bytes():
        found = list(whole_records(pieces, dialect))
        before = accumulate((len(part) for part, _ in found), initial=0)
        ends = [at + end for at, (_, ends) in zip(before, found, strict=False) for end in ends.as_array().tolist()]
        return ends, b"".join(part for part, _ in found)

    usual = ends_and_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("importer.engine.source.records.record_stream.OVERSIZED_BYTES", 2)
        assert ends_and_bytes() == usual
