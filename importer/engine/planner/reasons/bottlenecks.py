"""Explains which settings of the server slow the load down."""

from collections.abc import Iterator

from importer.engine.mysql.server_info import Server
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.units import GIB, MIB, human_bytes

# A smaller redo log fills within seconds of a load, which then waits for the server to flush pages.
ROOMY_REDO = 1024 * MIB
GOOD_REDO = 2048 * MIB
# Bytes of a table for each byte of the CSV file, and of each secondary key, about: rows have headers, pages free space.
TABLE_PER_BYTE, KEY_PER_BYTE = 1.2, 0.3
# MariaDB's default, for a hard disk; MySQL's is 10,000 since 8.4.
SLOW_FLUSHING, GOOD_FLUSHING = 200, 2000


def bottleneck_reasons(context: PlanningContext) -> Iterator[Reason]:
    """One reason for each setting that slows the load down, with the statement that changes it."""
    if context.loads_one_at_a_time:
        yield _one_at_a_time(context)
    yield from _redo_log(context)
    yield from _buffer_pool(context)
    yield from _durability(context.server)


def _one_at_a_time(context: PlanningContext) -> Reason:
    statements = context.server.variables.get("binlog_format", "").upper() == "STATEMENT"
    first = "binlog_format = ROW and " if statements else ""
    return Reason(
        f"innodb_autoinc_lock_mode is {context.server.variables['innodb_autoinc_lock_mode']}",
        f"loads into a table with AUTO_INCREMENT run one at a time; {first}innodb_autoinc_lock_mode = 2 under [mysqld]"
        " in my.cnf, and a restart, let them run in parallel",
        holds_back=True,
    )


def _redo_log(context: PlanningContext) -> Iterator[Reason]:
    server, redo = context.server, context.server.redo_bytes
    if redo is None or redo >= context.data_bytes:
        return
    if redo < ROOMY_REDO:
        line = f"innodb_log_file_size = {GOOD_REDO // GIB}G under [mysqld] in my.cnf, and a restart, make it larger"
        if "innodb_redo_log_capacity" in server.variables:
            line = f"SET GLOBAL innodb_redo_log_capacity = {GOOD_REDO} makes it larger"
        why = f"the load fills it and then waits for pages to be written; {line}"
        yield Reason(f"The redo log holds {human_bytes(redo)}", why, holds_back=True)
    flushing = server.number("innodb_io_capacity")
    if flushing is not None and flushing <= SLOW_FLUSHING:
        yield Reason(
            f"innodb_io_capacity is {flushing}",
            "the server writes pages back as slowly as a single hard disk would, and the load waits once the redo log"
            f" is full; on an SSD: SET GLOBAL innodb_io_capacity = {GOOD_FLUSHING}",
            holds_back=True,
        )


def _buffer_pool(context: PlanningContext) -> Iterator[Reason]:
    pool = context.server.number("innodb_buffer_pool_size")
    secondary = sum(key.name != "PRIMARY" for key in context.table.keys)
    there = 0 if context.options.mode == "replace" else context.table.data_bytes + context.table.index_bytes
    needed = there + int(context.data_bytes * (TABLE_PER_BYTE + KEY_PER_BYTE * secondary))
    if pool is None or needed <= pool:
        return
    good = -(-needed // (256 * MIB)) * 256 * MIB
    yield Reason(
        f"The buffer pool holds {human_bytes(pool)}, the table will have about {human_bytes(needed)}",
        "rows that do not come in the order of a key then wait for pages of it to be read;"
        f" SET GLOBAL innodb_buffer_pool_size = {good}, as far as the server's memory allows, keeps them in memory",
        holds_back=True,
    )


def _durability(server: Server) -> Iterator[Reason]:
    mode = server.number("innodb_flush_log_at_trx_commit")
    if mode in (0, 2):
        crash = "the server's machine" if mode == 2 else "the server"
        yield Reason(
            f"innodb_flush_log_at_trx_commit is {mode}",
            f"a crash of {crash} can lose the last second of committed chunks, their ledger rows with them; the"
            " verification at the end finds that, and loads them again",
        )
