"""Finds the records of a block that hold an unusual value, in one pass over its bytes (native/src/fast_path.c).

What it does not know is not wrong, only unusual: the Inspector looks at it then.
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
from importer.engine.validation.column_rules import ColumnRule
from importer.engine.validation.field_check import CellRule
from importer.engine.validation.types.formatted_numbers import FormattedNumber
from importer.engine.validation.types.formatted_times import FormattedTime
from importer.engine.validation.types.json_documents import Json
from importer.engine.validation.types.numbers import FixedPoint, FloatingPoint, WholeNumber
from importer.engine.validation.types.temporal import Clock, Day, Moment, Year
from importer.engine.validation.types.temporal_batch import MOST_FRACTION
from importer.engine.validation.types.texts import MANY_MEMBERS, Bytes, Members, Text

LONGEST_WORD = 255  # bytes
# Characters that may belong to a number: as a mark between fields they would be read as a part of it.
IN_NUMBERS = "0123456789-."


class ValueShape(IntEnum):
    """How the values of a field look: usual_values.h's `enum kind`."""

    ANYTHING, TEXT, WHOLE, FIXED, FLOATING, DAY, MOMENT, STAMP, CLOCK, YEAR, WORDS, JSON = range(12)


TIMES = (ValueShape.MOMENT, ValueShape.STAMP, ValueShape.CLOCK)


class Flag(IntFlag):
    """usual_values.h's `enum flags`."""

    SIGN, EMPTY, NO_EMPTY, NO_SPACE_AT_END, PLAIN, ASCII, SLASHES, NULLABLE, BARE = (1 << bit for bit in range(9))


class DialectFlag(IntFlag):
    """usual_values.h's `enum null_rules`."""

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
    """A record's number in its block, and where in there it begins and ends."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class FastPath:
    """Knows how the records of one import usually look. `marks` and `fields` are fast_path.c's."""

    marks: DelimiterMarks
    fields: ctypes.Array[_Field]

    @classmethod
    def of(cls, dialect: Dialect, rules: Sequence[CellRule], *, plain: bool = False) -> "FastPath | None":
        """None for a dialect or a column that fast_path.c does not know, or if it is not there.

        `plain`: numbers and times only in the one way that their type follows from, not in all that the server takes.
        """
        marks, fields = _marks(dialect), [_field(rule, dialect) for rule in rules]
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
        """Whether each record of the block has as many fields as there should be, all with usual values."""
        return self.unusual_records(block, 0) == []

    def unusual_records(self, block: Block, most: int) -> list[RecordAt] | None:
        """The other records, in their order. None if there are more than `most`, or they cannot be told apart."""
        data = ctypes.cast(ctypes.c_char_p(block.data), ctypes.c_void_p).value or 0
        found: list[RecordAt] = []
        at = number = 0
        while (low := at + self._usual_bytes(data + at, block.size - at)) < block.size:
            if len(found) == most or (low > at and block.ends.last(at, low) != low):
                return None
            number += block.ends.count(at, low)
            at = block.ends.first(low)
            found.append(RecordAt(number, low, at))
            number += 1
        return found

    def _usual_bytes(self, at: int, size: int) -> int:
        """How many of the bytes from this address on are usual records."""
        call = loader.function("count_fast_path_bytes", ctypes.c_size_t, *_ARGUMENTS)
        return int(call(at, size, self.marks, self.fields, len(self.fields)))


def _marks(dialect: Dialect) -> DelimiterMarks | None:
    if set(IN_NUMBERS) & set(dialect.delimiter + dialect.quote + dialect.escape):
        return None
    told = DialectFlag.EMPTY_IS_NULL if dialect.unquoted_empty_is_null else DialectFlag(0)
    # Beside an escape, a quote tells the word NULL from a text.
    told |= DialectFlag.WORD_IS_NULL if dialect.escape and dialect.quote else 0
    told |= DialectFlag.NO_LAST_FIELD if dialect.trailing_delimiter else 0
    return marks_for(dialect, told)


def _field(rule: CellRule, dialect: Dialect) -> _Field | None:
    look = _usual_values(rule.column_rule, dialect, rule.encoding)
    if not look:
        return None
    if rule.check.nullable:
        look.flags |= Flag.NULLABLE | (Flag.EMPTY if b"" in rule.markers else 0)
        look.null_count, look.nulls = _words(rule.markers, dialect)
        return look
    # Marks of NULL that the column does not take. An empty value is usual only among texts.
    look.flags |= Flag.NO_EMPTY if rule.markers else 0
    return look if rule.markers <= {b""} else None


def _usual_values(kind: ColumnRule | None, dialect: Dialect, encoding: str) -> _Field | None:
    """How the usual values of a kind look: no more than its own unusual() leaves out."""
    match kind:
        case None | FormattedTime(has_clock=False):
            return _Field(ValueShape.ANYTHING)
        case FormattedNumber(surely_kept=most) if most > 0:
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
            look = ValueShape.STAMP if timestamp else ValueShape.MOMENT
            return _Field(look, Flag.SLASHES if mariadb else 0, MOST_FRACTION, digits)
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
    """How many of the words can be given to fast_path.c, and these, each after its length.

    Not those with a quote or an escape: in the file it may stand twice, and two of them for one.
    """
    marks = [mark.encode() for mark in (dialect.quote, dialect.escape) if mark]
    usable = [word for word in words if 0 < len(word) <= LONGEST_WORD and not any(mark in word for mark in marks)]
    return len(usable), b"".join(bytes([len(word)]) + word for word in usable)
