"""Texts that a spreadsheet would run as formulas, and copies of records without any (OWASP, CSV Injection)."""

import codecs
import re
from collections.abc import Iterable, Iterator

from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.fields import values
from importer.engine.source.records.record_stream import whole_records

# Also the full-width forms, which some spreadsheets read like the others.
_SIGNS = "=+\\-@＝＋－＠"  # noqa: RUF001
_BEGINS_FORMULA = re.compile(f"[{_SIGNS}\t\r\n]")
# Programs that take another delimiter, quote or line end for granted begin a cell behind these.
_CELL_BEGINS = re.compile(f'^(?=[{_SIGNS}\t\r\n])|(?<=[,;|"\t\r\n])(?=[{_SIGNS}])')
_PLAIN_NUMBER = re.compile(r"[+-](?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
QUOTE = '"'


def escape_formulas(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would run it as a formula.

    Texts that begin with = + - @ or a control character are run. Plain numbers are not changed: -5 or +3.2 is no
    formula.
    """
    return f"'{text}" if _BEGINS_FORMULA.match(text) and not _PLAIN_NUMBER.fullmatch(text) else text


def defused(text: str) -> str:
    """The text with an apostrophe before each place that may become the begin of a formula, also in another dialect."""
    return text if _PLAIN_NUMBER.fullmatch(text) else _CELL_BEGINS.sub("'", text)


def defused_csv(pieces: Iterable[bytes], dialect: Dialect, delimiter: str = ",") -> Iterator[bytes]:
    """The records in pieces of a plain file as CSV for spreadsheets: RFC 4180 in UTF-8 with a BOM, every value quoted.

    `delimiter`: what the spreadsheet expects; with a decimal comma in numbers that is the semicolon.
    NULL becomes an empty value. Bytes that are no characters are shown as \\xE9.
    """
    yield codecs.BOM_UTF8
    for data, ends in whole_records(_without_mark(pieces), dialect):
        low, lines = 0, []
        for high in ends.as_array().tolist():
            lines.append(_line(data[low:high], dialect, delimiter))
            low = high
        yield "".join(lines).encode()


def _without_mark(pieces: Iterable[bytes]) -> Iterator[bytes]:
    first = True
    for piece in filter(None, pieces):
        yield piece.removeprefix(codecs.BOM_UTF8) if first else piece
        first = False


def _line(record: bytes, dialect: Dialect, delimiter: str) -> str:
    texts = (encodings.readable_text(value or b"", dialect.encoding) for value in values(record, dialect))
    return delimiter.join(f'"{defused(text).replace(QUOTE, QUOTE * 2)}"' for text in texts) + "\r\n"
