"""Finds the lines among the records of a block that are no records: blank lines, comments and repeated headers."""

from collections.abc import Sequence

from importer.engine.source.arrays import Mask, np
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8_MARK
from importer.engine.source.records.boundary.boundaries import Ends, blank_records
from importer.engine.source.records.boundary.lines import begins_a_line
from importer.engine.source.records.fields import fields

BLANK, COMMENT, HEADER = "blank", "comment", "header"


def find_no_records(data: bytes, ends: Ends, dialect: Dialect, *, empty_line: bool = True) -> Sequence[int]:
    """The begins of the records of data[:ends.size] that are none for the dialect, ascending.

    A comment that may be a record is one, with a flaw (blocks.py): it begins as the comments of the sample do, and has
    as many fields as a record, which none of these has.
    `empty_line`: there may be a blank line.
    """
    blank = blank_records(data, ends, dialect) if empty_line and dialect.blank_lines == "skip" else ()
    texts = [text for text in _begins(dialect) if text and begins_a_line(data, text)]
    if not texts or not ends.size:
        return blank
    lasts = ends.as_array().tolist()
    starts, found = [0, *lasts[:-1]], set(blank)
    for text in texts:
        begin = _begin_with(data, starts, text).nonzero()[0].tolist()
        found.update(starts[at] for at in begin if _is_none(data[starts[at] : lasts[at]], dialect))
    return sorted(found)


def kind_of(data: bytes, at: int, dialect: Dialect) -> str:
    """The kind of the line at data[at], which is no record."""
    if dialect.comment and data.startswith(dialect.comment_bytes, at):
        return COMMENT
    for header in filter(None, _headers(dialect)):
        if data.startswith(header, at) and data[at + len(header) : at + len(header) + 1] in (b"", b"\r", b"\n"):
            return HEADER
    return BLANK


def _begins(dialect: Dialect) -> tuple[bytes, ...]:
    return (dialect.comment_bytes, *_headers(dialect))


def _headers(dialect: Dialect) -> tuple[bytes, ...]:
    """The header that may come again; behind a byte order mark, too, where files were joined."""
    header = dialect.repeated_bytes
    return (header, UTF8_MARK + header) if header else ()


def _is_none(line: bytes, dialect: Dialect) -> bool:
    kind = kind_of(line, 0, dialect)
    return kind == HEADER or (kind == COMMENT and not _may_be_record(line, dialect))


def _may_be_record(comment: bytes, dialect: Dialect) -> bool:
    """Whether a line that begins as a comment has as many fields as a record, which no comment of the sample had."""
    return "comment" in dialect.sampled and dialect.width > 1 and len(fields(comment, dialect)) == dialect.width


def _begin_with(data: bytes, starts: Sequence[int], text: bytes) -> Mask:
    view, at = np.frombuffer(data, np.uint8), np.asarray(starts, np.int64)
    begins = at + len(text) <= len(view)
    for index, byte in enumerate(text):
        begins &= view[np.minimum(at + index, len(view) - 1)] == byte
    return begins
