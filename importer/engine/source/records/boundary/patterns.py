"""The regular expressions for whole records and for their fields. All quantifiers are possessive, as the servers never
backtrack.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.boundary.state_machine import (
    NOTHING,
    RECORD_ENDS,
    MarkPatterns,
    none_of,
    plain_escape,
)

# Patterns for the bytes of line ends that end no record.
_FOREIGN_ENDS = {"\n": rb"\r", "\r": rb"\n", "\r\n": rb"\n|\r(?!\n)"}


@lru_cache
def record_pattern(dialect: Dialect, final: bool, *, stray: bool) -> re.Pattern[bytes]:
    """A pattern for one whole record; it does not match a record that is cut, or with a line end of another kind.

    With `stray` the record may have stray quotes.
    """
    marks = MarkPatterns.of(dialect)
    d, q, e = marks.delimiter, marks.quote, marks.escape
    end = _line_end_pattern(dialect, final)
    after = b".?+" if final else b"."
    plain_cr = {"\n": rb"\r", "\r\n": rb"\r(?!\n)"}.get(dialect.line_end, NOTHING)
    first = re.escape(dialect.delimiter_bytes[:1])
    part = rb"(?!%b)%b" % (d, first) if len(dialect.delimiter_bytes) > 1 else NOTHING
    others = none_of(dialect.delimiter_bytes[:1], plain_escape(dialect), b"\r\n")
    body = any_number_of(others, plain_cr, part, marks.plain_escape + after)
    unquoted = none_of(dialect.quote.encode(), dialect.escape_bytes)
    inside = any_number_of(unquoted, q + q, e + after)
    enclosed = rb"%b%b%b(?=%b|%b)" % (q, inside, q, d, end)
    plain = rb"(?!%b)%b" % (q, body)
    kinds = [enclosed, plain]
    if stray:
        unsure = rb"\Z" if final else rb"\r?\Z|%b" % marks.cut_delimiter
        line_end = rb"\r?\n" if dialect.line_end in ("\n", "\r\n") else rb"[\r\n]"
        kinds.append(rb"%b%b%b(?!%b|%b|%b)%b" % (q, inside, q, d, line_end, unsure, body))
    field = rb"(?:%b)" % b"|".join(kinds)
    # The empty field, which no delimiter follows, stands for one that cannot be read: a repetition that failed behind
    # a delimiter would mislead Python before 3.11.5 (docs/decisions.md, One reading on every Python).
    record = rb"%b(?:%b(?:%b|))*+(?:%b)" % (field, d, b"|".join(kinds), end)
    if dialect.comment:
        comment = re.escape(dialect.comment_bytes)
        record = rb"%b%b(?:%b)|(?!%b)%b" % (comment, any_number_of(rb"[^\r\n]", plain_cr), end, comment, record)
    return re.compile(record, re.DOTALL)


def _line_end_pattern(dialect: Dialect, final: bool) -> bytes:
    # It is not known whether an LF follows a CR at the end of a block.
    bare_cr = rb"\r(?!\n)" if final else rb"\r(?=[^\n])"
    ends = {"\n": rb"(?<!\r)\n", "\r\n": rb"\r\n", "\r": bare_cr, ANY_LINE_END: rb"\r\n|\n|" + bare_cr}
    return ends[dialect.line_end] + (rb"|\Z" if final else b"")


@dataclass(frozen=True)
class FieldPatterns:
    """Patterns for the fields of one dialect.

    `field` matches one field of a record. Its value is in the group named after the field's kind, which is lastgroup;
    without a group the field is plain. For the kind `rest`, which follows a stray quote, the value begins in the group
    `opened`. `special` matches an escaped byte, a doubled quote, or a pair of bytes that stays, in a value
    (decode_special()).
    """

    field: re.Pattern[bytes]
    special: re.Pattern[bytes]


@lru_cache
def field_patterns(dialect: Dialect) -> FieldPatterns:
    """The patterns for a dialect's fields."""
    marks = MarkPatterns.of(dialect)
    d, q, e, end = marks.delimiter, marks.quote, marks.escape, RECORD_ENDS[dialect.line_end]
    delimiter, quote = dialect.delimiter_bytes, dialect.quote.encode()
    inside = any_number_of(none_of(quote, dialect.escape_bytes), q + q, e + b".?+")
    enclosed = rb"%b(?P<enclosed>%b)%b(?=%b|%b|\Z)" % (q, inside, q, d, end)
    unclosed = rb"%b(?P<unclosed>%b)\Z" % (q, inside)
    others = none_of(delimiter[:1], plain_escape(dialect), b"\r\n")
    part = rb"(?!%b)%b" % (d, re.escape(delimiter[:1])) if len(delimiter) > 1 else NOTHING
    foreign = _FOREIGN_ENDS.get(dialect.line_end, NOTHING)
    body = any_number_of(others, foreign, part, marks.plain_escape + b".?+")
    stray = rb"%b(?P<opened>%b)%b(?P<rest>%b)" % (q, inside, q, body)
    plain = rb"(?!%b)(?P<plain>%b)" % (q, body)
    return FieldPatterns(
        field=re.compile(rb"%b|%b|%b|%b" % (enclosed, unclosed, stray, plain), re.DOTALL),
        special=re.compile(rb"%b|%b(?P<doubled>%b)" % (_escaped_pattern(dialect, q, e), q, q), re.DOTALL),
    )


def _escaped_pattern(dialect: Dialect, quote: bytes, escape: bytes) -> bytes:
    """A pattern for what begins with an escape. The group `unescaped` is what is left of it in an enclosed field."""
    match dialect.escape:
        case "quote":
            return rb"%b(?P<unescaped>%b)|(?P<pair>%b%b)" % (escape, quote, escape, escape)
        case "php":
            return rb"(?P<pair>%b[%b%b])" % (escape, quote, escape)
    return rb"%b(?P<escaped>.)" % escape


def any_number_of(byte: bytes, *others: bytes) -> bytes:
    """A pattern for any number of these, in any order; `byte` is a pattern for one byte, and the most frequent.

    Where another looks ahead, NOTHING comes last, which Python before 3.11.5
    needs (docs/decisions.md, One reading on every Python).
    """
    others = tuple(each for each in others if not each.startswith(NOTHING))
    looks_ahead = any(b"(?" in each for each in others)
    last = b"|" + NOTHING if looks_ahead else b""
    return rb"%b*+(?:(?:%b)%b*+%b)*+" % (byte, b"|".join(others), byte, last) if others else byte + b"*+"
