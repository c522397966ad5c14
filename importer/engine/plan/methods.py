"""Declares the methods of loading a chunk: names, conditions, costs. load/methods/registry.py has their functions.

The order is that of preference: an import that leaves the choice to the planner takes the first automatic method that
the server allows, and after a refusal the next one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from importer.engine.errors import TargetProblem
from importer.engine.mysql.server_info import Server

AUTO = "auto"
ALLOW_LOCAL = "SET GLOBAL local_infile = 1 on the server allows LOAD DATA LOCAL"


def _always(_server: Server) -> None:
    """The condition of a method that every server allows."""


def how_to_allow_local(server: Server) -> str:
    """The remedy where LOAD DATA LOCAL is refused, without a full stop; "" if there is none."""
    if advice := next((each.advice for each in server.kinds if not each.takes_local), None):
        return advice.rstrip(".;")
    if not server.on("local_infile"):
        return ALLOW_LOCAL
    return "" if server.careful else "The address of the server behind the proxy would allow it"


def _require_tried(server: Server) -> None:
    if server.careful:
        raise TargetProblem(
            f"Imports into {server.title} have not been tried, so rows go in by INSERT (docs/servers.md).",
            advice="Ask for method auto, insert or insert_prepared.",
            option="method",
        )


def _require_local(server: Server) -> None:
    _require_tried(server)
    if not server.takes_local:
        raise TargetProblem(
            "The server refuses LOAD DATA LOCAL"
            + (f" ({server.title})." if server.on("local_infile") else " (local_infile is OFF)."),
            advice=f"{how_to_allow_local(server)} (and local_infile = 1 under [mysqld] in its my.cnf); or ask for"
            " method auto, which takes another one.",
            option="method",
        )


def _require_files(server: Server) -> None:
    _require_tried(server)
    if not server.shared_folder:
        raise TargetProblem(
            "There is no folder that the server may load files from and that this machine can write into.",
            advice="Set SERVER_FILES_DIR to one, inside the server's secure_file_priv"
            f" ({server.variables.get('secure_file_priv', '') or 'any folder'}); both must see it under one path.",
            option="method",
        )
    _require_right(server)


def _require_right(server: Server) -> None:
    _require_tried(server)
    if server.variables.get("secure_file_priv") == "NULL":
        raise TargetProblem(
            "The server loads no files that it sees (secure_file_priv is NULL).",
            advice="Set secure_file_priv to a folder under [mysqld] in its my.cnf, and start it again; or choose"
            " another method.",
            option="method",
        )
    if not server.reads_files:
        raise TargetProblem(
            "The account may not load files that the server sees.",
            advice="GRANT FILE ON *.* TO it, on the server; or choose another method.",
            option="method",
        )


@dataclass(frozen=True)
class Method:
    """A way to load a chunk.

    `title` and `cost` are the words of the plan; the cost is measured (server-behaviour.md, Methods). `require` raises
    TargetProblem, with the remedy, where the server does not allow the method. `rows` is the number of rows of a
    statement by default, None for a method that sends files. `from_file`: the server reads the file itself, as a whole.
    `speed` is the usual rate relative to LOAD DATA LOCAL.
    """

    name: str
    title: str
    cost: str
    require: Callable[[Server], None] = _always
    automatic: bool = False
    slows: bool = True
    from_pipe: bool = False
    from_file: bool = False
    rows: int | None = None
    speed: float = 1.0

    @property
    def inserts(self) -> bool:
        """Whether rows are sent in INSERT statements."""
        return self.rows is not None

    @property
    def tunable(self) -> bool:
        """Whether a lab tries it unasked: not one for a file on the server."""
        return not self.from_file

    @property
    def label(self) -> str:
        """The name for people: load_data_local as LOAD DATA LOCAL."""
        return self.name.replace("_", " ").upper()

    def allowed(self, server: Server) -> bool:
        """Whether the server allows it."""
        try:
            self.require(server)
        except TargetProblem:
            return False
        return True


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "load_data_local",
            "LOAD DATA LOCAL",
            "the server allows it, and no other way over a network is as fast",
            require=_require_local,
            automatic=True,
            slows=False,
        ),
        Method(
            "load_data_server",
            "LOAD DATA from a pipe",
            "the server reads it as a file, as fast as LOAD DATA LOCAL",
            require=_require_files,
            automatic=True,
            slows=False,
            from_pipe=True,
            speed=1.02,
        ),
        Method(
            "load_data_infile",
            "LOAD DATA of a file on the database's host",
            "the server reads it itself, in one statement and one transaction, and nothing is sent",
            require=_require_right,
            from_file=True,
        ),
        # 1,000 rows a statement: measured (server-behaviour.md, Methods).
        Method(
            "insert",
            "INSERT of many rows",
            "that takes 1.8 times the processor time of LOAD DATA LOCAL, more where fields are in quotes",
            rows=1000,
            speed=0.5,
        ),
        # Automatic: as fast as texts on MySQL and faster on MariaDB; and where fields are in quotes, on both.
        Method(
            "insert_prepared",
            "Prepared INSERT of many rows",
            "that takes 1.5 (MariaDB) to 2 times (MySQL) the processor time of LOAD DATA LOCAL",
            automatic=True,
            rows=1000,
            speed=0.6,
        ),
    )
}

# Taken for a file that is named by its path on the database's host.
FROM_FILE = next(method for method in METHODS.values() if method.from_file)


def best_allowed(server: Server) -> Method:
    """The automatic method that comes first among those that the server allows; the last one always works."""
    return next(method for method in METHODS.values() if method.automatic and method.allowed(server))
