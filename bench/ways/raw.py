"""Plain LOAD DATA LOCAL, without scan, ledger and checks: one file, or pieces over several sessions."""

from bench.files import PIECES, Files
from bench.servers import Server
from bench.ways.client import run_statements
from bench.ways.way import AFTER, BEFORE, LoadTiming, Way
from bench.workloads.table import WorkloadTable

# For building keys: several threads and sorting in memory (MySQL manual, Configuring Parallel Threads for Online DDL
# Operations).
DDL_SETTINGS = {"innodb_ddl_threads": 4, "innodb_ddl_buffer_size": 256 * 2**20}


class Single(Way):
    """The whole file in one statement and one session."""

    name = "single"
    raw = True

    def load(self, server: Server, files: Files) -> LoadTiming:
        return run_statements(
            server.address,
            [[table.load_sql(str(files.whole(table)), files.separator)] for table in files.workload.tables],
        )


class Split(Way):
    """Files that were split beforehand, over `sessions`; keys in place, or built after all rows."""

    raw = True

    def __init__(self, sessions: int, keys: str = BEFORE) -> None:
        self.keys = keys
        self.sessions = sessions
        self.name = f"{'split' if keys == BEFORE else 'after'}-{sessions}"

    def load(self, server: Server, files: Files) -> LoadTiming:
        tables = files.workload.tables
        later = [each for table in tables for each in table.add_keys_sql] if self.keys == AFTER else []
        steps = [pieces_sql(files, table) for table in tables]
        return run_statements(server.address, steps, self.sessions, settings=DDL_SETTINGS, last=later, keys=self.keys)


class Pieces(Way):
    """Files that were split beforehand into `count` pieces, each committed separately, over two sessions."""

    raw = True

    def __init__(self, count: int) -> None:
        self._count = count
        self.name = f"{count} raw pieces"

    def prepare(self, server: Server, files: Files) -> None:
        """Make empty tables and cut the pieces."""
        super().prepare(server, files)
        for table in files.workload.tables:
            files.cut(table, self._count)

    def load(self, server: Server, files: Files) -> LoadTiming:
        steps = [pieces_sql(files, table, count=self._count) for table in files.workload.tables]
        return run_statements(server.address, steps, sessions=2)


def pieces_sql(files: Files, table: WorkloadTable, into: str = "", count: int = PIECES) -> list[str]:
    """A statement for each piece of the table's file, into the table or into another one with its columns."""
    pieces = files.pieces(table, count)
    return [table.load_sql(str(piece), files.separator, into=into, header=False) for piece in pieces]
