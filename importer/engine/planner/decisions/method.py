"""Which method loads the chunks: the fastest that the server allows, or the one that was asked for.

The ladder: LOAD DATA LOCAL; where that is refused, LOAD DATA from a pipe that the server reads; else INSERT.
"""

from dataclasses import dataclass

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load.methods import registry
from importer.engine.load.methods.inserts import insert, insert_single
from importer.engine.mysql.server_info import Server
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.units import MIB

# Each with its words, and what it costs beside LOAD DATA LOCAL. Measured: server-behaviour.md, Methods.
SAID = {
    "load_data_local": ("LOAD DATA LOCAL", "the server allows it, and no other way over a network is as fast"),
    "load_data_server": ("LOAD DATA from a pipe", "the server reads it as a file, as fast as LOAD DATA LOCAL"),
    "insert": (
        "INSERT of many rows",
        "that takes 1.8 times the processor time of LOAD DATA LOCAL, more where fields are in quotes",
    ),
    "insert_prepared": (
        "Prepared INSERT of many rows",
        "that takes 1.5 (MariaDB) to 2 times (MySQL) the processor time of LOAD DATA LOCAL",
    ),
    "insert_single": ("One INSERT and one commit a row", "for comparison only: nothing is slower"),
}
ALLOW_LOCAL = "SET GLOBAL local_infile = 1 on the server allows LOAD DATA LOCAL"
# Some 10,000 rows, which take a minute or more.
MOST_SINGLE_BYTES = MIB


@dataclass(frozen=True)
class Chosen:
    """The method's name (options.OFFERED), and why it is that one."""

    name: str
    reason: Reason


def choose_method(case: PlanningContext) -> Chosen:
    """Raises Problem, with what to do, if the method that was asked for cannot be had."""
    asked = case.options.method
    if asked == "auto":
        return fallback(case.server) if not case.server.takes_local else _chosen("load_data_local")
    if asked == "load_data_local":
        _require_local(case.server)
    if asked == "load_data_server":
        _require_files(case.server)
    if asked == "insert_single" and case.data_bytes > MOST_SINGLE_BYTES:
        raise Problem(
            f"The file has {case.data_bytes:,} bytes, too many for one INSERT a row with a commit each.",
            advice=f"Take a sample of at most {MOST_SINGLE_BYTES:,} bytes, or choose another method.",
            option="method",
        )
    name, why = SAID[asked]
    return Chosen(asked, Reason(name, f"asked for; {why}", option="method"))


def fallback(server: Server) -> Chosen:
    """The best method without LOAD DATA LOCAL."""
    if server.reads_files and server.shared_folder:
        return _instead("load_data_server", server)
    # As fast as texts on MySQL and faster on MariaDB; and where fields are in quotes, on both (server-behaviour.md,
    # Methods).
    return _instead("insert_prepared", server)


def rows_per_statement(case: PlanningContext, method: str) -> int | None:
    """How many rows an INSERT has; None for the methods that load files."""
    if method not in registry.INSERTING:
        return None
    return insert_single.ROWS if method == "insert_single" else case.options.rows_per_statement or insert.ROWS


def _chosen(method: str) -> Chosen:
    name, why = SAID[method]
    return Chosen(method, Reason(name, why, option="method"))


def _instead(method: str, server: Server) -> Chosen:
    name, cost = SAID[method]
    return Chosen(
        method,
        Reason(
            name,
            f"the server refuses LOAD DATA LOCAL; {cost}. {_how_to_allow(server)}",
            holds_back=method != "load_data_server",
            option="method",
        ),
    )


def _how_to_allow(server: Server) -> str:
    if server.on("local_infile"):
        return "The address of the server behind the proxy would allow it"
    return ALLOW_LOCAL


def _require_local(server: Server) -> None:
    if not server.takes_local:
        raise TargetProblem(
            "The server refuses LOAD DATA LOCAL"
            + (f" ({server.flavour})." if server.on("local_infile") else " (local_infile is OFF)."),
            advice=f"{_how_to_allow(server)} (and local_infile = 1 under [mysqld] in its my.cnf); or ask for method"
            " auto, which takes another one.",
            option="method",
        )


def _require_files(server: Server) -> None:
    if not server.shared_folder:
        raise TargetProblem(
            "There is no folder that the server may load files from and that this machine can write into.",
            advice="Set SERVER_FILES_DIR to one, inside the server's secure_file_priv"
            f" ({server.variables.get('secure_file_priv', '') or 'any folder'}); both must see it under one path.",
            option="method",
        )
    if not server.reads_files:
        raise TargetProblem(
            "The account may not load files that the server sees.",
            advice="GRANT FILE ON *.* TO it, on the server; or choose another method.",
            option="method",
        )
