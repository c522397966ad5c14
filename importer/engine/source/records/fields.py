"""Reads records and their values one by one, as the server does: for previews, sniffing and reports of bad rows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.boundary.boundaries import first_record
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.boundary.patterns import field_patterns

# As unescape() in sql/sql_load.cc; any other escaped byte stands for itself.
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"0": b"\0", b"Z": b"\x1a"}


@dataclass(frozen=True)
class Record:
    """A record data[start:end] with its line end; `line` is the physical line (1-based) of its first byte."""

    start: int
    end: int
    line: int


class LocatedRecord(NamedTuple):
    """A record in a file: its physical line (1-based), its byte offset, and its bytes with the line end."""

    line: int
    offset: int
    raw: bytes


@dataclass(frozen=True)
class RecordPosition:
    """A record's physical line (1-based), and its number (from 0) among the rows that were searched."""

    line: int
    row: int


def records(data: bytes, dialect: Dialect, *, line: int = 1, final: bool = True) -> Iterator[Record]:
    """All records of `data`, which begins on `line`; blank lines are included.

    A last record without a line end is left out unless `data` is `final`. After a quote that is never closed, the rest
    of final data is one record, unless there is evidence that only the quote's line is bad (stray_quotes.py).
    """
    start = 0
    while start < len(data):
        length = first_record(data, dialect, start, final=final)[1]
        if not length and not final:
            return
        end = start + length if length else len(data)
        yield Record(start, end, line)
        line += line_ends(data, dialect.line_end, start, end)
        start = end


def fields(record: bytes, dialect: Dialect) -> list[bytes]:
    r"""The values of one record, with or without its line end, as the server decodes them.

    Enclosing quotes are removed, doubled quotes and escapes are decoded. `\N`, which may be NULL (Dialect.null), stays
    `\N`. A quote that is never closed stays in the value; a stray quote is removed.
    """
    return [rb"\N" if value is None else value for value in _values(record, dialect, empty=b"")]


def values(record: bytes, dialect: Dialect) -> list[bytes | None]:
    r"""The values of one record as fields() has them, with None for NULL.

    NULL is Dialect.null, and an empty field without quotes in one with `unquoted_empty_is_null`.
    """
    return _values(record, dialect, empty=None if dialect.unquoted_empty_is_null else b"")


def sent_values(record: bytes, dialect: Dialect) -> list[bytes | None]:
    r"""The values of one record as the server reads them in a dialect that it supports (Dialect.sent); None for NULL.

    In a dialect with a quote, the word NULL without quotes is also NULL (manual, LOAD DATA: "the word NULL").
    """
    return _values(record, dialect, empty=b"", null_word=bool(dialect.quote) and b"NULL" in record)


def _values(record: bytes, dialect: Dialect, empty: bytes | None, *, null_word: bool = False) -> list[bytes | None]:
    if not any(mark in record for mark in dialect.marks):
        split = _split(record, dialect, empty)
        return [None if value == b"NULL" else value for value in split] if null_word else split
    patterns, delimiter = field_patterns(dialect), dialect.delimiter_bytes
    decoded: list[bytes | None] = []
    position = 0
    while True:
        field = patterns.field.match(record, position)
        assert field is not None, "an unenclosed field can be empty, so there is always one"
        bare_null = null_word and field["plain"] == b"NULL"
        decoded.append(
            None if bare_null else empty if field.end() == position else _decoded(field, patterns.special, dialect)
        )
        position = field.end()
        if not record.startswith(delimiter, position):
            break
        position += len(delimiter)
    ends_in_delimiter = len(decoded) > 1 and field.start() == field.end()
    return decoded[:-1] if dialect.trailing_delimiter and ends_in_delimiter else decoded


def _split(record: bytes, dialect: Dialect, empty: bytes | None) -> list[bytes | None]:
    """The values of a record without quotes and escapes."""
    ends = (b"\r\n", b"\n", b"\r") if dialect.line_end == ANY_LINE_END else (dialect.line_end.encode(),)
    bare = next((record.removesuffix(end) for end in ends if record.endswith(end)), record)
    split: list[bytes | None] = list(bare.split(dialect.delimiter_bytes))
    if dialect.trailing_delimiter and len(split) > 1 and not split[-1]:
        split.pop()
    return split if empty == b"" else [value or empty for value in split]


def _decoded(field: re.Match[bytes], special: re.Pattern[bytes], dialect: Dialect) -> bytes | None:
    kind = field.lastgroup or "plain"
    if dialect.escapes_all and field[kind] == rb"\N" and kind != "rest":
        return None
    value = special.sub(lambda match: decode_special(match, kind), field[kind])
    if kind == "rest":
        return special.sub(lambda match: decode_special(match, "opened"), field["opened"]) + value
    return dialect.quote.encode() + value if kind == "unclosed" else value


def decode_special(special: re.Match[bytes], kind: str) -> bytes:
    """The bytes that an escaped byte or a doubled quote stands for; in an unenclosed field two quotes are two.

    So is an escaped quote two bytes there if escapes count in quotes only.
    """
    if special.lastgroup == "escaped":
        return _ESCAPED.get(special["escaped"], special["escaped"])
    return special[0] if kind in ("plain", "rest") else special[special.lastgroup or 0]
