"""The lines of a sample around the byte that keeps it from being read, so that a page can show the place."""

from collections.abc import Iterator
from dataclasses import dataclass

from importer.engine.errors import SourceProblem
from importer.engine.source.byte_source import read_at
from importer.engine.source.decoding import SourceSample
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import excerpt
from importer.engine.source.records.boundary.lines import line_end_pattern

# Bytes of a line that are shown on each side of the place.
SHOWN = 80


@dataclass(frozen=True)
class ShownLine:
    """A line of the file as it stands there, with its number from 1; `mark` is the character at fault, "" in others.

    `cut`: whether more of the line comes before and behind what is shown.
    """

    number: int
    before: str
    mark: str = ""
    after: str = ""
    cut: tuple[bool, bool] = (False, False)


def show_lines(problem: SourceProblem, sample: SourceSample, dialect: Dialect) -> None:
    """Add to the problem the dialect in which the sample was read, and the lines around its byte."""
    problem.dialect = dialect
    if problem.at is not None:
        data = read_at(sample.fd, min(sample.readable, problem.at + 4 * SHOWN), 0)
        problem.lines = tuple(lines_around(data, problem.at, dialect))


def lines_around(data: bytes, at: int, dialect: Dialect) -> Iterator[ShownLine]:
    """The line of data[at], and those above and below it, as far as `data` has them."""
    ends = [0, *(found.end() for found in line_end_pattern(dialect.line_end).finditer(data))]
    if ends[-1] < len(data):
        ends.append(len(data))
    faulty = next(number for number, end in enumerate(ends) if end > at)
    for number in range(max(1, faulty - 1), min(len(ends), faulty + 2)):
        low, line = ends[number - 1], data[ends[number - 1] : ends[number]].rstrip(b"\r\n")
        yield _shown(number, line, at - low if number == faulty else None, dialect.plain.encoding)


def _shown(number: int, line: bytes, at: int | None, encoding: str) -> ShownLine:
    if at is None:
        return ShownLine(number, excerpt(line[: 2 * SHOWN], encoding), cut=(False, len(line) > 2 * SHOWN))
    low, high = max(0, at - SHOWN), at + 1 + SHOWN
    before, mark, after = (excerpt(each, encoding) for each in (line[low:at], line[at : at + 1], line[at + 1 : high]))
    return ShownLine(number, before, mark, after, (low > 0, len(line) > high))
