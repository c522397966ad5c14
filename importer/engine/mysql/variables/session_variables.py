"""The whitelist of session variables that an import may set; preflight/session_settings.py tries them on the server.

Variables that exactness depends on are not in it: sql_mode, time_zone, character sets, autocommit, sql_notes,
max_error_count.
"""

from collections.abc import Mapping

from importer.engine.mysql.variables.variable import Variable
from importer.engine.units import GIB

A_DAY = 86_400  # seconds

ISOLATIONS = ("READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE")

# Manual, Server System Variables. Each was set in a session of both servers (server-behaviour.md).
SESSION_VARIABLES: Mapping[str, Variable] = {
    each.name: each
    for each in (
        Variable("bulk_insert_buffer_size", "memory for loading into a MyISAM table", most=4 * GIB),
        Variable("myisam_sort_buffer_size", "memory for the keys of a MyISAM table", least=4096, most=4 * GIB),
        Variable("read_buffer_size", "memory for reading a MyISAM table", least=8192, most=GIB),
        Variable("sort_buffer_size", "memory for putting staged rows in order", least=32_768, most=4 * GIB),
        Variable("read_rnd_buffer_size", "memory for reading rows in sorted order", least=1, most=GIB),
        Variable(
            "innodb_lock_wait_timeout",
            "seconds that a chunk waits for a row that others have locked",
            "a chunk that cannot continue is tried again only after that",
            least=1,
            most=A_DAY,
        ),
        Variable(
            "lock_wait_timeout",
            "seconds that a statement waits for a table that others are altering",
            "a chunk that cannot continue is tried again only after that",
            least=1,
            most=A_DAY,
        ),
        Variable("net_read_timeout", "seconds that the server waits for our bytes", least=5, most=3600),
        Variable("net_write_timeout", "seconds that the server waits for us to read", least=5, most=3600),
        Variable(
            "max_statement_time",
            "seconds after which the server ends a statement; 0 lifts the server's own limit",
            "a limit that is too low ends each attempt at a chunk",
            most=A_DAY,
            only="MariaDB",
        ),
        Variable(
            "binlog_row_image",
            "minimal writes less to the binary log where rows are changed or replaced",
            "programs that read whole rows from the binary log find only what was given",
            choices=("full", "minimal", "noblob"),
        ),
        Variable(
            "sql_log_bin",
            "0 keeps the rows, and their entries in the ledger, out of the binary log",
            "dangerous: replicas never get these rows, and stop at the first later change of one of them unless they"
            " are loaded there as well; a restore to a point in time does not bring them back",
            choices=("0", "1"),
        ),
    )
}
