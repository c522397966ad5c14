"""Look at each record of a suspect chunk before any is sent: which would not go in as it is, and why."""

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from operator import itemgetter

from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.source.byte_source import Readable
from importer.engine.source.records.blocks import Block, blocks, read_exactly
from importer.engine.source.records.malformed import find_flaws
from importer.engine.source.records.row_error import RowError
from importer.engine.validation import ValidationRules


@dataclass
class Prescreen:
    """What was found: the first fault of each record, by its number in the chunk (from 0), in order.

    `notices` count values that lose something of which the server says nothing, `noted` those for which it says a
    Note, each by Fault without a value. With `blank_lines` there are lines in the chunk that are no rows.
    """

    row_errors: dict[int, RowError] = field(default_factory=dict)
    notices: Counter[RowError] = field(default_factory=Counter)
    noted: Counter[RowError] = field(default_factory=Counter)
    blank_lines: bool = False


def prescreen(source: ChunkSource, exactness: ValidationRules | None, *, enough: int | None = None) -> Prescreen:
    """Everything that is wrong with the chunk's records, as far as it can be known without the server.

    With `enough` faults it looks no further.
    """
    fd, chunk, dialect = source.fd, source.chunk, source.dialect
    found = Prescreen()
    number = 0
    for block in blocks(fd, dialect, chunk.offset, chunk.first_line, chunk.offset + chunk.length):
        faults = find_flaws(block, dialect.encoding)
        if exactness and exactness.suspicious(block):
            examination = exactness.examine(_with_data(fd, block))
            faults += examination.faults
            found.notices.update(examination.notices)
            found.noted.update(examination.noted)
        if faults:
            rows = block.row_numbers()
            # What is wrong with how a record is written explains what is wrong with its values.
            for record, fault in sorted(faults, key=itemgetter(0)):
                if rows[record] >= 0:
                    found.row_errors.setdefault(number + int(rows[record]), fault)
        found.blank_lines |= bool(block.blank)
        number += block.rows(0, block.size)
        if enough and len(found.row_errors) >= enough:
            break
    return found


def _with_data(fd: Readable, block: Block) -> Block:
    """The block with its bytes, which the scan does not keep for a record larger than a block."""
    return block if block.data else dataclasses.replace(block, data=read_exactly(fd, block.size, block.offset))
