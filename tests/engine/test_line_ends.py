"""Counting line ends, and ends of records, in parts of a block: from LARGE bytes on otherwise than below."""

import re

import pytest

from importer.engine.dialect import ANY_LINE_END
from importer.engine.records.boundaries import LineEnds
from importer.engine.records.lines import LARGE, line_ends

PARTS = ((0, 3 * LARGE), (7, LARGE + 6), (7, LARGE + 7), (7, LARGE + 8), (LARGE, 3 * LARGE - 1))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", ANY_LINE_END])
def test_lines_are_counted(line_end):
    data = b"a\nbc\rd\r\n\n\r\r\n" * (LARGE // 4)
    ends = {"\n": rb"\n", "\r\n": rb"\n"}.get(line_end, rb"\r\n|\n|\r")
    found = [each.start() for each in re.finditer(ends, data)]
    for low, high in PARTS:
        assert line_ends(data, line_end, low, high) == sum(low <= at < high for at in found)


@pytest.mark.parametrize("mark", [b"\n", b"\r"])
def test_records_are_counted(mark):
    data = (b"abc" + mark + mark + b"d" + mark) * (LARGE // 2) + b"e"
    ends = LineEnds(data, len(data), mark)
    listed = [at + 1 for at, byte in enumerate(data) if byte == mark[0]]
    for after, upto in ((0, 5), (5, LARGE - 1), (5, LARGE + 6), (LARGE, len(data))):
        low, high = ends.last(0, after), ends.last(0, upto)
        assert ends.count(low, high) == sum(low < end <= high for end in [*listed, len(data)])
