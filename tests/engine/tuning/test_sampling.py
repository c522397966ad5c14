"""Samples of a file: whole records, after the lines before the data."""

import csv
import io
import os
from itertools import pairwise
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.source.dialect import RFC4180
from importer.engine.tuning.sampling import RANGES, DataRange, Sample, SampleSize, write_sample

HEADER = b"n,text\n"
ROWS = 20_000


@pytest.fixture
def path(source) -> Path:
    return source(HEADER + b"".join(f'{n},"two\nlines ""{n % 13}"""\n'.encode() for n in range(ROWS)))


def sampled(path: Path, sample: Sample, room: int | None = None) -> tuple[SampleSize, list[list[str]]]:
    out = io.BytesIO()
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        taken = write_sample(file.fileno(), RFC4180, sample, DataRange(len(HEADER), 2, size), out, room)
    assert taken.bytes == len(out.getvalue())
    header, *rows = csv.reader(io.StringIO(out.getvalue().decode(), newline=""))
    assert header == ["n", "text"]
    assert all(text == f'two\nlines "{int(n) % 13}"' for n, text in rows)
    assert taken.rows == len(rows)
    return taken, rows


@pytest.mark.parametrize("count", [1, 777, ROWS, 2 * ROWS])
def test_sample_of_first_rows(path, count):
    _, rows = sampled(path, Sample(rows=count))
    assert [int(n) for n, _ in rows] == list(range(min(count, ROWS)))


@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_ranges_are_spread_evenly_in_file_order(path, share):
    taken, rows = sampled(path, Sample(share=share))
    numbers = [int(n) for n, _ in rows]
    assert numbers == sorted(set(numbers))
    assert taken.rows == pytest.approx(ROWS * share, rel=0.1)
    gaps = sum(later - earlier > 1 for earlier, later in pairwise(numbers))
    assert gaps == (0 if share == 1 else RANGES - 1)
    if share == 1:
        assert taken.rows == ROWS


def test_sample_larger_than_the_allowed_bytes_is_refused(path):
    with pytest.raises(Problem, match="takes more than the 5,000 bytes"):
        sampled(path, Sample(rows=1000), room=5000)


def test_sample_without_a_row_is_refused(source):
    path = source(HEADER)
    with pytest.raises(Problem, match="no row"):
        sampled(path, Sample(rows=5))


@pytest.mark.parametrize("values", [{}, {"rows": 1, "share": 0.5}, {"rows": 0}, {"share": 0.0}, {"share": 1.1}])
def test_invalid_sample_is_refused(values):
    with pytest.raises(Problem):
        Sample(**values)
