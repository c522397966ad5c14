"""Reads the values of a large record in pieces, without a second copy of any value in memory."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.patterns import FieldPatterns, field_patterns
from importer.engine.source.records.fields import decode_special
from importer.engine.units import MIB

# Bytes; a record above this size should not be in memory several times.
OVERSIZED_BYTES = MIB
PIECE = 64 * 1024


@dataclass(frozen=True)
class LargeValue:
    """One value of `record`: the bytes `lead`, then those at `spans` (begin, end, kind as in FieldPatterns)."""

    record: bytes
    spans: tuple[tuple[int, int, str], ...]
    patterns: FieldPatterns
    lead: bytes = b""

    @property
    def size(self) -> int:
        """The value's size in bytes in the record; decoded, it has as many bytes or fewer."""
        return len(self.lead) + sum(high - low for low, high, _ in self.spans)

    def is_bare(self, word: bytes) -> bool:
        """Whether the field is exactly this word, without quotes."""
        (low, high, kind), *more = self.spans
        return kind == "plain" and not more and high - low == len(word) and self.record[low:high] == word

    @property
    def has_doubled_quote(self) -> bool:
        """Whether a quote is doubled within the field's quotes."""
        specials = (
            special.lastgroup
            for low, high, kind in self.spans
            if kind == "enclosed"
            for special in self.patterns.special.finditer(self.record, low, high)
        )
        return "doubled" in specials

    def pieces(self) -> Iterator[bytes]:
        """The value as fields.values() has it, in pieces of about PIECE bytes."""
        together, size = [self.lead], 0
        for part in self._parts():
            together.append(part)
            size += len(part)
            if size >= PIECE:
                yield b"".join(together)
                together, size = [], 0
        yield b"".join(together)

    def whole(self) -> bytes:
        """The value in one piece."""
        return b"".join(self.pieces())

    def head(self, size: int) -> bytes:
        """The value's first `size` bytes; all of it if it is shorter."""
        return b"".join(islice(self.pieces(), size // PIECE + 1))[:size]

    def texts(self, encoding: str) -> Iterator[str]:
        """The value as text, in pieces; bytes that are invalid in the encoding become \\xE9."""
        decode = codecs.getincrementaldecoder(encoding)("backslashreplace").decode
        for piece in self.pieces():
            yield decode(piece)
        yield decode(b"", True)

    def _parts(self) -> Iterator[bytes]:
        for low, high, kind in self.spans:
            at = low
            for special in self.patterns.special.finditer(self.record, low, high):
                yield from self._cut(at, special.start())
                yield decode_special(special, kind)
                at = special.end()
            yield from self._cut(at, high)

    def _cut(self, low: int, high: int) -> Iterator[bytes]:
        for at in range(low, high, PIECE):
            yield self.record[at : min(at + PIECE, high)]


def large_values(record: bytes, dialect: Dialect) -> Iterator[LargeValue | None]:
    """The values of one record, with or without its line end, as fields.values() has them; None for NULL."""
    patterns, delimiter = field_patterns(dialect), dialect.delimiter_bytes
    position, first = 0, True
    while True:
        field = patterns.field.match(record, position)
        assert field is not None, "an unenclosed field can be empty, so there is always one"
        position = field.end()
        empty, last = field.start() == position, not record.startswith(delimiter, position)
        if empty and last and dialect.trailing_delimiter and not first:
            return
        kind = field.lastgroup or "plain"
        kinds = ("opened", "rest") if kind == "rest" else (kind,)
        spans = tuple((*field.span(each), each) for each in kinds)
        lead = dialect.quote.encode() if kind == "unclosed" else b""
        value = LargeValue(record, spans, patterns, lead)
        low, high = field.span(kind)
        escaped_null = dialect.escapes_all and kind != "rest" and high - low == 2 and record[low:high] == rb"\N"
        yield None if escaped_null or (empty and dialect.unquoted_empty_is_null) else value
        if last:
            return
        position, first = position + len(delimiter), False


def shown_values(record: bytes, dialect: Dialect, count: int, size: int) -> tuple[list[bytes], int]:
    """The first `count` values of a record, cut to `size` bytes each, and the number of all its values.

    NULL is shown as `\\N`.
    """
    shown, number = [], 0
    for number, value in enumerate(large_values(record, dialect), start=1):
        if number <= count:
            shown.append(rb"\N" if value is None else value.head(size))
    return shown, number
