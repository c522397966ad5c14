"""How large the chunks are, and how many load at once."""

from importer.engine.options import MOST_PARALLELISM
from importer.engine.plan import Reason
from importer.engine.planner import network
from importer.engine.planner.case import Case
from importer.engine.sizes import MIB

# A chunk costs about 15 ms of processor time besides its load: a sixth of what 2 MB take.
SMALLEST_CHUNK = 16 * MIB
LARGEST_CHUNK = 32 * MIB
# Each session gets at least this many chunks, so that a slow one at the end does not leave the others idle.
CHUNKS_PER_SESSION = 4
# Chunks end with a record, before their full size: without this the file's last one would be a crumb.
SLACK = 16 * 1024


def parallelism(case: Case) -> int:
    """How many chunks load at once."""
    if case.options.ordered or case.options.lock_table:
        return 1
    return _within(case.options.parallelism or _best_parallelism(case), 1, MOST_PARALLELISM)


def _best_parallelism(case: Case) -> int:
    if case.data_bytes <= (case.options.chunk_bytes or SMALLEST_CHUNK):
        return 1
    return case.server.cores if case.server.local else network.sessions(case.distance)


def chunk_bytes(case: Case, parallelism: int) -> int:
    """The most bytes of a chunk: equal shares of the data, as many for each session, so that all end together."""
    if case.options.chunk_bytes:
        return case.options.chunk_bytes
    data_bytes = case.data_bytes
    about = network.largest_chunk(case, parallelism) or _within(
        data_bytes // (parallelism * CHUNKS_PER_SESSION), SMALLEST_CHUNK, LARGEST_CHUNK
    )
    count = _rounded_up(data_bytes, about * parallelism) * parallelism if data_bytes > about else 1
    return _rounded_up(data_bytes, count) + SLACK


def parallelism_reason(case: Case, parallelism: int) -> Reason:
    """Why so many."""
    options, server = case.options, case.server
    if options.ordered:
        kept = "first" if options.on_duplicate == "skip" else "last"
        return Reason(
            "One chunk after another", f"of rows with one key, the {kept} in the file stays", True, "parallelism"
        )
    if options.lock_table:
        return Reason("One chunk after another", "each holds the table's lock", True, "parallelism")
    if options.parallelism:
        why = "as asked"
    elif parallelism == 1:
        why = "the file is one chunk" if server.cores > 1 else "this machine has one processor"
    elif server.local:
        why = f"the server shares this machine's {server.cores} processors"
    else:
        why = network.why(case.distance)
    return Reason(f"{parallelism} in parallel", f"{why}; can be changed while it runs", option="parallelism")


def chunks_reason(case: Case, chunk_bytes: int) -> Reason:
    """How many chunks there will be, and why of that size."""
    count = max(1, _rounded_up(case.data_bytes, chunk_bytes))
    why = _why_of_that_size(case)
    chunks = "One chunk" if count == 1 else f"About {count:,} chunks"
    size = f"{chunk_bytes / 1e6:.1f} MB" if chunk_bytes >= 100_000 else f"{chunk_bytes / 1e3:.1f} kB"
    return Reason(f"{chunks} of at most {size}", f"{why}; each is one transaction", option="chunk_bytes")


def _why_of_that_size(case: Case) -> str:
    if case.options.chunk_bytes:
        return "as asked"
    if network.largest_chunk(case, 1):
        return "small enough for the line, large enough for its round trips"
    return "small enough to share out and to repeat, large enough to be cheap"


def _rounded_up(value: int, divisor: int) -> int:
    return -(-value // divisor)


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))
