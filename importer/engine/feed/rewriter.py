"""Rewrites records whose dialect the server cannot read: a step of the feed.

The output is RFC 4180 with LF (Dialect.sent): fields are enclosed if necessary, NULL is the bare word, and the text
NULL is in quotes. Values keep every byte, including line ends inside quotes. Skipped blank lines and trailing
delimiters are left out.

Values of raw fields (Dialect.raw_fields) are written as hexadecimal digits.

It takes the fastest of three ways that is right for the records: if none has a quote, an escape or the word NULL, marks
are replaced in the whole run; if only line ends or escaped quotes differ, or NULL has to be written, only these places
are changed; else each field is rewritten. A record larger than a block of which only the line end differs is rewritten
in pieces.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from importer.engine.feed.feed import FeedTransform
from importer.engine.source.arrays import np
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.boundary.boundaries import Ends, blank_records, quotes_are_regular
from importer.engine.source.records.boundary.state_machine import one_of
from importer.engine.source.records.escaped_quotes import with_doubled_quotes
from importer.engine.source.records.fields import values
from importer.engine.source.records.no_records import find_no_records
from importer.engine.source.records.record_stream import whole_records

NULL_WORD = b"NULL"


def rewritten(dialect: Dialect) -> FeedTransform:
    """A step that rewrites records from `dialect` to `dialect.sent`. None may be malformed (records/malformed.py)."""

    def step(pieces: Iterable[bytes]) -> Iterator[bytes]:
        for data, ends in whole_records(pieces, dialect):
            yield _rewritten(data, ends, dialect)

    return step


def passes_in_pieces(record: Iterable[bytes], dialect: Dialect) -> bool:
    """Whether this single record, given in pieces, differs from `dialect.sent` in its line end only."""
    if dialect.line_end != ANY_LINE_END or dialect.escape or dialect.unquoted_empty_is_null or not _marks_stay(dialect):
        return False
    if dialect.raw_fields:
        return False
    first = last = b""
    for piece in record:
        first, last = first or piece[:1], last + piece
        if NULL_WORD in last:
            return False
        last = last[-len(NULL_WORD) :]
    # Line ends before or after the record are blank lines, which are not sent.
    return first not in b"\r\n" and not _without_line_end(last).endswith((b"\r", b"\n"))


def in_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A step that rewrites the line end of a record for which passes_in_pieces() holds."""
    last = b""
    for piece in pieces:
        last += piece
        yield last[:-2]
        last = last[-2:]
    yield _without_line_end(last) + b"\n"


def _without_line_end(data: bytes) -> bytes:
    end = next((each for each in (b"\r\n", b"\n", b"\r") if data.endswith(each)), b"")
    return data.removesuffix(end)


def _rewritten(data: bytes, ends: Ends, dialect: Dialect) -> bytes:
    if dialect.raw_fields:
        return _field_by_field(data, ends, dialect)
    hard = _hard(dialect)
    if hard is not None and not any(mark in data for mark in hard):
        return _by_replacing(data, dialect)
    if _marks_stay(dialect) and NULL_WORD not in data:
        if dialect.escapes_in(data):
            return _with_escapes_undone(data, ends, dialect)
        if not dialect.unquoted_empty_is_null:
            return _with_line_ends_set(data, ends, dialect)
        if not ends.flaws and quotes_are_regular(data, dialect):
            return _with_null_words(_with_line_ends_set(data, ends, dialect), dialect)
    return _field_by_field(data, ends, dialect)


def _with_escapes_undone(data: bytes, ends: Ends, dialect: Dialect) -> bytes:
    """The records of a dialect whose marks stay, with something escaped."""
    if dialect.escapes_all or dialect.unquoted_empty_is_null or dialect.leaves_lines_out:
        return _field_by_field(data, ends, dialect)
    return with_doubled_quotes(_with_line_ends_set(data, ends, dialect), replace(dialect, line_end="\n"))


@lru_cache
def _hard(dialect: Dialect) -> tuple[bytes, ...] | None:
    """The bytes that rule out rewriting by replacement of marks; None if that is never possible in this dialect."""
    if dialect.trailing_delimiter and dialect.delimiter != dialect.sent.delimiter:
        return None
    other = "" if dialect.delimiter == dialect.sent.delimiter else dialect.sent.delimiter
    marks = {*dialect.marks, dialect.sent.quote.encode(), other.encode()} - {b""}
    return (*sorted(marks), NULL_WORD)


def _by_replacing(data: bytes, dialect: Dialect) -> bytes:
    if dialect.line_end == ANY_LINE_END:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    elif dialect.line_end != "\n":
        data = data.replace(dialect.line_end.encode(), b"\n")
    if not data.endswith(b"\n"):
        data += b"\n"
    if dialect.blank_lines == "skip":
        while b"\n\n" in data:
            data = data.replace(b"\n\n", b"\n")
        data = data.removeprefix(b"\n")
    delimiter = dialect.sent.delimiter.encode()
    data = data.replace(dialect.delimiter_bytes, delimiter)
    if dialect.trailing_delimiter:
        data = data.replace(delimiter + b"\n", b"\n")
    return _with_null_words(data, dialect) if dialect.unquoted_empty_is_null else data


def _with_null_words(data: bytes, dialect: Dialect) -> bytes:
    """The records, which end in LF, with the word NULL in each field that is empty and not quoted."""
    view = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero((view == ord(dialect.sent.delimiter)) | (view == ord("\n")))
    if dialect.quote and dialect.quote.encode() in data:
        quotes = np.flatnonzero(view == ord(dialect.quote))
        marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
    empty = marks[np.diff(marks, prepend=-1) == 1]
    word = np.frombuffer(NULL_WORD, np.uint8)
    return np.insert(view, np.repeat(empty, len(word)), np.tile(word, len(empty))).tobytes()


def _marks_stay(dialect: Dialect) -> bool:
    """Whether delimiter and quote are those of the sent dialect."""
    same = (dialect.delimiter, dialect.quote) == (dialect.sent.delimiter, dialect.sent.quote)
    return same and not dialect.trailing_delimiter


def _with_line_ends_set(data: bytes, ends: Ends, dialect: Dialect) -> bytes:
    """The records with LF as line end; CR and LF inside quotes stay."""
    view = np.frombuffer(data, np.uint8).copy()
    lasts = np.asarray(ends.as_array())
    stays = np.ones(len(view), bool)
    lf, cr = ord("\n"), ord("\r")
    if dialect.line_end in ("\r\n", ANY_LINE_END):
        at_cr_lf = lasts[(lasts > 1) & (view[lasts - 1] == lf) & (view[lasts - 2] == cr)]
        stays[at_cr_lf - 2] = False
    if dialect.line_end in ("\r", ANY_LINE_END):
        view[lasts[view[lasts - 1] == cr] - 1] = lf
    if dialect.blank_lines == "skip":
        for low in blank_records(data, ends, dialect):
            stays[low : ends.first(low)] = False
    whole = view[stays].tobytes()
    return whole if not whole or whole.endswith(b"\n") else whole + b"\n"


def _field_by_field(data: bytes, ends: Ends, dialect: Dialect) -> bytes:
    delimiter, special = dialect.sent.delimiter.encode(), _special(dialect.sent)
    blank = set(find_no_records(data, ends, dialect))
    rows, low = [], 0
    for high in ends.as_array().tolist():
        if low not in blank:
            cells = (_cell(value, special) for value in _sent_values(data[low:high], dialect))
            rows.append(delimiter.join(cells) + b"\n")
        low = high
    return b"".join(rows)


def _sent_values(record: bytes, dialect: Dialect) -> list[bytes | None]:
    """The values of a record, with hexadecimal digits for those of raw fields."""
    sent = values(record, dialect)
    for number in dialect.raw_fields:
        if number < len(sent) and (value := sent[number]):
            sent[number] = value.hex().encode()
    return sent


def _cell(value: bytes | None, special: re.Pattern[bytes]) -> bytes:
    if value is None:
        return NULL_WORD
    if special.search(value) or value == NULL_WORD:
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


@lru_cache
def _special(sent: Dialect) -> re.Pattern[bytes]:
    """A pattern of the bytes for which a field must be enclosed."""
    return re.compile(one_of(sent.delimiter.encode(), sent.quote.encode(), b"\r\n"))
