"""Records and their values, read one by one as the server reads them: for showing, sniffing and naming a bad row."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from importer.engine.dialect import Dialect
from importer.engine.errors import SourceProblem
from importer.engine.scanner import blocks, read_exactly
from importer.engine.walk import Marks, RecordWalk, none_of

# unescape() in sql/sql_load.cc; any other escaped byte stands for itself.
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"0": b"\0", b"Z": b"\x1a"}


@dataclass(frozen=True)
class Record:
    """A record in some bytes: data[start:end] with its line end, and the physical line (1-based) of its first byte."""

    start: int
    end: int
    line: int


class LocatedRecord(NamedTuple):
    """A record in a file: its physical line (1-based), its byte offset, and its bytes with the line end."""

    line: int
    offset: int
    raw: bytes


def records(data: bytes, dialect: Dialect, *, line: int = 1, final: bool = True) -> Iterator[Record]:
    """Every record of `data`, whose first byte lies on `line`; blank lines are records, as to the server.

    Unless `data` is `final`, a last record without its line end is left out. A quote that is never closed makes the
    rest of final data one record.
    """
    start = 0
    while start < len(data):
        length = RecordWalk(dialect).feed(data, start, final=final)
        if not length and not final:
            return
        end = start + length if length else len(data)
        yield Record(start, end, line)
        line += data.count(b"\n", start, end)
        start = end


def fields(record: bytes, dialect: Dialect) -> list[bytes]:
    r"""The values of one record, with or without its line end, as the server decodes them.

    Quotes are taken off, doubled ones and escapes undone. `\N`, which is NULL where the dialect escapes, stays `\N`.
    A quote that is never closed stays in the value.
    """
    if not any(mark and mark.encode() in record for mark in (dialect.quote, dialect.escape)):
        return record.removesuffix(dialect.line_end.encode()).split(dialect.delimiter.encode())
    patterns = _field_patterns(dialect)
    values, position = [], 0
    while True:
        field = patterns.field.match(record, position)
        assert field is not None, "an unenclosed field can be empty, so there is always one"
        values.append(_decoded(field, patterns.special, dialect))
        position = field.end()
        if not record.startswith(dialect.delimiter.encode(), position):
            return values
        position += 1


def _decoded(field: re.Match[bytes], special: re.Pattern[bytes], dialect: Dialect) -> bytes:
    kind = field.lastgroup or "plain"
    value = field[kind]
    if not (dialect.escape and value == rb"\N"):
        value = special.sub(lambda match: _undone(match, kind), value)
    return dialect.quote.encode() + value if kind == "unclosed" else value


def _undone(special: re.Match[bytes], kind: str) -> bytes:
    """What an escaped byte or a doubled quote stands for; in an unenclosed field two quotes are two."""
    if special.lastgroup == "escaped":
        return _ESCAPED.get(special["escaped"], special["escaped"])
    return special[0] if kind == "plain" else special["doubled"]


def locate(fd: int, offset: int, length: int, first_line: int, dialect: Dialect, row: int) -> LocatedRecord:
    """The `row`-th record (1-based) of the chunk of `length` bytes at `offset`, whose first byte is on `first_line`.

    Raises SourceProblem if the chunk has fewer records, or as scan() does.
    """
    left = row
    for block in blocks(fd, dialect, offset, first_line, offset + length):
        rows = block.ends.count(0, block.size)
        if left > rows:
            left -= rows
            continue
        low = 0
        for _ in range(left - 1):
            low = block.ends.first(low)
        raw = read_exactly(fd, block.ends.first(low) - low, block.offset + low)
        return LocatedRecord(block.first_line + block.data.count(b"\n", 0, low), block.offset + low, raw)
    raise SourceProblem(
        f"There is no record {row:,} in the {length:,} bytes from line {first_line:,} on.",
        where=f"line {first_line:,}",
        advice="The server and the scan read the file differently: check delimiter, quote and line end.",
    )


@dataclass(frozen=True)
class _FieldPatterns:
    field: re.Pattern[bytes]
    special: re.Pattern[bytes]


@lru_cache
def _field_patterns(dialect: Dialect) -> _FieldPatterns:
    marks = Marks.of(dialect)
    d, q, e, end = marks.delimiter, marks.quote, marks.escape, marks.line_end
    escaped = rb"%b(?:.|\Z)" % e
    literal = rb"%b(?!%b|%b|\Z)" % (q, d, end)
    inside = rb"(?:%b++|%b%b|%b|%b)*+" % (none_of(dialect.quote, dialect.escape), q, q, literal, escaped)
    enclosed = rb"%b(?P<enclosed>%b)%b(?=%b|%b|\Z)" % (q, inside, q, d, end)
    unclosed = rb"%b(?P<unclosed>%b)\Z" % (q, inside)
    other = none_of(dialect.delimiter, dialect.escape, "\r\n")
    plain = rb"(?!%b)(?P<plain>(?:%b++|(?!%b)[\r\n]|%b)*+)" % (q, other, end, escaped)
    return _FieldPatterns(
        field=re.compile(rb"%b|%b|%b" % (enclosed, unclosed, plain), re.DOTALL),
        special=re.compile(rb"%b(?P<escaped>.)|%b(?P<doubled>%b)" % (e, q, q), re.DOTALL),
    )
