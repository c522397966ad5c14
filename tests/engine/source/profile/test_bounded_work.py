"""Files made to keep the detection busy: its work grows no faster than the sample, and not at all beyond it."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.profile.profile import profile_file

UNITS = [
    b"\r", b"\r\n", b"\n", b",", b'"', b'",', b'"\n', b'""', b'"a', b'a,"b', b'x""x,', b"\\", b'\\"', b"\\\n",
    b"1,234,", b"1.", b"01/02/", b"-", b"+--+\n", b"|-", b"#\n", b" ", b' "', b"(", b"[", b'{"a":', "é".encode(),
    b";,|\t",
]  # fmt: skip


def calls(path: Path, unit: bytes, size: int) -> int:
    """How many functions the detection calls for a file of this size."""
    path.write_bytes(b"id,name\n" + unit * (size // len(unit)))
    made = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        profile_file(path)
    except SourceProblem:
        pass
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_file_is_at_most_twice_the_work(unit: bytes, tmp_path: Path):
    small, large = (calls(tmp_path / "x.csv", unit, size) for size in (10_000, 20_000))
    assert large < 2.2 * small + 1_000


@pytest.mark.parametrize("unit", [b"\n", b'"a', b"1,234,\n"])
def test_a_file_beyond_the_sample_is_hardly_more_work(unit: bytes, tmp_path: Path):
    small, large = (calls(tmp_path / "x.csv", unit, size) for size in (1_500_000, 3_000_000))
    assert large < 1.1 * small


def test_blank_lines_without_end_are_passed_over_at_once(tmp_path: Path):
    assert calls(tmp_path / "x.csv", b"\n", 1_000_000) < 10_000
