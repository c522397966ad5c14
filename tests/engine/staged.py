"""Runs imports in write modes with a staging table, step by step as workers do, without the application."""

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
from uuid import uuid4

from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.finish import FinishingStep, finish
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.dependencies import read_dependencies
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import scan
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.target import staging
from tests.engine.loads import with_files

DIALECT = replace(RFC4180, header=False)


@dataclass
class Import:
    """One import of a file into the table `t`."""

    address: Address
    path: Path
    plan: ImportPlan
    job: str
    options: Options
    dialect: Dialect = DIALECT
    staged_rows: int = 0
    staged: Tally | None = None

    def stage(self, shuffled: bool = False) -> Self:
        """Make the staging table and load all chunks; `shuffled`: in another order than the file's. The import."""
        staged = self.plan.staged
        if staged.mode == "replace":
            with connect(self.address) as connection:
                staged = staging.with_definition(connection, self.plan.schema, staged)
        with connect(self.address) as connection:
            digest = staging.create(connection, self.plan.schema, self.job, staged)
        self.plan = replace(self.plan, table_digest=digest, staged=staged)
        self.staged = self.load(shuffled)
        self.staged_rows += self.staged.loaded
        return self

    def load(self, shuffled: bool = False, attempt: int = 1) -> Tally:
        """Load all chunks; the sum of their tallies."""
        chunks = self.chunks()
        if shuffled:
            random.Random(7).shuffle(chunks)
        tallies = []
        for chunk in chunks:
            work = ChunkLoad(
                self.job, attempt, self.path, self.address, self.dialect, self.plan, chunk, options=self.options
            )
            tallies.append(load_chunk(work, LoadCallbacks()).tally)
        return Tally(*(sum(getattr(each, name) for each in tallies) for name in Tally.__dataclass_fields__))

    def chunks(self) -> list:
        with open_source(self.path) as fd:
            size = self.path.stat().st_size
            return list(scan(fd, self.dialect, ChunkSizes(self.plan.chunk_bytes), end=size))

    def work(self, attempt: int = 1) -> FinishingStep:
        exact = self.options.on_duplicate != "replace"
        return FinishingStep(self.job, attempt, self.address, self.plan, self.staged_rows, exact=exact)

    def finish(self, attempt: int = 1) -> Tally:
        return finish(self.work(attempt), LoadCallbacks())

    def tables(self) -> set[str]:
        with connect(self.address) as connection:
            return {row[0] for row in fetch_all(connection, "SHOW TABLES")}


def planned(
    address: Address, path: Path, mode: str, *columns: ColumnMapping | str, dialect: Dialect = DIALECT, **options
) -> Import:
    """An import planned for table t as it is now; `columns` take the fields of the file in order."""
    job, options = str(uuid4()), Options(mode=mode, **{"chunk_bytes": 100, **options})
    with connect(address) as connection:
        table = read_table(connection, address.database, "t")
        dependencies = read_dependencies(connection, address.database, "t")
        server = with_files(read_server(connection, address), path.parent)
    mapping = tuple(ColumnMapping(each) if isinstance(each, str) else each for each in columns)
    plan = make_plan(
        PlanningContext(
            path.stat().st_size, dialect, table, mapping, options, server, job=job, dependencies=dependencies
        )
    )
    return Import(address, path, plan, job, options, dialect)


def given(address: Address, *statements: str) -> None:
    """Run statements on a database that has a ledger."""
    with connect(address) as connection:
        ledger.create(connection)
        for statement in statements:
            execute(connection, statement)


def rows_of(address: Address, sql: str = "SELECT * FROM t ORDER BY 1") -> list[tuple]:
    with connect(address) as connection:
        return fetch_all(connection, sql)
