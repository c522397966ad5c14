"""Limits transactions to what the binary log or a Galera cluster takes, and explains their cost."""

from collections.abc import Iterator

from importer.engine.mysql.server_info import Server
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.units import MIB, human_bytes

# Bytes in the binary log, or in a cluster's write set, for each byte of the file, at most: wide rows of NULLs and
# numbers take more than in the file.
EVENTS_PER_BYTE = 4
# The defaults of max_binlog_cache_size and wsrep_max_ws_size, which limit no chunk, are larger.
NO_LIMIT = 2**40
LARGEST_CACHE = 64 * MIB


def largest_transaction(server: Server) -> tuple[int, str] | None:
    """The most bytes of a chunk whose transaction fits, and the variable that limits it; None for no limit."""
    limits = []
    if server.on("log_bin"):
        limits.append("max_binlog_cache_size")
    if server.cluster:
        limits.append("wsrep_max_ws_size")
    fitting = [(size // EVENTS_PER_BYTE, name) for name in limits if 0 < (size := server.number(name) or 0) < NO_LIMIT]
    return min(fitting, default=None)


def replication_reasons(context: PlanningContext, transaction_bytes: int) -> Iterator[Reason]:
    """Explains what the binary log and the cluster cost, with the statement that changes it."""
    server = context.server
    fits = largest_transaction(server)
    if fits and transaction_bytes > fits[0]:
        yield Reason(
            f"{fits[1]} is {human_bytes(fits[0] * EVENTS_PER_BYTE)}",
            f"chunks of the requested size may be refused; those of {human_bytes(fits[0])} fit in any case",
        )
    if server.cluster:
        yield from _rows_of_a_write_set(context)
        yield Reason(
            "A Galera cluster",
            "every node certifies and applies each chunk as it commits, so the slowest sets the pace; load through one"
            " node only",
            holds_back=True,
        )
    if server.on("log_bin") and context.options.session.get("sql_log_bin") != "0":
        yield _binary_log(server, transaction_bytes)


def _rows_of_a_write_set(context: PlanningContext) -> Iterator[Reason]:
    most = context.server.number("wsrep_max_ws_rows")
    if most and most < (context.options.commit_rows or most + 1):
        yield Reason(
            f"wsrep_max_ws_rows is {most:,}",
            f"the cluster refuses chunks with more rows: ask for commit_rows {most}, or on every node SET GLOBAL"
            " wsrep_max_ws_rows = 0",
        )


def _binary_log(server: Server, transaction_bytes: int) -> Reason:
    cache = server.number("binlog_cache_size")
    line = ""
    if cache is not None and cache < min(transaction_bytes, LARGEST_CACHE):
        good = min(LARGEST_CACHE, -(-transaction_bytes // MIB) * MIB * 2)
        line = (
            f"; a chunk's part of it goes through a temporary file: SET GLOBAL binlog_cache_size = {good} keeps it in"
            " the memory of each session"
        )
    return Reason(
        "The binary log is on",
        "rows are written twice, and a replica applies each chunk only once it has committed here, so it lags behind by"
        f" one at least; fewer rows per commit shorten that{line}",
        holds_back=True,
    )
