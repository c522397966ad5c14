"""Records that cannot be read safely, as faults: what a review leaves out of the load."""

from importer.engine.errors import RecordUnreadable
from importer.engine.source import encodings
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.stray_quotes import ENCODING, STRAY, TRAILING, UNCLOSED, MalformedRecord
from importer.engine.source.records.row_error import RowError

# The same for all records with that flaw, so that they can be counted.
REASONS = {
    STRAY: "A quote inside the field is neither doubled nor followed by a delimiter or line end.",
    UNCLOSED: "The quote that opens the field is not closed.",
    ENCODING: "There are bytes that are not in the file's encoding.",
    TRAILING: "The record does not end in the delimiter.",
}


def find_flaws(block: Block, encoding: str) -> list[tuple[int, RowError]]:
    """For each flaw the number of its record in the block, from 0, and what is wrong with it; in order.

    A quote that is stray or never closed, bytes that are not in the file's encoding, a record that does not end in the
    delimiter although the dialect says so. blocks() has found them already. The value is what stands at the place.
    """
    return [(flaw.record, _fault(flaw, encoding)) for flaw in block.flaws]


def _fault(flaw: MalformedRecord, encoding: str) -> RowError:
    return RowError(flaw.code, REASONS[flaw.code], value=encodings.excerpt(flaw.around, encoding), field=flaw.field)


def unreadable_record(flaw: MalformedRecord, encoding: str) -> RecordUnreadable:
    """What to raise where a flaw is to stop the import."""
    around = encodings.excerpt(flaw.around, encoding)
    what = f"{flaw.what.removesuffix('.')}: {around!r}." if around else flaw.what
    return RecordUnreadable(what, where=f"line {flaw.line}", advice=flaw.advice)
