"""Groups small adjacent chunks, to load them by one statement in one transaction.

Each chunk has its own ledger row and is counted and claimed by itself. If any row is bad, the transaction is rolled
back and each chunk is loaded by itself, which finds the bad rows.
"""

from collections.abc import Iterable, Sequence

from importer.engine.load.outcome import Outcome, Tally
from importer.engine.plan.plan import ImportPlan
from importer.engine.source.chunks.scanner import ChunkRange


def group_size(plan: ImportPlan, chunks: Iterable[ChunkRange]) -> int:
    """How many of the chunks, in the file's order, may share the first one's transaction, the first one included.

    No transaction has more bytes than the part of the file before it, so that the first rows are committed early. Where
    rows get the file's name or their line, it has rows of one file only, of several that are read as one.
    """
    size, first, previous = 0, None, None
    by_file = not {"file", "line"}.isdisjoint(plan.sources)
    for chunk in chunks:
        first = first or chunk
        max_bytes = min(plan.transaction_bytes, max(plan.first_chunk_bytes, first.offset))
        adjacent = previous is None or chunk.offset == previous.end
        apart = by_file and chunk.file != first.file
        large = chunk.end - first.offset > max_bytes
        if size and (chunk.suspect or first.suspect or not adjacent or apart or large):
            break
        size, previous = size + 1, chunk
    return size


def merge_ranges(chunks: Sequence[ChunkRange]) -> ChunkRange:
    """One range for adjacent chunks, in the file's order; `parts` keeps the length of each."""
    first = chunks[0]
    return ChunkRange(
        first.number,
        first.offset,
        sum(each.length for each in chunks),
        sum(each.rows for each in chunks),
        first.first_line,
        "".join(each.digest for each in chunks),
        null_word=any(each.null_word for each in chunks),
        null_marker=any(each.null_marker for each in chunks),
        first_row=first.first_row,
        file=first.file,
        ascii=all(each.ascii for each in chunks),
        parts=tuple(each.length for each in chunks),
    )


def split_outcome(chunks: Sequence[ChunkRange], timings: dict[str, float]) -> list[Outcome]:
    """The outcome of each chunk: all of its rows loaded, and its share of the seconds, by bytes."""
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
