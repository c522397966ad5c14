"""Whether all values of a block are as they usually are, told by c/usual.c in one pass over its bytes.

What it does not know is not wrong, only unusual: the Inspector looks at the block then.
"""

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from importer.engine import native
from importer.engine.dialect import Dialect
from importer.engine.exactness.checks import Judge
from importer.engine.exactness.documents import Json
from importer.engine.exactness.kinds import Kind
from importer.engine.exactness.numbers import FixedPoint, FloatingPoint, WholeNumber
from importer.engine.exactness.texts import MANY_MEMBERS, Bytes, Members, Text
from importer.engine.exactness.time_cells import MOST_FRACTION
from importer.engine.exactness.times import Clock, Day, Moment, Year
from importer.engine.files.encodings import UTF8
from importer.engine.records.blocks import Block

LONGEST_WORD = 255  # bytes
# Characters that may belong to a number: as a mark between fields they would be read as a part of it.
IN_NUMBERS = "0123456789-."


class Look(IntEnum):
    """How the values of a field look: usual.c's `enum kind`."""

    ANYTHING, TEXT, WHOLE, FIXED, FLOATING, DAY, MOMENT, STAMP, CLOCK, YEAR, WORDS, JSON = range(12)


TIMES = (Look.MOMENT, Look.STAMP, Look.CLOCK)


class Flag(IntFlag):
    """usual.c's `enum flags`."""

    SIGN, EMPTY, NO_EMPTY, NO_SPACE_AT_END, PLAIN, DOUBLED, ASCII, SLASHES = 1, 2, 4, 8, 16, 32, 64, 128


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


class _Marks(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint8) for name in ("delimiter", "quote", "escape", "carriage"))


_ARGUMENTS = (
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.POINTER(_Marks),
    ctypes.POINTER(_Field),
    ctypes.c_size_t,
)


@dataclass(frozen=True)
class Usual:
    """Knows how the records of one import usually look. `marks` and `fields` are usual.c's."""

    marks: _Marks
    fields: ctypes.Array[_Field]

    @classmethod
    def of(cls, dialect: Dialect, judges: Sequence[Judge], *, plain: bool = False) -> "Usual | None":
        """None for a dialect or a column that usual.c does not know, or if it is not there.

        `plain`: numbers and times only in the one way that their type follows from, not in all that the server takes.
        """
        marks, fields = _marks(dialect), [_field(judge, dialect.quote.encode()) for judge in judges]
        if not native.library() or not marks or not all(fields):
            return None
        known = [each for each in fields if each]
        if plain:
            for each in known:
                each.flags |= Flag.PLAIN
                each.most = each.scale if each.kind in TIMES else each.most
        return cls(marks, (_Field * len(known))(*known))

    def all_of(self, block: Block) -> bool:
        """Whether each record of the block has as many fields as there should be, all with usual values."""
        call = native.function("usual_bytes", ctypes.c_size_t, *_ARGUMENTS)
        return bool(call(block.data, block.size, self.marks, self.fields, len(self.fields)) == block.size)


def _marks(dialect: Dialect) -> _Marks | None:
    simple = len(dialect.delimiter_bytes) == 1 and dialect.line_end in ("\n", "\r\n")
    # Beside an escape, a quote tells the word NULL from a text.
    told_by_quotes = dialect.unquoted_empty_is_null or (dialect.escape and dialect.quote)
    if not simple or told_by_quotes or dialect.trailing_delimiter:
        return None
    marks = (dialect.delimiter, dialect.quote, dialect.escape)
    if any(mark and mark in IN_NUMBERS for mark in marks):
        return None
    return _Marks(*(ord(mark or "\0") for mark in marks), dialect.line_end == "\r\n")


def _field(judge: Judge, quote: bytes) -> _Field | None:
    look = _look(judge.kind, quote, judge.encoding)
    if not look or not judge.markers:
        return look
    if judge.check.nullable:
        look.flags |= Flag.EMPTY if b"" in judge.markers else 0
        look.null_count, look.nulls = _words(judge.markers, quote)
        return look
    # Marks of NULL that the column does not take. An empty value is usual only among texts.
    look.flags |= Flag.NO_EMPTY
    return look if judge.markers == {b""} else None


def _look(kind: Kind | None, quote: bytes, encoding: str) -> _Field | None:
    """How the usual values of a kind look: no more than its own unusual() leaves out."""
    match kind:
        case None:
            return _Field(Look.ANYTHING)
        case Text(most=most, fixed=fixed):
            return _Field(Look.TEXT, Flag.NO_SPACE_AT_END if fixed else 0, most)
        case Bytes(most=most, fixed=False):
            return _Field(Look.TEXT, 0, most)
        case WholeNumber(low=low, high=high):
            digits = str(high).encode()
            return _Field(Look.WHOLE, _sign(low < 0), len(digits), text=digits)
        case FixedPoint(precision=precision, scale=scale, unsigned=unsigned):
            return _Field(Look.FIXED, _sign(not unsigned), precision - scale, scale)
        case FloatingPoint(scale=-1, single=single, unsigned=unsigned):
            return _Field(Look.FLOATING, _sign(not unsigned), kind.digits, 24 if single else 53)  # bits of mantissa
        case Day(mariadb=mariadb):
            return _Field(Look.DAY, Flag.SLASHES if mariadb else 0)
        case Moment(digits=digits, timestamp=timestamp, mariadb=mariadb):
            look = Look.STAMP if timestamp else Look.MOMENT
            return _Field(look, Flag.SLASHES if mariadb else 0, MOST_FRACTION, digits)
        case Clock(digits=digits):
            return _Field(Look.CLOCK, 0, MOST_FRACTION, digits)
        case Year():
            return _Field(Look.YEAR)
        case Members(members=members):
            count, words = _words([member.encode() for member in members[:MANY_MEMBERS]], quote)
            return _Field(Look.WORDS, count=count, text=words)
        case Json():
            return _Field(Look.JSON, (Flag.DOUBLED if quote == b'"' else 0) | (0 if encoding == UTF8 else Flag.ASCII))
    return None


def _sign(allowed: bool) -> int:
    return Flag.SIGN if allowed else 0


def _words(words: Iterable[bytes], quote: bytes) -> tuple[int, bytes]:
    """How many of the words can be given to usual.c, and these, each after its length.

    Not those with a quote: in the file it may stand twice, and two of them for one.
    """
    usable = [word for word in words if 0 < len(word) <= LONGEST_WORD and not (quote and quote in word)]
    return len(usable), b"".join(bytes([len(word)]) + word for word in usable)
