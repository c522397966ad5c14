"""The values of a row in an SQL dump, as the server would read them."""

import re
from enum import Enum, IntEnum
from functools import cache
from typing import NamedTuple

from importer.engine.schema.column_types import Family, column_type
from importer.engine.source.formats.copy_records import NULL
from importer.engine.source.formats.sql.tokens import Strings
from importer.engine.source.records.copy_escapes import escaped

_EXPONENT = rb"|".join(e + sign + rb"[0-9][0-9]*+" for e in (b"e", b"E") for sign in (b"", rb"[-+]"))
_NUMBER = rb"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:" + _EXPONENT + rb")?+"


@cache
def row_pattern(width: int, strings: Strings) -> re.Pattern[bytes]:
    """A row of `width` values as most rows have them; any other is read value by value."""
    plain = rb"\s*+(" + strings.single + rb"|[-+]?" + _NUMBER + rb"|NULL)\s*+"
    return re.compile(rb"\(" + rb",".join([plain] * width) + rb"\)", re.DOTALL)


@cache
def value_pattern(strings: Strings) -> re.Pattern[bytes]:
    """A literal of any kind."""
    return re.compile(
        rb"(?:_(?P<set>[a-zA-Z0-9]+)\s*+)?(?:(?P<single>"
        + strings.single
        + rb")|(?P<double>"
        + strings.double
        + rb")"
        + _NO_TEXT,
        re.DOTALL | re.IGNORECASE,
    )


_NO_TEXT = (
    rb"|[xX]'(?P<hex>[0-9a-fA-F]*+)'|0x(?P<prefixed>[0-9a-fA-F]++)|[bB]'(?P<bits>[01]*+)'|0b(?P<bit_digits>[01]++)"
    rb"|(?P<number>[-+]?\s*+" + _NUMBER + rb")|(?P<word>NULL|TRUE|FALSE)\b)"
)
_WORDS = {b"NULL": None, b"TRUE": b"1", b"FALSE": b"0"}
# Manual, "String Literals". A backslash before any other character is left out.
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a", b"%": b"\\%", b"_": b"\\_"}
_SPECIAL = re.compile(rb"['\\\t\n\r\0]")
_BACKSLASH = re.compile(rb"\\(.)|''|\"\"", re.DOTALL)


def copied(token: bytes, strings: Strings) -> bytes:
    """A value of a row_pattern, as it stands in the working copy."""
    if token[:1] == b"'":
        inner = token[1:-1]
        return escaped(text_of(inner, b"'", strings)) if _SPECIAL.search(inner) else inner
    return NULL if token == b"NULL" else token


def text_of(inner: bytes, quote: bytes, strings: Strings) -> bytes:
    """The text between the quotes of a literal. `quote` stands for itself if it is doubled."""
    if b"\\" not in inner or not strings.backslashes:
        return inner.replace(quote * 2, quote)

    def unescape(found: re.Match[bytes]) -> bytes:
        if found[1] is not None:
            return _ESCAPED.get(found[1], found[1])
        return quote if found[0] == quote * 2 else found[0]

    return _BACKSLASH.sub(unescape, inner)


class Form(Enum):
    """How a literal is written. Into a column of numbers, digits of bytes or bits are a number.

    Hexadecimal digits in quotes (x'3132') are so on MySQL only: on MariaDB they are the text 12 there.
    """

    TEXT = "a text in quotes"
    NUMBER = "a number or a word"
    DIGITS = "hexadecimal digits after 0x, or bits"
    QUOTED_DIGITS = "hexadecimal digits in quotes"


def depends_on_zone(type_: str) -> bool:
    """Whether the values of a column of this type depend on the time zone of the session that inserts them."""
    return column_type(type_).has_epoch


class FieldKind(IntEnum):
    """What a field has: texts, bits, bytes or numbers. A field with literals of several kinds has the greatest.

    Only the type of a column states that a field has numbers.
    """

    PLAIN = 0
    BITS = 1
    BYTES = 2
    NUMBER = 3

    @classmethod
    def of_type(cls, type_: str) -> "FieldKind":
        """The kind of a column of this type, in lower case."""
        match column_type(type_).family:
            case Family.BIT:
                return cls.BITS
            case Family.BYTES | Family.GEOMETRY:
                return cls.BYTES
            case Family.INTEGER | Family.DECIMAL | Family.FLOATING | Family.YEAR:
                return cls.NUMBER
        return cls.PLAIN

    @property
    def is_bytes(self) -> bool:
        """Whether the bytes of a text count, and not its characters."""
        return self in (FieldKind.BITS, FieldKind.BYTES)

    def written(self, value: bytes | None, form: Form) -> bytes:
        """The value of a literal as it stands in the copy: bytes as hexadecimal digits after 0x, bits as a number.

        Digits that the servers read differently stay as they are, which no column of numbers takes.
        """
        if value is None:
            return NULL
        if self is FieldKind.BYTES:
            return b"0x" + value.hex().encode() if value else b""
        if (self is FieldKind.BITS and form is not Form.NUMBER) or (self is FieldKind.NUMBER and form is Form.DIGITS):
            return str(int.from_bytes(value, "big")).encode()
        if self is FieldKind.NUMBER and form is Form.QUOTED_DIGITS:
            return f"x'{value.hex()}'".encode()
        return escaped(value)


class Literal(NamedTuple):
    """A value, None for NULL, its form and its kind; of an expression, which has no value, the text."""

    value: bytes | None
    form: Form
    kind: FieldKind = FieldKind.PLAIN
    expression: bytes = b""


def plain_literal(token: bytes, strings: Strings) -> Literal:
    """The value of a token of a row_pattern."""
    if token[:1] == b"'":
        return Literal(text_of(token[1:-1], b"'", strings), Form.TEXT)
    return Literal(None if token == b"NULL" else token, Form.NUMBER)


def literal(found: re.Match[bytes], strings: Strings) -> Literal:
    """The value of a match of value_pattern: its bytes as the server would store them in a text.

    Hexadecimal and bit literals are bytes (Manual, "Hexadecimal Literals"), as the server reads them for a text.
    """
    if found["single"] is not None or found["double"] is not None:
        single = found["single"] is not None
        text = text_of((found["single"] or found["double"])[1:-1], b"'" if single else b'"', strings)
        is_bytes = (found["set"] or b"").lower() == b"binary"
        return Literal(text, Form.TEXT, FieldKind.BYTES if is_bytes else FieldKind.PLAIN)
    digits = found["hex"] if found["hex"] is not None else found["prefixed"]
    if digits is not None:
        form = Form.DIGITS if found["hex"] is None else Form.QUOTED_DIGITS
        return Literal(bytes.fromhex((b"0" * (len(digits) % 2) + digits).decode()), form, FieldKind.BYTES)
    bits = found["bits"] if found["bits"] is not None else found["bit_digits"]
    if bits is not None:
        return Literal(int(bits or b"0", 2).to_bytes((len(bits) + 7) // 8, "big"), Form.DIGITS, FieldKind.BITS)
    if found["word"] is not None:
        return Literal(_WORDS[found["word"].upper()], Form.NUMBER)
    return Literal(b"".join(found["number"].split()), Form.NUMBER)
