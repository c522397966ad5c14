"""How large the chunks are."""

from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions import network
from importer.engine.planner.reasons.replication import largest_transaction
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.units import MIB

# A chunk costs a millisecond besides its load, some 50 ms of loading a MB (server-behaviour.md, Speed).
SMALLEST_CHUNK = 1 * MIB
# Larger ones gain nothing; with 8 MiB MySQL takes 4 % longer (server-behaviour.md, Speed). Where replicas wait for each
# chunk, and its part of the binary log lies in a session's memory, that is worth it.
LARGEST_CHUNK, LARGEST_LOGGED_CHUNK = 32 * MIB, 8 * MIB
# The first ones are smaller, so that the first row is in at once and every session has something to do.
FIRST_CHUNK = 256 * 1024
# What is known of rows that do not go in lies in memory until their chunk is in: some 90 to 250 bytes a row. Where the
# first chunk with such rows ends the import, few of them need to be known.
MOST_ROWS, MOST_ROWS_IF_REJECTING = 1_000_000, 40_000
# Each session gets at least this many chunks, so that a slow one at the end does not leave the others idle.
CHUNKS_PER_SESSION = 8
# And of what is left of the data at any time so many: the last chunks are smaller, so that all sessions end together.
LAST_CHUNKS_PER_SESSION = 2


def _chunk_bytes(context: PlanningContext, parallelism: int) -> int:
    """The most bytes of a chunk."""
    return context.options.chunk_bytes or _good_bytes(context, parallelism)


def _good_bytes(context: PlanningContext, parallelism: int) -> int:
    """What loads quickest: small shares of the data, so that all sessions end together."""
    share = context.data_bytes // (parallelism * CHUNKS_PER_SESSION)
    logged = context.server.on("log_bin") or context.server.on("wsrep_on")
    largest = LARGEST_LOGGED_CHUNK if logged else LARGEST_CHUNK
    near = max(network.smallest_chunk(context), _within(share, SMALLEST_CHUNK, largest))
    good = network.largest_chunk(context, parallelism) or near
    fits = largest_transaction(context.server)
    return min(good, fits[0]) if fits else good


def asked_small(context: PlanningContext) -> bool:
    """Whether smaller transactions are asked for than are planned; so many rows of unknown size are taken for small."""
    options = context.options
    few_rows = options.commit_rows and options.commit_rows * context.record_bytes < SMALLEST_CHUNK
    few_bytes = options.chunk_bytes and options.chunk_bytes < SMALLEST_CHUNK and _each_by_itself(context)
    return bool(few_rows or few_bytes)


def transaction_bytes(context: PlanningContext, parallelism: int) -> int:
    """The most bytes of chunks that share a transaction (together.py); 0 where each has its own.

    Small chunks that are asked for go in as if they had been planned.
    """
    good = _good_bytes(context, parallelism)
    return 0 if _each_by_itself(context) or good <= _chunk_bytes(context, parallelism) else good


def _each_by_itself(context: PlanningContext) -> bool:
    """Whether a transaction is to be as small as its chunk is asked to be, or each chunk's own rows have to be known.

    Small is what is wanted where the rows of a commit are asked for, and in a cluster, all of whose nodes certify and
    apply each transaction and may limit its rows (wsrep_max_ws_rows).
    """
    options = context.options
    return bool(
        options.commit_rows
        or context.server.on("wsrep_on")
        or options.on_error == "reject"
        or options.on_duplicate != "fail"
        or options.verify == "full"
        or options.lock_table
        or context.numbers_rows
        or not context.rolls_back
    )


def chunk_rows(context: PlanningContext) -> int:
    """The most rows of a chunk."""
    return context.options.commit_rows or (
        MOST_ROWS_IF_REJECTING if context.options.on_error == "reject" else MOST_ROWS
    )


def _last_chunks(context: PlanningContext, parallelism: int) -> int:
    """How many chunks what is left of the data makes at any time; 0 for any number, where their size is asked for."""
    asked = context.options.chunk_bytes or context.options.commit_rows
    return 0 if asked or parallelism == 1 else LAST_CHUNKS_PER_SESSION * parallelism


def chunk_sizes(context: PlanningContext, parallelism: int) -> ChunkSizes:
    """How the file is cut for so many sessions."""
    return ChunkSizes(
        _chunk_bytes(context, parallelism), chunk_rows(context), FIRST_CHUNK, _last_chunks(context, parallelism)
    )


def chunks_reason(context: PlanningContext, sizes: ChunkSizes, together: int) -> Reason:
    """How many chunks there will be, and why of that size; up to `together` bytes of them share a transaction."""
    options = context.options
    size = _written(sizes.bytes)
    one = f"up to {_written(together)} of them that lie side by side are one transaction" if together else ""
    why = f"{_why_of_that_size(context)}; {one or 'each is one transaction'}"
    if options.commit_rows:
        rows = "1 row" if options.commit_rows == 1 else f"{options.commit_rows:,} rows"
        return Reason(f"Chunks of at most {rows} and {size}", why, option="commit_rows")
    number = sizes.count(context.data_bytes)
    chunks = "One chunk" if number == 1 else f"About {number:,} chunks"
    if options.on_error == "reject":
        why += f", of {MOST_ROWS_IF_REJECTING:,} rows at most"
    return Reason(f"{chunks} of at most {size}", why, option="chunk_bytes")


def _why_of_that_size(context: PlanningContext) -> str:
    if context.options.chunk_bytes or context.options.commit_rows:
        return "as asked"
    fits = largest_transaction(context.server)
    if fits and fits[0] < LARGEST_CHUNK:
        return f"small enough for {fits[1]} on the server"
    if network.largest_chunk(context, 1):
        return "small enough for the line, large enough for its round trips"
    return "small enough to share out and to repeat, large enough to be cheap"


def _written(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))
