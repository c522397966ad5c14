"""Checks each record of a suspect chunk before any is sent, and finds those that the table would not store as sent."""

import dataclasses
from collections import Counter
from collections.abc import Callable
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
    """The first error of each bad record, by its number in the chunk (from 0), in ascending order.

    `notices` count values that will lose something without a word from the server, `noted` those for which it will
    count a Note; both by RowError without a value. `blank_lines`: the chunk has lines that are not rows.
    """

    row_errors: dict[int, RowError] = field(default_factory=dict)
    notices: Counter[RowError] = field(default_factory=Counter)
    noted: Counter[RowError] = field(default_factory=Counter)
    blank_lines: bool = False


def prescreen(
    source: ChunkSource,
    exactness: ValidationRules | None,
    *,
    enough: int | None = None,
    unreadable: Callable[[Block], list[tuple[int, RowError]]] | None = None,
) -> Prescreen:
    """Find everything wrong with the chunk's records that can be found without the server.

    Stops after the block in which the number of bad records reaches `enough`, if given. `unreadable` finds further
    errors in a block.
    """
    fd, chunk, dialect = source.fd, source.chunk, source.dialect
    result = Prescreen()
    number = 0
    for block in blocks(fd, dialect, chunk.offset, chunk.first_line, chunk.offset + chunk.length):
        errors = _of_rows(find_flaws(block, dialect.encoding), block)
        if exactness and block.rows(0, block.size):
            # Values are checked without the lines that are no records: a comment with a quote would hide a record.
            checked = block.only_rows() if dialect.leaves_lines_out else block
            if exactness.suspicious(checked):
                findings = exactness.examine(_with_data(fd, checked))
                errors += _of_rows(findings.faults, checked)
                result.notices.update(findings.notices)
                result.noted.update(findings.noted)
            errors += _of_rows(unreadable(_with_data(fd, checked)), checked) if unreadable else []
        # Sorting is stable: errors of the record's syntax come before those of its values, which they explain.
        for row, error in sorted(errors, key=itemgetter(0)):
            result.row_errors.setdefault(number + row, error)
        result.blank_lines |= bool(block.blank)
        number += block.rows(0, block.size)
        if enough and len(result.row_errors) >= enough:
            break
    return result


def _of_rows(errors: list[tuple[int, RowError]], block: Block) -> list[tuple[int, RowError]]:
    """The errors of records, with the numbers of their rows in the block; without those of lines that are no rows."""
    if not errors:
        return []
    rows = block.row_numbers()
    return [(int(rows[record]), error) for record, error in errors if rows[record] >= 0]


def _with_data(fd: Readable, block: Block) -> Block:
    """The block with its bytes, which blocks() does not keep for a record larger than a block."""
    return block if block.data else dataclasses.replace(block, data=read_exactly(fd, block.size, block.offset))
