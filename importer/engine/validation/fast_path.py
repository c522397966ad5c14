"""Finds the records of a block that have an unusual value, in one pass over its bytes (native/src/fast_path.c).

An unusual value is not necessarily wrong: the Validator examines it.
"""

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple

from importer.engine.native import loader
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.delimiter_marks import DelimiterMarks, marks_for
from importer.engine.validation.field_check import CellRule
from importer.engine.validation.types.formatted_numbers import FormattedNumber
from importer.engine.validation.types.formatted_times import FormattedTime
from importer.engine.validation.types.json_documents import Json
from importer.engine.validation.types.numbers import FixedPoint, FloatingPoint, WholeNumber
from importer.engine.validation.types.temporal import Clock, Day, Moment, Year
from importer.engine.validation.types.temporal_batch import MOST_FRACTION
from importer.engine.validation.types.texts import MANY_MEMBERS, Bytes, Members, Text
from importer.engine.validation.verdict import ColumnRule

LONGEST_WORD = 255  # bytes
# Characters of numbers. As a delimiter, quote or escape they would be read as part of a number.
IN_NUMBERS = "0123456789-."


class ValueShape(IntEnum):
    """The form of a field's usual values: usual_values.h's `enum kind`."""

    ANYTHING, TEXT, WHOLE, FIXED, FLOATING, DAY, MOMENT, STAMP, CLOCK, YEAR, WORDS, JSON = range(12)


TIMES = (ValueShape.MOMENT, ValueShape.STAMP, ValueShape.CLOCK)


class Flag(IntFlag):
    """usual_values.h's `enum flags`."""

    SIGN, EMPTY, NO_EMPTY, NO_SPACE_AT_END, PLAIN, ASCII, SLASHES, NULLABLE, BARE = (1 << bit for bit in range(9))


class DialectFlag(IntFlag):
    """delimiter_marks.h's `enum null_rules`."""

    EMPTY_IS_NULL, WORD_IS_NULL, NO_LAST_FIELD = 1, 2, 4


class _Field(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("most", ctypes.c_uint64),
        ("scale", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("null_count", ctypes.c_uint32),
        ("text", ctypes.c_char_p),
        ("nulls", ctypes.c_char_p),
    )


_ARGUMENTS = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.POINTER(DelimiterMarks),
    ctypes.POINTER(_Field),
    ctypes.c_size_t,
)


class RecordAt(NamedTuple):
    """A record's number in its block, and the bytes of the block where it begins and ends."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class FastPath:
    """Recognizes the usual records of one import. `marks` and `fields` are the arguments of fast_path.c."""

    marks: DelimiterMarks
    fields: ctypes.Array[_Field]

    @classmethod
    def of(cls, dialect: Dialect, rules: Sequence[CellRule], *, plain: bool = False) -> "FastPath | None":
        """The fast path for these fields; None without the C library, or for a dialect or column that it does not know.

        `plain`: numbers and times are usual only in the notation from which type inference gives their type, not in
        every notation that the server accepts.
        """
        marks, fields = marks_of(dialect), [_field(rule, dialect) for rule in rules]
        if not loader.library() or not marks or not fields or not all(fields):
            return None
        known = [each for each in fields if each]
        if dialect.trailing_delimiter:
            known.append(_Field(ValueShape.WORDS, Flag.EMPTY | Flag.NULLABLE | Flag.BARE))
        if plain:
            for each in known:
                each.flags |= Flag.PLAIN
                each.most = each.scale if each.kind in TIMES else each.most
        return cls(marks, (_Field * len(known))(*known))

    def are_all_usual(self, block: Block) -> bool:
        """Whether each record of the block has the right number of fields, all with usual values."""
        return self.unusual_records(block, 0) == []

    def unusual_records(self, block: Block, most: int) -> list[RecordAt] | None:
        """The unusual records in their order. None if there are more than `most`, or their borders are uncertain."""
        data = ctypes.cast(ctypes.c_char_p(block.data), ctypes.c_void_p).value or 0
        unusual: list[RecordAt] = []
        at = number = 0
        while (low := at + self._usual_bytes(data + at, block.size - at)) < block.size:
            if len(unusual) == most or (low > at and block.ends.last(at, low) != low):
                return None
            number += block.ends.count(at, low)
            at = block.ends.first(low)
            unusual.append(RecordAt(number, low, at))
            number += 1
        return unusual

    def _usual_bytes(self, at: int, size: int) -> int:
        """The number of bytes from this address on that are usual records."""
        call = loader.function("count_fast_path_bytes", ctypes.c_size_t, *_ARGUMENTS)
        return int(call(at, size, self.marks, self.fields, len(self.fields)))


def marks_of(dialect: Dialect) -> DelimiterMarks | None:
    """The dialect's marks and what its quotes say about NULL; None if fast_path.c does not support it."""
    if set(IN_NUMBERS) & set(dialect.delimiter + dialect.quote):
        return None
    flags = DialectFlag.EMPTY_IS_NULL if dialect.unquoted_empty_is_null else DialectFlag(0)
    # In a dialect with an escape, quotes distinguish a text from the word NULL.
    flags |= DialectFlag.WORD_IS_NULL if dialect.escapes_all and dialect.quote else 0
    flags |= DialectFlag.NO_LAST_FIELD if dialect.trailing_delimiter else 0
    return marks_for(dialect, flags)


def _field(rule: CellRule, dialect: Dialect) -> _Field | None:
    field = _usual_values(rule.column_rule, dialect, rule.encoding)
    if not field or rule.misread:
        return None
    usual = {*rule.replacements} - {b"NULL"} | (rule.markers if rule.check.nullable else set())
    field.flags |= Flag.EMPTY if b"" in usual else 0
    field.null_count, field.nulls = _words(usual, dialect)
    if rule.check.nullable:
        field.flags |= Flag.NULLABLE
        return field
    # Without NULL, an empty value is unusual if it is a NULL marker; otherwise it is usual in texts only.
    field.flags |= Flag.NO_EMPTY if rule.markers else 0
    return field if rule.markers <= {b""} else None


def _usual_values(kind: ColumnRule | None, dialect: Dialect, encoding: str) -> _Field | None:
    """The form of a rule's usual values: a subset of the values that the rule's unusual() leaves out."""
    match kind:
        case None | FormattedTime(drops=False):
            return _Field(ValueShape.ANYTHING)
        case FormattedNumber(always_kept_bytes=most) if most > 0:
            return _Field(ValueShape.TEXT, 0, most)
        case Text(most=most, fixed=fixed):
            return _Field(ValueShape.TEXT, Flag.NO_SPACE_AT_END if fixed else 0, most)
        case Bytes(most=most, fixed=False):
            return _Field(ValueShape.TEXT, 0, most)
        case WholeNumber(low=low, high=high):
            digits = str(high).encode()
            return _Field(ValueShape.WHOLE, _sign(low < 0), len(digits), text=digits)
        case FixedPoint(precision=precision, scale=scale, unsigned=unsigned):
            return _Field(ValueShape.FIXED, _sign(not unsigned), precision - scale, scale)
        case FloatingPoint(scale=-1, single=single, unsigned=unsigned):
            return _Field(
                ValueShape.FLOATING, _sign(not unsigned), kind.digits, 24 if single else 53
            )  # bits of mantissa
        case FloatingPoint(decimal=FixedPoint() as decimal):
            return _usual_values(decimal, dialect, encoding)
        case Day(mariadb=mariadb):
            return _Field(ValueShape.DAY, Flag.SLASHES if mariadb else 0)
        case Moment(digits=digits, timestamp=timestamp, mariadb=mariadb):
            shape = ValueShape.STAMP if timestamp else ValueShape.MOMENT
            return _Field(shape, Flag.SLASHES if mariadb else 0, MOST_FRACTION, digits)
        case Clock(digits=digits):
            return _Field(ValueShape.CLOCK, 0, MOST_FRACTION, digits)
        case Year():
            return _Field(ValueShape.YEAR)
        case Members(members=members):
            count, words = _words([member.encode() for member in members[:MANY_MEMBERS]], dialect)
            return _Field(ValueShape.WORDS, count=count, text=words)
        case Json():
            return _Field(ValueShape.JSON, 0 if encoding == UTF8 else Flag.ASCII)
    return None


def _sign(allowed: bool) -> int:
    return Flag.SIGN if allowed else 0


def _words(words: Iterable[bytes], dialect: Dialect) -> tuple[int, bytes]:
    """The words for fast_path.c: their number, and the words, each after its length in one byte.

    Without words that are too long or have a quote or an escape, which the file may write doubled or undoubled.
    """
    marks = dialect.marks
    usable = [word for word in words if 0 < len(word) <= LONGEST_WORD and not any(mark in word for mark in marks)]
    return len(usable), b"".join(bytes([len(word)]) + word for word in usable)
