"""Refuses servers, tables and options with which no setting makes a load safe."""

from importer.engine.errors import TargetProblem
from importer.engine.load.non_transactional import cannot_roll_back
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.servers.kinds import SAFEST_CHUNK
from importer.engine.plan.options import Options
from importer.engine.schema.table import Table
from importer.engine.units import human_bytes


def check_server(server: Server) -> None:
    """Raise TargetProblem if the server is read-only, or would commit parts of a chunk."""
    if server.cluster and server.on("wsrep_load_data_splitting"):
        raise TargetProblem(
            "This Galera cluster commits every 10,000 rows of a LOAD DATA, so a chunk could load in part.",
            advice="SET GLOBAL wsrep_load_data_splitting = OFF.",
        )
    if server.on("super_read_only") or server.on("innodb_read_only"):
        raise TargetProblem("The server is read-only.", advice="Load into the primary, not into a replica.")


def check_allowed(options: Options, server: Server) -> None:
    """Raise TargetProblem for options that this kind of server does not allow."""
    if server.cluster and options.lock_table:
        raise TargetProblem(
            "In a Galera cluster LOCK TABLES locks the table on one node only.",
            advice="Leave lock_table out.",
            option="lock_table",
        )
    if server.cluster and options.server_variables:
        raise TargetProblem(
            "In a Galera cluster a global variable changes on one node only, and imports through other nodes do not see"
            " whose change it is.",
            advice="Leave server_variables out; change the variable on every node by hand.",
            option="server_variables",
        )
    if server.careful:
        _check_careful(options, server)


def _check_careful(options: Options, server: Server) -> None:
    """Raise TargetProblem for options outside the safe path (mysql/servers/kinds.py)."""
    outside = {
        "mode": options.mode != "append",
        "on_duplicate": options.on_clash != "fail",
        "indexes": options.indexes == "defer",
        "foreign_keys": options.foreign_keys == "defer",
        "lock_table": options.lock_table,
        "server_variables": bool(options.server_variables),
        "chunk_bytes": (options.chunk_bytes or 0) > SAFEST_CHUNK,
    }
    for option in (name for name, asked in outside.items() if asked):
        allowed = {
            "mode": "append",
            "on_duplicate": "fail",
            "indexes": "auto or keep",
            "foreign_keys": "keep",
            "chunk_bytes": f"at most {human_bytes(SAFEST_CHUNK)}",
        }.get(option, "")
        raise TargetProblem(
            f"Imports into {server.title} have not been tried, so they take the safe path, without this {option}.",
            advice=f"Choose {option} {allowed}." if allowed else f"Leave {option} out.",
            option=option,
        )


def check_table(table: Table, mode: str) -> None:
    """Raise TargetProblem if rows that go into the table could not be rolled back.

    Mode replace loads into a staging table, which may have such an engine (planner/decisions/staging_engine.py).
    """
    name = f"{table.schema}.{table.name}"
    if not table.engine:
        raise TargetProblem(f"{name} is a view.", advice="Choose the table behind it.")
    if table.engine.lower() != "innodb" and not (mode == "replace" and cannot_roll_back(table.engine)):
        raise TargetProblem(
            f"{name} is a {table.engine} table, which cannot roll back: a broken load would leave part of its rows.",
            advice=f"ALTER TABLE {name} ENGINE=InnoDB, choose mode replace, or another table.",
        )
