"""Decides the size of the chunks and of the transactions that they share."""

from importer.engine.mysql.servers.kinds import SAFEST_CHUNK
from importer.engine.plan.option_specs import CREATE
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions import network
from importer.engine.planner.decisions.server_file import whole_file, whole_file_reason
from importer.engine.planner.reasons.replication import largest_transaction
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.units import MIB, count_of, human_bytes

# A chunk costs a millisecond in addition to its load, which takes some 50 ms a MB (server-behaviour.md, Speed).
SMALLEST_CHUNK = 1 * MIB
# Larger chunks gain nothing; with 8 MiB MySQL takes 4 % longer (server-behaviour.md, Speed). With a binary log that is
# worth it: replicas wait for each chunk, and its events are held in the session's memory.
LARGEST_CHUNK, LARGEST_LOGGED_CHUNK = 32 * MIB, 8 * MIB
# The first chunks are smaller, so that the first rows are visible at once and every session has work.
FIRST_CHUNK = 256 * 1024
# Rejected rows are recorded in memory until their chunk commits: some 90 to 250 bytes a row. Where the first chunk with
# rejected rows ends the import, only a few rows are recorded.
MOST_ROWS, MOST_ROWS_IF_REJECTING = 1_000_000, 40_000
# Each session gets at least this many chunks, so that one slow chunk at the end does not leave the others idle.
CHUNKS_PER_SESSION = 8
# The rest of the data makes at least this many chunks for each session: the last ones are smaller, so that all sessions
# end at the same time.
LAST_CHUNKS_PER_SESSION = 2


def _chunk_bytes(context: PlanningContext, parallelism: int) -> int:
    """The most bytes of a chunk."""
    return context.options.chunk_bytes or _fastest_bytes(context, parallelism)


def _fastest_bytes(context: PlanningContext, parallelism: int) -> int:
    """The size that loads fastest, in bytes: small shares of the data, so that all sessions end at the same time."""
    share = context.data_bytes // (parallelism * CHUNKS_PER_SESSION)
    logged = context.server.on("log_bin") or context.server.cluster
    largest = LARGEST_LOGGED_CHUNK if logged else LARGEST_CHUNK
    near = max(network.smallest_chunk(context), _within(share, SMALLEST_CHUNK, largest))
    good = SAFEST_CHUNK if context.server.careful else network.largest_chunk(context, parallelism) or near
    fits = largest_transaction(context.server)
    return min(good, fits[0]) if fits else good


def requests_small_transactions(context: PlanningContext) -> bool:
    """Whether the options request smaller transactions than planned. Rows of unknown size count as small."""
    options = context.options
    few_rows = options.commit_rows and options.commit_rows * context.record_bytes < SMALLEST_CHUNK
    few_bytes = options.chunk_bytes and options.chunk_bytes < SMALLEST_CHUNK and _own_transactions(context)
    return bool(few_rows or few_bytes)


def transaction_bytes(context: PlanningContext, parallelism: int) -> int:
    """The most bytes of chunks that share a transaction (load/shared_transaction.py); 0 if each has its own.

    Requested small chunks share transactions of the size that would have been planned.
    """
    good = _fastest_bytes(context, parallelism)
    return 0 if _own_transactions(context) or good <= _chunk_bytes(context, parallelism) else good


def _own_transactions(context: PlanningContext) -> bool:
    """Whether each chunk needs a transaction of its own: to keep transactions small, or to know the chunk's rows.

    Small transactions are needed if `commit_rows` is requested, and in a Galera cluster: every node certifies and
    applies each transaction, and may limit its rows (wsrep_max_ws_rows).
    """
    options = context.options
    return bool(
        options.commit_rows
        or context.server_file
        or context.server.cluster
        or context.server.careful
        or options.on_error == "reject"
        or options.on_clash != "fail"
        or options.verify == "full"
        or options.lock_table
        or options.lookup_missing == CREATE
        or context.numbers_rows
        or not context.rolls_back
    )


def chunk_rows(context: PlanningContext) -> int:
    """The most rows of a chunk."""
    return context.options.commit_rows or (
        MOST_ROWS_IF_REJECTING if context.options.on_error == "reject" else MOST_ROWS
    )


def _last_chunks(context: PlanningContext, parallelism: int) -> int:
    """The fewest chunks that the rest of the data makes at any time; 0 for no limit, if the size is requested."""
    size_requested = context.options.chunk_bytes or context.options.commit_rows
    return 0 if size_requested or parallelism == 1 else LAST_CHUNKS_PER_SESSION * parallelism


def chunk_sizes(context: PlanningContext, parallelism: int) -> ChunkSizes:
    """The sizes of the chunks for `parallelism` sessions."""
    return whole_file(context) or ChunkSizes(
        _chunk_bytes(context, parallelism), chunk_rows(context), FIRST_CHUNK, _last_chunks(context, parallelism)
    )


def is_one_chunk(context: PlanningContext, sizes: ChunkSizes) -> bool:
    """Whether one chunk takes the whole file."""
    return not context.options.commit_rows and context.data_bytes <= (sizes.first_bytes or sizes.bytes)


def chunks_reason(context: PlanningContext, sizes: ChunkSizes, together: int) -> Reason:
    """The number of chunks and the reason for their size. Up to `together` bytes of chunks share a transaction."""
    if context.server_file:
        return whole_file_reason(context)
    options = context.options
    size = human_bytes(sizes.bytes)
    number = sizes.count(context.data_bytes)
    one = "the chunk is one transaction" if number == 1 and not options.commit_rows else "each is one transaction"
    if together and number > 1:
        one = f"up to {human_bytes(together)} of them that follow each other are one transaction"
    why = f"{_why_of_that_size(context, number)}; {one}"
    if options.commit_rows:
        rows = count_of(options.commit_rows, "row")
        return Reason(f"Chunks of at most {rows} and {size}", why, option="commit_rows")
    chunks = "One chunk" if number == 1 else f"About {number:,} chunks"
    if options.on_error == "reject":
        why += f", of {MOST_ROWS_IF_REJECTING:,} rows at most"
    return Reason(f"{chunks} of at most {size}", why, option="chunk_bytes")


def _why_of_that_size(context: PlanningContext, number: int) -> str:
    if context.options.chunk_bytes or context.options.commit_rows:
        return "as requested"
    if context.server.careful:
        return f"imports on {context.server.flavour} take the safe path"
    if number == 1:
        return "the file is no larger"
    fits = largest_transaction(context.server)
    if fits and fits[0] < LARGEST_CHUNK:
        return f"they are small enough for {fits[1]} on the server"
    if network.largest_chunk(context, 1):
        return "they are small enough for the line, large enough for its round trips"
    return "they are small enough to share out and to repeat, large enough to be cheap"


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))
