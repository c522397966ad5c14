"""What to make of a record with a quote that does not belong: how far it goes, and what to call it.

A stray quote spoils its record, which ends where its line does (walk.py). But if its field began lines above, the
quote that opened it was most likely never meant to: it swallowed those lines, and the stray quote is the opening one of
a sound record. Then only the line with the unclosed quote is bad.

That is taken for certain only if all of this holds, given how many fields a record of the file has (Dialect.width):

- The field did not come to its end as it should: a stray quote, no quote at all within the largest record or to the end
  of the data, or, with a field of LARGE_FIELD bytes or more, a record with another number of fields than the file's.
- The line on which it opened, read again with that quote as a plain character, has the file's number of fields.
- So has what follows, read as records of its own (nine in ten of them, up to a hundred); where no quote closes the
  field at all, there is no need to look.

So a long text, or a whole CSV file, in quotes stays one value: its own quotes are doubled, and its field ends as it
should, which no count of fields outweighs. Nothing is decided before the field's end is known; that takes one search
for quotes, bounded by the largest record, some tens of milliseconds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS, Quote, RecordWalk
from importer.engine.source.records.lines import line_ends

STRAY, UNCLOSED, ENCODING, TRAILING = "stray quote", "unclosed quote", "encoding", "trailing delimiter"
RECORDS_TO_LOOK_AT = 100
EVIDENCE_BYTES = 256 * 1024
LARGE_FIELD = 256 * 1024
SHOWN = 40  # bytes before and after the place

# Bytes of a record from one offset in it to another, fewer where the data ends before.
ReadPart = Callable[[int, int], bytes]


@dataclass(frozen=True)
class MalformedRecord:
    """Why a record cannot be read safely: `record` is its number in its block, from 0, `line` where the flaw is.

    `field` counts from 1, 0 where the flaw is in none. `what` is a sentence, `advice` says what to do, `around` are the
    bytes at the place.
    """

    code: str
    line: int
    field: int
    what: str
    advice: str
    around: bytes = b""
    record: int = 0

    def of_record(self, record: int) -> "MalformedRecord":
        return replace(self, record=record)


def reader_of(data: bytes, start: int = 0) -> ReadPart:
    """How to look at bytes of a record that is at hand, at data[start:]."""
    return lambda low, high: data[start + low : start + high]


def resolve_quotes(
    walk: RecordWalk, look: ReadPart, length: int, size: int, dialect: Dialect
) -> tuple[MalformedRecord | None, int]:
    """What is wrong with the quotes of a record that `walk` has read, and how long the record really is.

    `length` is how long it is as the walk has read it; 0 if its end is not in the `size` bytes that there are, or are
    looked at. Then it has no length, unless a quote that is never closed shows where its line ends.
    """
    if length:
        return resolve_ended(walk, look, length, dialect)
    if walk.opened and walk.is_open:
        return resolve_unclosed(walk.opened, look, size, dialect)
    return None, 0


def resolve_ended(
    walk: RecordWalk, look: ReadPart, length: int, dialect: Dialect
) -> tuple[MalformedRecord | None, int]:
    """What is wrong with the quotes of a record that `walk` has read to its end, and how long the record really is.

    `length` is how long it is as the walk has read it.
    """
    opened = walk.opened_astray or walk.longest
    if opened and (walk.stray or (walk.longest_length >= LARGE_FIELD and not _usual(walk.fields, dialect))):
        tail = look(opened.offset, min(length, opened.offset + EVIDENCE_BYTES))
        final = opened.offset + len(tail) == length
        line_length = _line_with_plain_quote(tail, opened, dialect, final=final)
        closed = (walk.stray.offset if walk.stray else length) - opened.offset
        if line_length and _are_records(tail, line_length, closed, dialect, final=final):
            return _unclosed(opened, look), opened.offset + line_length
    return (_stray(walk.stray, walk.opened_astray, look) if walk.stray else None), length


def resolve_unclosed(
    opened: Quote, look: ReadPart, length: int, dialect: Dialect
) -> tuple[MalformedRecord | None, int]:
    """The same where the field that `opened` began has no end in the `length` bytes that there are or are looked at.

    No flaw if the line on which it opened cannot be told from a sound one: then nobody knows what comes after it.
    """
    tail = look(opened.offset, min(length, opened.offset + EVIDENCE_BYTES))
    final = opened.offset + len(tail) == length
    line_length = _line_with_plain_quote(tail, opened, dialect, final=final)
    return (_unclosed(opened, look), opened.offset + line_length) if line_length else (None, 0)


def _line_with_plain_quote(tail: bytes, opened: Quote, dialect: Dialect, *, final: bool) -> int:
    """How long the rest of its line is from the quote on, if with that quote as a plain character it fits; else 0."""
    walk = RecordWalk(dialect, literal=True)
    length = walk.feed(tail, final=final)
    one_line = line_ends(tail[:length], dialect.line_end) <= 1
    return length if length and one_line and _usual(opened.field - 1 + walk.fields, dialect) else 0


def _are_records(data: bytes, low: int, until: int, dialect: Dialect, *, final: bool) -> bool:
    """Whether the records that begin between data[low] and data[until] have the file's number of fields.

    Blank lines do not count.
    """
    line_end = re.compile(rb".*?(?:%b|\Z)" % RECORD_ENDS[dialect.line_end], re.DOTALL)
    found = usual = 0
    while low <= until and low < len(data) and found < RECORDS_TO_LOOK_AT:
        walk = RecordWalk(dialect)
        length, fits = walk.feed(data, low, final=final), _usual(walk.fields, dialect)
        if not (length and fits):
            # It may have an unclosed quote itself: then its line, quotes and all, tells.
            line = line_end.match(data, low)
            if not line:
                break
            length, fits = len(line[0]), _usual(line[0].count(dialect.delimiter_bytes) + 1, dialect)
        if data[low : low + length].strip(b"\r\n"):
            found += 1
            usual += fits
        low += length
    return bool(found) and usual >= 0.9 * found


def _usual(fields: int, dialect: Dialect) -> bool:
    return dialect.width > 1 and fields == dialect.width + dialect.trailing_delimiter


def _stray(stray: Quote, opened: Quote | None, look: ReadPart) -> MalformedRecord:
    line = opened.line if opened else stray.line
    where = "" if line == stray.line else f" on line {stray.line}, in the field that opens on line {line},"
    return MalformedRecord(
        STRAY,
        stray.line,
        stray.field,
        f"A quote in field {stray.field}{where} is neither doubled nor followed by a delimiter or a line end.",
        "Double it where it is part of the value. If quotes are plain characters in this file, choose no quote.",
        line_around(stray.offset, look),
    )


def _unclosed(opened: Quote, look: ReadPart) -> MalformedRecord:
    return MalformedRecord(
        UNCLOSED,
        opened.line,
        opened.field,
        f"The quote that opens field {opened.field} on line {opened.line} is not closed.",
        "Close it, or double it where it is part of the value. If the file quotes nothing, choose no quote.",
        line_around(opened.offset, look),
    )


def line_around(offset: int, look: ReadPart) -> bytes:
    """What stands around a place on its line."""
    before = look(max(0, offset - SHOWN), offset).replace(b"\r", b"\n").rpartition(b"\n")[2]
    after = look(offset, offset + SHOWN).replace(b"\r", b"\n").partition(b"\n")[0]
    return before + after
