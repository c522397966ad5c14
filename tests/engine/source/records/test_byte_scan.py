"""A scan of a block's bytes finds what a slow search finds, with the compiled library and without."""

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from importer.engine.source.records.byte_scan import ByteScan, scan_bytes, scan_bytes_in_python

pytestmark = pytest.mark.usefixtures("each_build")

WAYS = pytest.mark.parametrize("look", [scan_bytes, scan_bytes_in_python], ids=["at once", "in steps"])
EMPTY_LINE = re.compile(rb"\A[\r\n]|\n[\r\n]|\r\r")
LONG = 70_000
PARTS = [b"\n", b"\r", b"\r\n", b"a", b"N", b"NULL", b"NUL", b"ULL", b"\x7f", b"\x80", b"a" * 17]


def seen(data: bytes) -> ByteScan:
    return ByteScan(data.count(b"\n"), all(byte < 128 for byte in data), bool(EMPTY_LINE.search(data)), b"NULL" in data)


@WAYS
@given(st.lists(st.sampled_from(PARTS)), st.binary(max_size=4))
@example([b"a" * 17, b"\n"] * 5000, b"")
def test_a_scan_finds_what_occurs(look: Callable[[bytes, int], ByteScan], parts: list[bytes], behind: bytes):
    data = b"".join(parts)
    assert look(data + behind, len(data)) == seen(data)


@WAYS
@pytest.mark.parametrize("what", [b"\n", b"\r\n", b"\n\n", b"\n\r\n", b"\r\r", b"NULL", b"\xff", b"NULK", b"xULL"])
def test_a_scan_finds_each_byte_at_every_position(look: Callable[[bytes, int], ByteScan], what: bytes):
    for size in (LONG, 64):
        for before in (0, 1, 14, 15, 16, 17, 30, 31, 32, 33, size - 1, size):
            data = b"x" * before + what + b"x" * (size - before)
            assert look(data, len(data)) == seen(data)
            assert look(data, before + 1) == seen(data[: before + 1])


@WAYS
def test_many_line_ends_are_counted(look: Callable[[bytes, int], ByteScan]):
    assert look(b"\n" * LONG, LONG) == ByteScan(LONG, ascii=True, empty_line=True, null_letters=False)
    assert look(b"x\n" * LONG, 2 * LONG) == ByteScan(LONG, ascii=True, empty_line=False, null_letters=False)
