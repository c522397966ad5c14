"""Records that cannot be read safely, as faults: what a review leaves out of the load."""

from importer.engine.blocks import Block
from importer.engine.errors import RecordUnreadable
from importer.engine.faults import Fault
from importer.engine.stray import Flaw


def find_flaws(block: Block) -> list[tuple[int, Fault]]:
    """For each flaw the number of its record in the block, from 0, and what is wrong with it; in order.

    A quote that is stray or never closed, bytes that are not in the file's encoding, a record that does not end in the
    delimiter although the dialect says so. blocks() has found them already.
    """
    return [
        (flaw.record, Fault(flaw.code, flaw.what, value=flaw.around.decode(errors="backslashreplace")))
        for flaw in block.flaws
    ]


def problem(flaw: Flaw) -> RecordUnreadable:
    """What to raise where a flaw is to stop the import."""
    return RecordUnreadable(flaw.what, where=f"line {flaw.line}", advice=flaw.advice)
