"""Decides where a record with a stray or unclosed quote ends, and which flaw it has.

A stray quote makes its record bad, and the record ends with its line (state_machine.py). But if the stray quote's field
began on an earlier line, the quote that opened it was probably not meant to open one: the lines since then are records
of their own, and the stray quote opens a field of a sound record. In this case only the line with the unclosed quote is
bad.

The quote is unclosed if all of these conditions hold, given the usual number of fields in a record (Dialect.width):

- The field does not end properly: at a stray quote; or without a closing quote within the largest record or up to the
  end of the data; or, for a field of at least LARGE_FIELD bytes, in a record with another number of fields than usual.
- The line on which the field opens, with that quote read as a plain character, has the usual number of fields.
- The bytes after that line, read as records, have it too (nine in ten of up to a hundred records). This is not checked
  if no quote closes the field.

So a long text in quotes stays one value, and even a whole CSV file does: its own quotes are doubled, and its field ends
properly, so the numbers of fields in its lines do not matter. The decision waits for the field's end. This takes one
search for quotes, bounded by the largest record: some tens of milliseconds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS, Quote, RecordWalk

STRAY, UNCLOSED, ENCODING, TRAILING = "stray quote", "unclosed quote", "encoding", "trailing delimiter"
DOUBTFUL = "comment or record"
RECORDS_TO_LOOK_AT = 100
EVIDENCE_BYTES = 256 * 1024
LARGE_FIELD = 256 * 1024
SHOWN = 40  # bytes before and after the place

# Reads a record's bytes from one offset in it to another; fewer if the data ends before.
ReadPart = Callable[[int, int], bytes]


@dataclass(frozen=True)
class MalformedRecord:
    """A record that cannot be read safely, and its flaw.

    `record` is its number in its block, from 0; `line` is the flaw's physical line; `field` is the flaw's field from 1,
    or 0 if it is in no field. `what` is a sentence about the flaw, `advice` says what to do, `around` are the bytes
    around the flaw.
    """

    code: str
    line: int
    field: int
    what: str
    advice: str
    around: bytes = b""
    record: int = 0

    def of_record(self, record: int) -> "MalformedRecord":
        """The flaw with this record number."""
        return replace(self, record=record)


def reader_of(data: bytes, start: int = 0) -> ReadPart:
    """A function that reads parts of the record at data[start:]."""
    return lambda low, high: data[start + low : start + high]


def resolve_quotes(
    walk: RecordWalk, read_part: ReadPart, length: int, size: int, dialect: Dialect
) -> tuple[MalformedRecord | None, int]:
    """The flaw in the quotes of a record that `walk` has read, or None, and the record's real length in bytes.

    `length` is the length that the walk found, 0 if the record's end is not in the `size` bytes that were read. The
    real length is then 0 too, unless an unclosed quote shows that the record ends with its line.
    """
    if length:
        return resolve_ended(walk, read_part, length, dialect)
    if walk.opened and walk.is_open:
        return resolve_unclosed(walk.opened, read_part, size, dialect)
    return None, 0


def resolve_ended(
    walk: RecordWalk, read_part: ReadPart, length: int, dialect: Dialect
) -> tuple[MalformedRecord | None, int]:
    """The flaw in the quotes of a record that `walk` has read to its end, or None, and its real length in bytes.

    `length` is the length that the walk found.
    """
    opened = walk.opened_astray or walk.longest
    if opened and (walk.stray or (walk.longest_length >= LARGE_FIELD and not _usual(walk.fields, dialect))):
        tail = read_part(opened.offset, min(length, opened.offset + EVIDENCE_BYTES))
        final = opened.offset + len(tail) == length
        line_length = _line_with_plain_quote(tail, opened, dialect, final=final)
        closed = (walk.stray.offset if walk.stray else length) - opened.offset
        if line_length and _are_records(tail, line_length, closed, dialect, final=final):
            return _unclosed(opened, read_part), opened.offset + line_length
    return (_stray(walk.stray, walk.opened_astray, read_part, dialect) if walk.stray else None), length


def resolve_unclosed(
    opened: Quote, read_part: ReadPart, length: int, dialect: Dialect
) -> tuple[MalformedRecord | None, int]:
    """The flaw and real length of a record in which the field at the quote `opened` does not end in `length` bytes.

    (None, 0) if the line on which the field opens, with that quote as a plain character, does not have the usual number
    of fields: then there is no evidence where the record ends.
    """
    tail = read_part(opened.offset, min(length, opened.offset + EVIDENCE_BYTES))
    final = opened.offset + len(tail) == length
    line_length = _line_with_plain_quote(tail, opened, dialect, final=final)
    return (_unclosed(opened, read_part), opened.offset + line_length) if line_length else (None, 0)


def _line_with_plain_quote(tail: bytes, opened: Quote, dialect: Dialect, *, final: bool) -> int:
    """The length of the line from the quote on if the line fits with the quote as a plain character, else 0."""
    walk = RecordWalk(dialect, literal=True)
    length = walk.feed(tail, final=final)
    one_line = line_ends(tail[:length], dialect.line_end) <= 1
    return length if length and one_line and _usual(opened.field - 1 + walk.fields, dialect) else 0


def _are_records(data: bytes, low: int, until: int, dialect: Dialect, *, final: bool) -> bool:
    """Whether nine in ten of the records that begin between data[low] and data[until] have the usual number of fields.

    Blank lines and comments do not count. At most RECORDS_TO_LOOK_AT records are read.
    """
    line_end = re.compile(rb".*?(?:%b|\Z)" % RECORD_ENDS[dialect.line_end], re.DOTALL)
    count = usual = 0
    while low <= until and low < len(data) and count < RECORDS_TO_LOOK_AT:
        walk = RecordWalk(dialect)
        length, fits = walk.feed(data, low, final=final), _usual(walk.fields, dialect)
        if not (length and fits):
            # The record may have an unclosed quote itself: then the delimiters of its line are counted.
            line = line_end.match(data, low)
            if not line:
                break
            length, fits = len(line[0]), _usual(line[0].count(dialect.delimiter_bytes) + 1, dialect)
        is_comment = bool(dialect.comment) and data.startswith(dialect.comment_bytes, low)
        if data[low : low + length].strip(b"\r\n") and not is_comment:
            count += 1
            usual += fits
        low += length
    return bool(count) and usual >= 0.9 * count


def _usual(fields: int, dialect: Dialect) -> bool:
    return dialect.width > 1 and fields == dialect.width + dialect.trailing_delimiter


def _stray(stray: Quote, opened: Quote | None, read_part: ReadPart, dialect: Dialect) -> MalformedRecord:
    after_backslash = stray.offset > 0 and read_part(stray.offset - 1, stray.offset) == b"\\"
    line = opened.line if opened else stray.line
    where = "" if line == stray.line else f" on line {stray.line}, in the field that opens on line {line},"
    return MalformedRecord(
        STRAY,
        stray.line,
        stray.field,
        f"A quote in field {stray.field}{where} is neither doubled nor followed by a delimiter or a line end.",
        "If backslashes escape quotes in this file, say so (--escape quote, or php if PHP wrote it)."
        if after_backslash and not dialect.escape
        else "Double it where it is part of the value. If quotes are plain characters in this file, choose no quote.",
        line_around(stray.offset, read_part),
    )


def _unclosed(opened: Quote, read_part: ReadPart) -> MalformedRecord:
    return MalformedRecord(
        UNCLOSED,
        opened.line,
        opened.field,
        f"The quote that opens field {opened.field} on line {opened.line} is not closed.",
        "Close it, or double it where it is part of the value. If the file quotes nothing, choose no quote.",
        line_around(opened.offset, read_part),
    )


def line_around(offset: int, read_part: ReadPart) -> bytes:
    """The bytes around an offset, on its line: up to SHOWN before and after it."""
    before = read_part(max(0, offset - SHOWN), offset).replace(b"\r", b"\n").rpartition(b"\n")[2]
    after = read_part(offset, offset + SHOWN).replace(b"\r", b"\n").partition(b"\n")[0]
    return before + after
