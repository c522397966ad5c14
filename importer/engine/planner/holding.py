"""What on the server keeps the load slower than it could be."""

from collections.abc import Iterator

from importer.engine.plan import Reason
from importer.engine.planner.case import Case
from importer.engine.sizes import MIB

# Below this the redo log fills within seconds of a load, which then waits for the server to flush pages.
ROOMY_REDO = 1024 * MIB


def holding_reasons(case: Case) -> Iterator[Reason]:
    """What on the server keeps the load slower than it could be, with the line that changes it."""
    data_bytes, table, server = case.data_bytes, case.table, case.server
    numbered = [column.name for column in table.columns if column.auto_increment]
    if numbered and server.number("innodb_autoinc_lock_mode") == 1:
        yield Reason(
            "innodb_autoinc_lock_mode is 1",
            f"loads into a table with AUTO_INCREMENT ({numbered[0]}) then run one at a time;"
            " innodb_autoinc_lock_mode = 2 under [mysqld] in my.cnf, and a restart, let them run side by side",
            holds_back=True,
        )
    redo = server.redo_bytes
    if redo is not None and redo < ROOMY_REDO and redo < data_bytes:
        variable = "innodb_log_file_size" if server.mariadb else "innodb_redo_log_capacity"
        yield Reason(
            f"The redo log holds {redo // MIB:,} MiB",
            f"the load fills it and then waits for pages to be written; SET GLOBAL {variable} = 2147483648 widens it",
            holds_back=True,
        )
    secondary = [key.name for key in table.keys if key.name != "PRIMARY"]
    if secondary and table.rows_estimate == 0:
        keys = "1 secondary key stays" if len(secondary) == 1 else f"{len(secondary)} secondary keys stay"
        yield Reason(f"{keys} on", "each row goes into every key as it is loaded", holds_back=True)
