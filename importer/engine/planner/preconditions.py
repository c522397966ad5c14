"""Refuses servers and tables into which no option makes a load safe."""

from importer.engine.errors import TargetProblem
from importer.engine.load.non_transactional import cannot_roll_back
from importer.engine.mysql.server_info import Server
from importer.engine.schema.table import Table


def check_server(server: Server) -> None:
    """Raise TargetProblem if the server is read-only, or would commit parts of a chunk."""
    if server.on("wsrep_on") and server.on("wsrep_load_data_splitting"):
        raise TargetProblem(
            "This Galera cluster commits every 10,000 rows of a LOAD DATA, so a chunk could load in part.",
            advice="SET GLOBAL wsrep_load_data_splitting = OFF.",
        )
    if server.on("super_read_only") or server.on("innodb_read_only"):
        raise TargetProblem("The server is read-only.", advice="Load into the primary, not into a replica.")


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
