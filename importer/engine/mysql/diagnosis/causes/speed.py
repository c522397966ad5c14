"""What makes a load slow while it runs: the server's log, memory and disk, the network, the worker, the table."""

from importer.engine.mysql.diagnosis.advised_sizes import GOOD_REDO_LOG, advised_buffer_pool, log_file_in_cnf
from importer.engine.mysql.diagnosis.cause import Cause, Evidence, Explanation
from importer.engine.mysql.diagnosis.snapshot import Snapshot
from importer.engine.units import human_bytes

# The share of the redo log in use from which the server lets writers wait, at two looks. MariaDB's capacity is that
# point itself (Innodb_checkpoint_max_age); MySQL begins to hold back earlier: with a log of 8 MiB it stays at 0.62 to
# 0.74 and writes a third of the rows (measured, MySQL 9.7 and MariaDB 10.11).
REDO_FULL = {"MariaDB": 0.85, "MySQL": 0.6}
# Pages read from disk for each row written, and in a second. A pool that holds the pages reads next to none; one of
# 8 MiB with random keys 1.3 for each row.
READS_PER_ROW, LEAST_READS = 0.1, 100.0
# Shares of the loading time.
COMMIT_SHARE, REVIEW_SHARE, BUSY_SHARE, LOAD_SHARE = 0.4, 0.5, 0.8, 0.5
# The share of the line's rate, as it was measured, from which the line is the limit.
LINE_SHARE = 0.7
# Fewer chunks tell nothing.
FEWEST_CHUNKS = 3


def redo_log(evidence: Evidence) -> Explanation | None:
    """The redo log is full of changes whose pages are not written back yet."""
    snapshot, before = evidence.snapshot, evidence.before
    if not (snapshot and before and snapshot.counters.per_second("redo_written", before)):
        return None
    least = REDO_FULL[snapshot.flavour]
    now, then = snapshot.counters.redo_share, before.redo_share
    if now is None or then is None or now < least or then < least * 0.9:
        return None
    written = snapshot.counters.per_second("redo_written", before) or 0
    capacity = snapshot.number("innodb_redo_log_capacity")
    size = max(GOOD_REDO_LOG, 2 * (capacity or snapshot.number("innodb_log_file_size") or 0))
    larger = "A larger one lets the server write pages back later, and each fewer times."
    return Explanation(
        "redo_log",
        "The redo log is full: the server must write pages back before it takes more rows.",
        f"{now:.0%} of {human_bytes(snapshot.counters.redo_capacity or 0)} are in use, and"
        f" {human_bytes(round(written))}/s are written to it.",
        larger if capacity else f"{larger} {log_file_in_cnf(size)}",
        sql=f"SET GLOBAL innodb_redo_log_capacity = {size};" if capacity else "",
        waits=False,
    )


def buffer_pool(evidence: Evidence) -> Explanation | None:
    """The pages of the table and its keys do not fit in the buffer pool."""
    snapshot, before = evidence.snapshot, evidence.before
    if not (snapshot and before):
        return None
    read = snapshot.counters.per_second("pages_read", before) or 0
    rows = snapshot.counters.per_second("rows_written", before) or 0
    if not rows or read < max(LEAST_READS, READS_PER_ROW * rows):
        return None
    size = snapshot.number("innodb_buffer_pool_size") or 0
    advised, _ = advised_buffer_pool(local=snapshot.local)
    return Explanation(
        "buffer_pool",
        "The buffer pool is too small: the server reads pages from disk to add rows to them.",
        f"{read:,.0f} pages/s are read for {rows:,.0f} rows/s; the buffer pool has {human_bytes(size)}.",
        "Enlarge it as far as the server's memory allows; or load in the order of the primary key, with the keys built"
        " afterwards.",
        sql=f"SET GLOBAL innodb_buffer_pool_size = {advised};" if advised > size else "",
        waits=False,
    )


def commit(evidence: Evidence) -> Explanation | None:
    """Commits wait for the disk, or for the binary log."""
    snapshot, recent = evidence.snapshot, evidence.facts.recent
    share = recent.share("commit")
    if not snapshot or recent.chunks < FEWEST_CHUNKS or share < COMMIT_SHARE:
        return None
    each = 1000 * recent.phases["commit"] / recent.chunks
    return Explanation(
        "commit",
        f"{share:.0%} of the loading time goes into COMMIT, until the server's disk has the rows for certain.",
        f"{each:,.0f} ms for each of the last {recent.chunks:,} chunks. {_durability(snapshot)}",
        "Larger chunks need fewer commits. A disk that confirms writes sooner helps most.",
        waits=False,
    )


def _durability(snapshot: Snapshot) -> str:
    """The settings that decide what a COMMIT waits for."""
    names = ["innodb_flush_log_at_trx_commit"]
    if snapshot.on("log_bin"):
        names += ["sync_binlog", "binlog_format", "binlog_row_image"]
    settings = ", ".join(f"{name} = {snapshot.variables[name]}" for name in names if name in snapshot.variables)
    binary_log = " The binary log gets each row once more." if snapshot.on("log_bin") else ""
    return f"{settings}.{binary_log}"


def network(evidence: Evidence) -> Explanation | None:
    """The network carries no more."""
    line, recent = evidence.facts.network, evidence.facts.recent
    seconds = recent.phases.get("load", 0)
    if not line or recent.chunks < FEWEST_CHUNKS or not seconds or recent.bytes / seconds < LINE_SHARE * line:
        return None
    return Explanation(
        "network",
        "The network to the server carries no more.",
        f"One session sends {human_bytes(round(recent.bytes / seconds))}/s; the target's check measured"
        f" {human_bytes(round(line))}/s.",
        "More parallel chunks help if each has a line of its own; otherwise run the workers nearer to the server.",
        waits=False,
    )


def worker(evidence: Evidence) -> Explanation | None:
    """The worker's processor is the limit: it reads, checks and converts the rows."""
    recent, busy = evidence.facts.recent, evidence.facts.busy
    share = recent.share("review")
    reviewing = recent.chunks >= FEWEST_CHUNKS and share >= REVIEW_SHARE
    if not reviewing and (busy is None or busy < BUSY_SHARE):
        return None
    shown = (
        f"{share:.0%} of the loading time goes into checking the rows before they are sent."
        if reviewing
        else f"Each worker computes {busy:.0%} of the time, and waits for the server for the rest."
    )
    return Explanation(
        "worker",
        "The workers' processors are the limit, not the server.",
        shown,
        "More parallel chunks, or more workers, use more processors. Formats and transforms cost time for each value.",
        waits=False,
    )


def table_work(evidence: Evidence) -> Explanation | None:
    """The table adds work to each row: triggers, foreign keys, keys that stay during the load."""
    facts = evidence.facts
    if not facts.work or facts.recent.chunks < FEWEST_CHUNKS or facts.recent.share("load") < LOAD_SHARE:
        return None
    return Explanation(
        "table_work",
        f"Each row costs more than itself: {facts.full_name} has {', '.join(facts.work)}.",
        f"{facts.recent.share('load'):.0%} of the loading time is the server's work on the rows.",
        "Keys that are built afterwards cost less; the plan says why these stay.",
        waits=False,
    )


CAUSES = tuple(Cause(each.__name__, each) for each in (redo_log, buffer_pool, commit, network, worker))
# Always so with such a table: named only if no other cause is.
LAST = (Cause("table_work", table_work),)
