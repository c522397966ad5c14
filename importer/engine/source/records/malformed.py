"""Records that cannot be read safely, as row errors and as problems."""

from importer.engine.errors import RecordUnreadable
from importer.engine.source import encodings
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.stray_quotes import (
    DOUBTFUL,
    ENCODING,
    STRAY,
    TRAILING,
    UNCLOSED,
    MalformedRecord,
)
from importer.engine.source.records.refused import REFUSALS
from importer.engine.source.records.row_error import RowError

# One reason for all records with a flaw of a kind, so that they can be counted.
REASONS = {
    STRAY: "A quote inside the field is neither doubled nor followed by a delimiter or line end.",
    UNCLOSED: "The quote that opens the field is not closed.",
    ENCODING: "There are bytes that are not in the file's encoding.",
    TRAILING: "The record does not end in the delimiter.",
    DOUBTFUL: "The line begins as a comment, and has as many fields as a record.",
    **{each.code: each.reason for each in REFUSALS.values()},
}


def find_flaws(block: Block, encoding: str) -> list[tuple[int, RowError]]:
    """The block's flaws in order: for each the number of its record in the block, from 0, and the row error.

    A quote that is stray or never closed, bytes that are not in the file's encoding, a record without the dialect's
    trailing delimiter, a comment that may be a record, a row that its format could not read. The row error's value is
    the text around the flaw.
    """
    return [(flaw.record, _row_error(flaw, encoding)) for flaw in block.flaws]


def _row_error(flaw: MalformedRecord, encoding: str) -> RowError:
    return RowError(flaw.code, REASONS[flaw.code], value=encodings.excerpt(flaw.around, encoding), field=flaw.field)


def unreadable_record(flaw: MalformedRecord, encoding: str) -> RecordUnreadable:
    """The problem to raise if the flaw is to stop the import."""
    around = encodings.excerpt(flaw.around, encoding)
    what = f"{flaw.what.removesuffix('.')}: {around!r}." if around else flaw.what
    return RecordUnreadable(what, where=f"line {flaw.line}", advice=flaw.advice)
