"""Rewrites a rejected record with corrected values, in the dialect of its file.

The bytes of a field that nobody has changed stay as they are: its text may show bytes that are no characters, and NULL.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.errors import Problem
from importer.engine.source import encodings
from importer.engine.source.chunks.joined import line_end_of
from importer.engine.source.dialect import ANY_LINE_END, LINE_ENDS, Dialect
from importer.engine.source.records.boundary.patterns import field_patterns
from importer.engine.source.records.fields import fields, records

# How a value is written where a backslash escapes every character (LOAD DATA, fields.py).
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\0": r"\0", "\x1a": r"\Z"}


@dataclass(frozen=True)
class RejectedCell:
    """A field of a rejected record: its bytes in the record and its text. `sound`: no quote is out of place in it."""

    raw: bytes
    text: str
    sound: bool = True


def cells(record: bytes, dialect: Dialect) -> list[RejectedCell]:
    """The fields of one record of the plain file."""
    return _cells_and_end(record, dialect)[0]


def fixed_record(record: bytes, dialect: Dialect, texts: Sequence[str], width: int) -> bytes:
    """The record with these texts as the values of its fields.

    A record with another number of fields than `width` gets that number; more only while those beyond are not empty.
    Raises Problem for a text that the dialect or the encoding cannot express.
    """
    before, end = _cells_and_end(record, dialect)
    texts = _fitted(texts, width) if len(before) != width else texts
    kept = [at < len(before) and before[at].sound and before[at].text == text for at, text in enumerate(texts)]
    written = [before[at].raw if kept[at] else _field(text, dialect, first=at == 0) for at, text in enumerate(texts)]
    joined = dialect.delimiter_bytes.join(written)
    if not joined and dialect.quote:
        joined = dialect.quote.encode() * 2
    result = joined + (end or line_end_of(dialect).encode())
    _check(result, dialect, [None if unchanged else text for unchanged, text in zip(kept, texts, strict=True)])
    return result


def _cells_and_end(record: bytes, dialect: Dialect) -> tuple[list[RejectedCell], bytes]:
    """The fields, and the bytes behind the last one: the line end, after an additional delimiter where there is one."""
    spans = _spans(record, dialect)
    if dialect.trailing_delimiter and len(spans) > 1 and spans[-1][0] == spans[-1][1]:
        spans.pop()
    encoding = dialect.plain.encoding
    shown = (encodings.readable_text(value, encoding) for value in fields(record, dialect))
    found = [RejectedCell(record[low:high], text, sound) for (low, high, sound), text in zip(spans, shown, strict=True)]
    return found, record[spans[-1][1] :]


def _spans(record: bytes, dialect: Dialect) -> list[tuple[int, int, bool]]:
    """Begin and end of each field in the record, and whether its quotes are where they belong."""
    delimiter, position, spans = dialect.delimiter_bytes, 0, []
    if not any(mark in record for mark in dialect.marks):
        for raw in _without_end(record, dialect).split(delimiter):
            spans.append((position, position + len(raw), True))
            position += len(raw) + len(delimiter)
        return spans
    patterns = field_patterns(dialect)
    while True:
        field = patterns.field.match(record, position)
        assert field is not None, "an unenclosed field can be empty, so there is always one"
        spans.append((position, field.end(), field.lastgroup not in ("unclosed", "rest")))
        position = field.end()
        if not record.startswith(delimiter, position):
            return spans
        position += len(delimiter)


def _without_end(record: bytes, dialect: Dialect) -> bytes:
    ends = (b"\r\n", b"\n", b"\r") if dialect.line_end == ANY_LINE_END else (dialect.line_end.encode(),)
    return next((record.removesuffix(end) for end in ends if record.endswith(end)), record)


def _fitted(texts: Sequence[str], width: int) -> list[str]:
    fitted = [*texts, *[""] * (width - len(texts))]
    while len(fitted) > width and not fitted[-1]:
        fitted.pop()
    return fitted


def _field(text: str, dialect: Dialect, *, first: bool) -> bytes:
    """A text as a field. What it cannot express is found by reading the record again (_check)."""
    encoding = dialect.plain.encoding
    try:
        text.encode(dialect.encoding)
        return _quoted(text, dialect, first=first).encode(encoding)
    except UnicodeEncodeError as error:
        wrong = text[error.start : error.start + 1]
        raise Problem(
            f"{dialect.encoding}, the encoding of the file, does not have the character “{wrong}”.",
            advice="Use another one, or download the reject file, and save it in UTF-8.",
        ) from error


def _quoted(text: str, dialect: Dialect, *, first: bool) -> str:
    if dialect.escapes_all:
        if text == dialect.null:
            return text
        marks = {dialect.delimiter[:1], dialect.quote, "\\"} - {""}
        return "".join(_ESCAPES.get(each) or (f"\\{each}" if each in marks else each) for each in text)
    quote = dialect.quote
    begins_comment = first and bool(dialect.comment) and text.startswith(dialect.comment)
    in_quotes = (quote, dialect.delimiter, "\n", "\r")
    if quote and (begins_comment or text != text.strip() or any(mark in text for mark in in_quotes)):
        return f"{quote}{text.replace(quote, quote * 2)}{quote}"
    return text


def _check(record: bytes, dialect: Dialect, changed: Sequence[str | None]) -> None:
    """Raise Problem unless the record is read as one record with the changed texts in it; None: not changed."""
    found = fields(record, dialect)
    encoding = dialect.plain.encoding
    right = len(found) == len(changed) and all(
        text is None or value == text.encode(encoding) for value, text in zip(found, changed, strict=True)
    )
    one = len(list(records(record, dialect))) == 1
    comment = bool(dialect.comment_bytes) and record.startswith(dialect.comment_bytes)
    blank = dialect.blank_lines == "skip" and record in {end.encode() for end in LINE_ENDS.values()}
    if not right or not one or comment or blank:
        raise Problem(
            "The format of the file cannot express this value: its delimiter, quote or line end is in it.",
            advice="Leave these characters out.",
        )
