"""LOAD DATA LOCAL as it comes, with no scan, no ledger and no checks: one file, or pieces over several sessions."""

from pathlib import Path

from bench.files import Files
from bench.servers import Server
from bench.ways.client import run_statements
from bench.ways.way import AFTER, BEFORE, Clocked, Way
from bench.workloads.table import Table

# For what puts keys on: several threads and sorting in memory (MySQL manual, Configuring Parallel Threads for Online
# DDL Operations).
DDL_SETTINGS = {"innodb_ddl_threads": 4, "innodb_ddl_buffer_size": 256 * 2**20}


class Single(Way):
    """The whole file in one statement and one session."""

    name = "single"
    raw = True

    def load(self, server: Server, files: Files) -> Clocked:
        return run_statements(server.address, [[_whole(files, table)] for table in files.workload.tables])


class Split(Way):
    """Files that were split beforehand, over so many sessions; keys in place, or put on when all rows are in."""

    raw = True

    def __init__(self, sessions: int, keys: str = BEFORE) -> None:
        self.keys = keys
        self.sessions = sessions
        self.name = f"{'split' if keys == BEFORE else 'after'}-{sessions}"

    def load(self, server: Server, files: Files) -> Clocked:
        tables = files.workload.tables
        later = [each for table in tables for each in table.add_keys_sql] if self.keys == AFTER else []
        steps = [pieces_sql(files, table) for table in tables]
        return run_statements(server.address, steps, self.sessions, settings=DDL_SETTINGS, last=later, keys=self.keys)


def pieces_sql(files: Files, table: Table, into: str = "") -> list[str]:
    """A statement for each piece of the table's file, into the table or another one with its columns."""
    return [_statement(piece, table, files.separator, into=into) for piece in files.pieces(table)]


def _whole(files: Files, table: Table) -> str:
    return _statement(files.whole(table), table, files.separator, header=True)


def _statement(path: Path, table: Table, separator: str, *, into: str = "", header: bool = False) -> str:
    variables = [f"@{each.name}" if each.hexadecimal else each.name for each in table.fields]
    assignments = [f"{each.name} = UNHEX(@{each.name})" for each in table.fields if each.hexadecimal]
    return (
        f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {into or table.name} CHARACTER SET utf8mb4"
        f" FIELDS TERMINATED BY '{separator}' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n'"
        f"{' IGNORE 1 LINES' if header else ''} ({', '.join(variables)})"
        + (f" SET {', '.join(assignments)}" if assignments else "")
    )
