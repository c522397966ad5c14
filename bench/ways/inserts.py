"""INSERT by plain mysqlclient, as in a script that reads the file with Python's csv; and copies of tables."""

from bench.files import Files
from bench.servers import Server
from bench.ways.client import call, run_statements
from bench.ways.raw import pieces_sql
from bench.ways.way import LoadTiming, Way, empty_tables
from bench.workloads.table import TableForm, WorkloadTable
from importer.engine.mysql.connection import connect, execute

# The sample of a way with several rows in each statement is larger by their number, at most by this factor.
MOST_SAMPLES = 50


class Insert(Way):
    """INSERT with a number of rows each and a COMMIT every few statements; 0: one transaction for each table."""

    def __init__(self, rows_per_statement: int, commit_every: int = 0, *, sample: int) -> None:
        self.rows_per_statement = rows_per_statement
        self.commit_every = commit_every
        self._sample = sample * min(rows_per_statement, MOST_SAMPLES)
        self.name = f"insert-{rows_per_statement}" + (f"@{commit_every}" if commit_every else "")

    def rows(self, files: Files) -> int:
        return min(files.rows, self._sample)

    def load(self, server: Server, files: Files) -> LoadTiming:
        tables = [
            {
                "path": str(files.whole(table)),
                "separator": files.separator,
                "count": table.rows_of(self.rows(files)),
                "table": table.name,
                "columns": table.names,
                "hexadecimal": table.hexadecimal,
            }
            for table in files.workload.tables
        ]
        arguments = {
            "tables": tables,
            "rows_per_statement": self.rows_per_statement,
            "commit_every": self.commit_every,
        }
        return call("insert", server.address, arguments)


class Copy(Way):
    """INSERT ... SELECT from tables on the same server with the same rows and only the primary key."""

    name = "copy"

    def prepare(self, server: Server, files: Files) -> None:
        for table in files.workload.tables:
            with connect(server.address) as connection:
                execute(connection, f"DROP TABLE IF EXISTS {_source(table)}")
                execute(connection, table.create_sql(name=_source(table), form=TableForm(keys=False)))
            run_statements(server.address, [pieces_sql(files, table, into=_source(table))], sessions=2)
        empty_tables(server, files.workload)

    def load(self, server: Server, files: Files) -> LoadTiming:
        copies = [
            f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {_source(table)}"
            for table in files.workload.tables
            for columns in [", ".join(table.names)]
        ]
        try:
            return run_statements(server.address, [[each] for each in copies])
        finally:
            with connect(server.address) as connection:
                for table in files.workload.tables:
                    execute(connection, f"DROP TABLE {_source(table)}")


def _source(table: WorkloadTable) -> str:
    return f"{table.name}_source"
