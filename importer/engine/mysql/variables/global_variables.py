"""The whitelist of global variables that an import may set while it runs.

target/global_settings.py sets them and restores the old values.
"""

from collections.abc import Mapping

from importer.engine.mysql.variables.variable import Variable
from importer.engine.units import GIB, MIB

BUFFER_POOL = "innodb_buffer_pool_size"

# Manual, InnoDB Startup Options and System Variables. Each was set at run time on a MySQL and a MariaDB server.
SERVER_VARIABLES: Mapping[str, Variable] = {
    each.name: each
    for each in (
        Variable(
            "innodb_flush_log_at_trx_commit",
            "commits do not wait for the log to be flushed",
            "for everybody's commits: with 2 up to a second of them is lost when the server's machine crashes, with 0"
            " also when the server does. Ledger rows go with them, so the verification finds lost chunks and loads them"
            " again",
            choices=("0", "1", "2"),
        ),
        Variable(
            "sync_binlog",
            "commits do not wait for the binary log to be flushed",
            "for everybody's commits: a crash of the server's machine can leave some out of the binary log, so that"
            " replicas differ",
            most=4_294_967_295,
            of_mariadb="BINLOG ADMIN",
        ),
        Variable(
            "innodb_io_capacity",
            "more pages are written back a second",
            "disk time of others",
            least=100,
            most=1_000_000,
        ),
        Variable(
            "innodb_io_capacity_max",
            "more pages are written back a second when flushing falls behind",
            "disk time of others",
            least=100,
            most=2_000_000,
        ),
        Variable(
            "innodb_max_dirty_pages_pct", "more pages wait to be written back", "a longer recovery", least=1, most=99
        ),
        Variable(
            "innodb_redo_log_capacity",
            "a longer load before pages must be written back",
            "disk space, and a longer recovery after a crash",
            least=8 * MIB,
            most=512 * GIB,
            only="MySQL",
        ),
        Variable(
            "binlog_cache_size",
            "a chunk's events stay in memory",
            "that much memory for every session that connects during the import",
            least=4096,
            most=GIB,
            of_mariadb="BINLOG ADMIN",
        ),
        Variable(
            BUFFER_POOL,
            "more pages of tables and keys stay in memory",
            "that much memory of the server, which ends if its machine has not as much",
            least=5 * MIB,
            most=16_384 * GIB,
        ),
        Variable(
            "innodb_log_buffer_size",
            "more of a transaction's log waits in memory for its commit",
            "that much memory of the server",
            least=MIB,
            most=4 * GIB - 1,
            only="MySQL",
        ),
        Variable(
            "innodb_write_io_threads",
            "more writes of pages are under way at once",
            "disk time of others",
            least=2,
            most=64,
            only="MariaDB",
        ),
        Variable(
            "max_allowed_packet",
            "longer rows go into one INSERT",
            "that much memory of the server for each session that sends as much",
            least=MIB,
            most=GIB,
        ),
        Variable(
            "innodb_lru_scan_depth",
            "more pages of the buffer pool are kept free",
            "processor and disk time of others",
            least=100,
            most=1_000_000,
        ),
        Variable(
            "innodb_change_buffering",
            "changes of secondary indexes wait in the change buffer until their pages are read",
            "the server merges them later",
            choices=("none", "inserts", "deletes", "changes", "purges", "all"),
        ),
        Variable(
            "key_buffer_size",
            "more index pages of MyISAM tables stay in memory",
            "that much memory of the server; what the buffer had is read again",
            least=8 * 1024,
            most=64 * GIB,
        ),
        Variable(
            "local_infile",
            "LOAD DATA LOCAL is allowed",
            "every account of the server may use it during the import",
            choices=("1",),
        ),
    )
}
