"""Files made to keep the detection busy: its work grows no faster than the sample, and not at all beyond it."""

import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from importer.engine.errors import SourceProblem
from importer.engine.source.formats.format import MOST_FIELDS
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


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.parquet"])
def test_more_fields_than_any_table_has_columns_are_refused(name: str, tmp_path: Path):
    path, row = tmp_path / name, {f"c{number}": number for number in range(MOST_FIELDS + 1)}
    if name == "x.csv":
        path.write_text(f"{','.join(row)}\n{','.join(map(str, row.values()))}\n")
    elif name == "x.json":
        path.write_text(json.dumps([row]))
    else:
        parquet.write_table(pyarrow.table({key: [value] for key, value in row.items()}), path)
    with pytest.raises(SourceProblem, match="more than 4,096") as raised:
        profile_file(path)
    assert (raised.value.option == "delimiter") == (name == "x.csv")


def test_a_delimiter_that_makes_more_fields_than_that_loses_against_another_one(tmp_path: Path):
    path, text = tmp_path / "x.csv", "," * (MOST_FIELDS + 1)
    path.write_text("".join(f"{number};a{text}b;c;{number}\n" for number in range(20)))
    profile = profile_file(path)
    assert (profile.dialect.delimiter, len(profile.header)) == (";", 4)


def test_one_record_of_too_many_fields_is_only_a_bad_one(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_text(f"a,b\n1,2\n3{',4' * 5000}\n5,6\n")
    assert profile_file(path).header == ("a", "b")


def test_blank_lines_without_end_are_passed_over_at_once(tmp_path: Path):
    assert calls(tmp_path / "x.csv", b"\n", 1_000_000) < 10_000
