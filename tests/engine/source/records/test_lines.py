"""Counting line ends, and ends of records, in parts of a block: from NUMPY_BYTES on with numpy, below without."""

import re
from itertools import combinations

import pytest

from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.blocks import blocks
from importer.engine.source.records.boundary.boundaries import LineEnds
from importer.engine.source.records.boundary.lines import NUMPY_BYTES, line_ends
from tests.engine.reference import in_file

PARTS = (
    (0, 3 * NUMPY_BYTES),
    (7, NUMPY_BYTES + 6),
    (7, NUMPY_BYTES + 7),
    (7, NUMPY_BYTES + 8),
    (NUMPY_BYTES, 3 * NUMPY_BYTES - 1),
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", ANY_LINE_END])
def test_lines_are_counted(line_end):
    data = b"a\nbc\rd\r\n\n\r\r\n" * (NUMPY_BYTES // 4)
    ends = {"\n": rb"\n", "\r\n": rb"\n"}.get(line_end, rb"\r\n|\n|\r")
    found = [each.start() for each in re.finditer(ends, data)]
    for low, high in PARTS:
        assert line_ends(data, line_end, low, high) == sum(low <= at < high for at in found)


@pytest.mark.parametrize("mark", [b"\n", b"\r"])
def test_records_are_counted(mark):
    data = (b"abc" + mark + mark + b"d" + mark) * (NUMPY_BYTES // 2) + b"e"
    ends = LineEnds(data, len(data), mark)
    listed = [at + 1 for at, byte in enumerate(data) if byte == mark[0]]
    for after, upto in ((0, 5), (5, NUMPY_BYTES - 1), (5, NUMPY_BYTES + 6), (NUMPY_BYTES, len(data))):
        low, high = ends.last(0, after), ends.last(0, upto)
        assert ends.count(low, high) == sum(low < end <= high for end in [*listed, len(data)])


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", ANY_LINE_END])
@pytest.mark.parametrize("blank_lines", ["skip", "keep"])
def test_rows_and_lines_of_a_block_are_counted(line_end, blank_lines):
    """Between any two ends of a block with blank lines, whose last record has no line end."""
    end = "\n" if line_end == ANY_LINE_END else line_end
    data = f"a,b{end}{end}c,d{end}{end}{end}e,f".encode()
    with in_file(data) as fd:
        (block,) = blocks(fd, Dialect(line_end=line_end, blank_lines=blank_lines), 0, 1, len(data))
    ends = [0, *block.ends.as_array().tolist()]
    for low, high in combinations(ends, 2):
        *lines, rest = data[low:high].decode().split(end)
        rows = [line for line in lines if line or blank_lines == "keep"] + [rest] * bool(rest)
        assert block.rows_and_lines(low, high, line_end) == (len(rows), len(lines))
