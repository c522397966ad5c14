"""Writes records in which a backslash escapes quotes only (Dialect.escape) as RFC 4180 has them: quotes are doubled."""

import re
from dataclasses import replace
from functools import lru_cache

from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, Block
from importer.engine.source.records.boundary.boundaries import find_ends, quotes_are_regular
from importer.engine.source.records.boundary.patterns import any_number_of
from importer.engine.source.records.boundary.state_machine import one_of


def with_doubled_quotes(data: bytes, dialect: Dialect) -> bytes:
    """The whole records `data`, which must be sound and must have no comments, in the dialect `unescaped`.

    The dialect must escape quotes only, and its delimiter must be one byte.
    """
    if not dialect.escapes_in(data):
        return data
    if (simply := _all_doubled(data, dialect)) is not None:
        return simply
    escaped, mark, doubled = dialect.escape_bytes + dialect.quote.encode(), *_escaped_quote(dialect)
    return _enclosed(dialect).sub(lambda field: mark.sub(doubled, field[0]) if escaped in field[0] else field[0], data)


def _all_doubled(data: bytes, dialect: Dialect) -> bytes | None:
    """The data with every quote doubled that comes after a backslash; None if that may not be right.

    It is right if each such quote is in an enclosed field. A doubled quote in another field would not be at a border of
    a field, unless the field begins with it.
    """
    escape, quote = dialect.escape_bytes, dialect.quote.encode()
    pair, at_begin = (
        escape * 2 + quote,
        tuple(each + escape + quote for each in (dialect.delimiter_bytes, b"\n", b"\r")),
    )
    if dialect.line_end == "\r" or any(each in data for each in (pair, *at_begin)) or data.startswith(escape + quote):
        return None
    doubled = data.replace(escape + quote, (escape if dialect.escape == "php" else b"") + quote * 2)
    return doubled if quotes_are_regular(doubled, dialect.unescaped) else None


def unescaped_block(block: Block, dialect: Dialect) -> Block | None:
    """The block's records in the dialect `unescaped`; None if the dialect does not escape quotes only, or for a block
    that cannot be written so all at once.
    """
    known = dialect.escapes_quotes_only and len(dialect.delimiter_bytes) == 1 and not dialect.leaves_lines_out
    if not known or not block.data or block.flaws or block.size > BLOCK_BYTES:
        return None
    whole = block.data[: block.size]
    if not dialect.escapes_in(whole):
        return block
    data = with_doubled_quotes(whole, dialect)
    ends = find_ends(data, dialect.unescaped, final=True)
    if ends.flaws or ends.size < len(data) or ends.count(0, ends.size) != block.ends.count(0, block.size):
        return None
    return replace(block, data=data, size=len(data), ends=ends, blank=())


@lru_cache
def _enclosed(dialect: Dialect) -> re.Pattern[bytes]:
    """A pattern for an enclosed field. It must be tried from a record's begin on."""
    quote, escape = re.escape(dialect.quote.encode()), re.escape(dialect.escape_bytes)
    ends = b"\r\n" if dialect.line_end == ANY_LINE_END else dialect.line_end[-1:].encode()
    before = one_of(dialect.delimiter_bytes, ends)
    inside = any_number_of(rb"[^%b%b]" % (quote, escape), quote * 2, escape + b".?+")
    return re.compile(rb"(?:\A|(?<=%b))%b%b%b" % (before, quote, inside, quote), re.DOTALL)


@lru_cache
def _escaped_quote(dialect: Dialect) -> tuple[re.Pattern[bytes], bytes]:
    """A pattern for an escaped quote, or a pair of backslashes, within an enclosed field; what takes its place."""
    quote, escape = re.escape(dialect.quote.encode()), re.escape(dialect.escape_bytes)
    if dialect.escape == "quote":
        return re.compile(rb"(%b%b)|%b(%b)" % (escape, escape, escape, quote)), rb"\1\2\2"
    return re.compile(rb"(%b(?:%b|(%b)))" % (escape, escape, quote)), rb"\1\2"
