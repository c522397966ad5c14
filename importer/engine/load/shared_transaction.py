"""Chunks that go in together: small ones that lie side by side, in one transaction and by one statement.

Each has its own ledger row, and is counted and claimed by itself. Where anything about their rows is the matter, the
transaction is rolled back and each is loaded by itself, which finds out what it is.
"""

from collections.abc import Iterable, Sequence

from importer.engine.load.outcome import Outcome, Tally
from importer.engine.plan.plan import ImportPlan
from importer.engine.source.chunks.scanner import ChunkRange


def group_size(plan: ImportPlan, chunks: Iterable[ChunkRange]) -> int:
    """How many of the chunks, which are in the file's order, may share the first one's transaction; that one included.

    None is larger than what lies before it in the file, so that the first rows are in soon.
    """
    found, first, before = 0, None, None
    for chunk in chunks:
        first = first or chunk
        most = min(plan.transaction_bytes, max(plan.first_chunk_bytes, first.offset))
        beside = before is None or chunk.offset == before.end
        if found and (chunk.suspect or first.suspect or not beside or chunk.end - first.offset > most):
            break
        found, before = found + 1, chunk
    return found


def merge_ranges(chunks: Sequence[ChunkRange]) -> ChunkRange:
    """Chunks side by side as one."""
    first = chunks[0]
    return ChunkRange(
        first.number,
        first.offset,
        sum(each.length for each in chunks),
        sum(each.rows for each in chunks),
        first.first_line,
        "".join(each.digest for each in chunks),
        null_word=any(each.null_word for each in chunks),
        first_row=first.first_row,
        ascii=all(each.ascii for each in chunks),
        parts=tuple(each.length for each in chunks),
    )


def split_outcome(chunks: Sequence[ChunkRange], timings: dict[str, float]) -> list[Outcome]:
    """Of each, all its rows loaded, and a share of the seconds by its bytes."""
    length = sum(each.length for each in chunks)
    return [
        Outcome(
            each.rows,
            False,
            {phase: round(seconds * each.length / length, 6) for phase, seconds in timings.items()},
            Tally(loaded=each.rows),
        )
        for each in chunks
    ]
