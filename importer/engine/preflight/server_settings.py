"""Checks the server's settings for those that make loads slow or unsafe."""

from importer.engine.mysql.diagnosis.advised_sizes import GOOD_REDO_LOG, advised_buffer_pool, log_file_in_cnf
from importer.engine.mysql.servers.kinds import SAFE_PATH
from importer.engine.plan.methods import best_allowed
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.units import GIB, MIB, human_bytes

# Bytes. Smaller sizes slow loads down; the defaults of MySQL 8 and of MariaDB 10 and 11 are about these.
SMALL_BUFFER_POOL = 128 * MIB
SMALL_REDO_LOG = 512 * MIB
# Bytes. A chunk's row events are about as large as its text; four of the planner's usual chunks leave room for wide
# rows.
SMALL_BINLOG_CACHE = 128 * MIB
# MySQL's and MariaDB's default, which means no limit: 2**64 less one block.
NO_BINLOG_LIMIT = 2**63


def version(subject: Subject) -> Finding:
    """The kind of the server and of what stands before it, its release, and what follows from the kinds."""
    server = subject.server
    kind = server.kinds[0]
    if server.release < kind.oldest:
        return Finding(
            "version",
            "fail",
            f"{server.title} is too old.",
            "Upgrade the server: Millrace needs MySQL 8.0 or MariaDB 10.5, or later.",
        )
    told = [each for each in server.kinds if each.careful or each.role in ("proxy", "host")]
    rules = " ".join(rule.what for each in told for rule in each.rules)
    advice = " ".join(each.advice for each in told if each.advice)
    if server.careful:
        message = f"{server.title}: imports into it have not been tried, so they take the safe path: {SAFE_PATH}."
        return Finding("version", "warn", f"{message} {rules}", f"{advice} Look at rollback below.".strip())
    refuses = not all(each.takes_local for each in server.kinds)
    message = f"{server.title}. {rules}".strip()
    if refuses:
        message += f" Imports take {_fallback(subject)}."
    return Finding("version", "warn" if refuses else "ok", message, advice if refuses else "")


def local_infile(subject: Subject) -> Finding:
    """Whether LOAD DATA LOCAL is allowed: off by default on MySQL 8 and later, on by default on MariaDB."""
    if subject.server.on("local_infile"):
        return Finding("local_infile", "ok", "The server takes LOAD DATA LOCAL.")
    return Finding(
        "local_infile",
        "warn",
        f"The server refuses LOAD DATA LOCAL: local_infile is off. Imports take {_fallback(subject)}.",
        "SET GLOBAL local_infile = ON; and in its my.cnf under [mysqld]: local_infile = ON",
    )


def _fallback(subject: Subject) -> str:
    """The method that is used without LOAD DATA LOCAL, and its cost, in words."""
    method = best_allowed(subject.server)
    return f"{method.title} instead: {method.cost}"


def auto_increment(subject: Subject) -> Finding:
    """Whether chunks load in parallel into tables with AUTO_INCREMENT.

    Modes 0 and 1 lock the table for the whole of a bulk insert (manual, AUTO_INCREMENT Handling in InnoDB).
    """
    mode = subject.server.number("innodb_autoinc_lock_mode")
    if mode is None or mode == 2:
        return Finding("auto_increment", "ok", "Chunks load in parallel, also into tables with AUTO_INCREMENT.")
    statements = subject.server.variables.get("binlog_format", "").upper() == "STATEMENT"
    caution = (
        " Set binlog_format = ROW first: with STATEMENT, replicas would number rows differently." if statements else ""
    )
    return Finding(
        "auto_increment",
        "warn",
        f"innodb_autoinc_lock_mode is {mode}: loads into a table with an AUTO_INCREMENT column run one at a time. "
        "Other tables are not affected.",
        f"In the server's my.cnf under [mysqld]: innodb_autoinc_lock_mode = 2; then restart it.{caution}",
    )


def sql_mode(subject: Subject) -> Finding:
    """Reports the server's default, always "ok": loading sessions set their own mode (connection.LOADER_SESSION)."""
    mode = subject.server.variables.get("sql_mode", "")
    strict = "STRICT_ALL_TABLES" in mode or "STRICT_TRANS_TABLES" in mode
    default = "strict" if strict else "not strict: other programs' bad values are changed without an error"
    return Finding("sql_mode", "ok", f"The server's default is {default}. Millrace's own sessions are always strict.")


def buffer_pool(subject: Subject) -> Finding:
    """Whether the buffer pool is larger than SMALL_BUFFER_POOL.

    Rows in random key order load 1.7 times slower once the table is larger than the pool (server-behaviour.md, Speed).
    """
    size = subject.server.number("innodb_buffer_pool_size")
    if size is None:
        return Finding("buffer_pool", "ok", "This server does not show innodb_buffer_pool_size.")
    if size > SMALL_BUFFER_POOL:
        return Finding("buffer_pool", "ok", f"innodb_buffer_pool_size is {human_bytes(size)}.")
    advised, why = advised_buffer_pool(local=subject.server.local)
    return Finding(
        "buffer_pool",
        "warn",
        f"innodb_buffer_pool_size is {human_bytes(size)}: loads slow down once a table and its keys are larger.",
        f"SET GLOBAL innodb_buffer_pool_size = {advised}; and the same in its my.cnf ({human_bytes(advised)}, {why}).",
    )


def redo_log(subject: Subject) -> Finding:
    """Whether the redo log is large enough: a small one makes the server write pages during the load (manual, Redo
    Log).
    """
    size = subject.server.redo_bytes
    if size is None:
        return Finding("redo_log", "ok", "This server does not show the size of its redo log.")
    if size >= SMALL_REDO_LOG:
        return Finding("redo_log", "ok", f"The redo log has {human_bytes(size)}.")
    return Finding(
        "redo_log",
        "warn",
        f"The redo log has {human_bytes(size)}: a long load fills it faster than pages are written back, and waits.",
        _larger_redo_log(subject),
    )


def _larger_redo_log(subject: Subject) -> str:
    server = subject.server
    if "innodb_redo_log_capacity" in server.variables:
        return f"SET PERSIST innodb_redo_log_capacity = {GOOD_REDO_LOG};"
    return log_file_in_cnf(GOOD_REDO_LOG)


def durability(subject: Subject) -> Finding:
    """Whether a committed chunk survives a crash (manual, innodb_flush_log_at_trx_commit).

    A lower value is never advised; the finding says what it gives up.
    """
    server = subject.server
    mode = server.number("innodb_flush_log_at_trx_commit")
    lost = {
        0: "a crash of the server or the machine can lose the last second of committed chunks",
        2: "a crash of the machine can lose the last second of committed chunks",
    }
    if mode in lost:
        return Finding(
            "durability",
            "warn",
            f"innodb_flush_log_at_trx_commit is {mode}: {lost[mode]}, which the import has already counted as loaded.",
            "SET GLOBAL innodb_flush_log_at_trx_commit = 1; and the same in its my.cnf under [mysqld]",
        )
    return Finding(
        "durability",
        "ok",
        "innodb_flush_log_at_trx_commit is 1: a committed chunk survives a crash. "
        "(With 2, the machine's crash could lose the last second; with 0, the server's too.)",
    )


def binary_log(subject: Subject) -> Finding:
    server = subject.server
    if not server.on("log_bin"):
        return Finding("binary_log", "ok", "Off.")
    if server.variables.get("binlog_format", "").upper() == "STATEMENT":
        # Manual, SET TRANSACTION: READ COMMITTED allows row-based logging only (error 1665).
        return Finding(
            "binary_log",
            "fail",
            "binlog_format is STATEMENT, with which the server refuses loads in READ COMMITTED, the isolation level"
            " that Millrace uses.",
            "SET GLOBAL binlog_format = ROW; and in its my.cnf under [mysqld]: binlog_format = ROW",
        )
    limit = server.number("max_binlog_cache_size")
    if limit is not None and limit < SMALL_BINLOG_CACHE:
        return Finding(
            "binary_log",
            "warn",
            f"On, and max_binlog_cache_size is {human_bytes(limit)}: a chunk whose rows are larger fails (error 1197).",
            f"SET GLOBAL max_binlog_cache_size = {4 * GIB}; or choose chunks of at most {human_bytes(limit // 4)}.",
        )
    allowed = "no limit" if limit is None or limit >= NO_BINLOG_LIMIT else human_bytes(limit)
    return Finding(
        "binary_log",
        "ok",
        f"On, as replicas and backups need it; rows are written twice. Limit of a transaction: {allowed}.",
    )
