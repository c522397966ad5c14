"""Load some text the way an import does, from profile to table, with bad rows left out; what became of it."""

import csv
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from importer.engine.load import ledger
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.table import read_table
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import Position, ScanPolicy, scan
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import profile_file

REJECT = Options(on_error="reject")


@dataclass(frozen=True)
class Came:
    """The table's rows, the rejects as (line, column, value, code), and the counted notices by column and code."""

    rows: list[tuple]
    rejects: list[tuple[int, str, str, str]]
    notices: Counter[tuple[str, str]]
    tally: Tally


def came_of(
    database: Address,
    folder: Path,
    columns: str,
    data: bytes | str,
    *,
    mapping: Sequence[ColumnMapping | str] = (),
    options: Options = REJECT,
    dialect: Dialect | None = None,
    chunk_bytes: int = 2**20,
    **known: Any,
) -> Came:
    """Load `data` into a new table of these columns, in their order or mapped. Raises what an import raises."""
    job = uuid.uuid4().hex
    folder = folder / job
    folder.mkdir()
    path = folder / "data.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    profile = profile_file(path, dialect, **known)
    with connect(database) as connection:
        execute(connection, "DROP TABLE IF EXISTS t")
        execute(connection, f"CREATE TABLE t ({columns}) CHARACTER SET utf8mb4")
        ledger.create(connection)
        table, server = read_table(connection, database.database, "t"), read_server(connection, database)
    fields = [ColumnMapping(each) if isinstance(each, str) else each for each in mapping or table.column_names]
    plan = make_plan(PlanningContext(profile.size, profile.dialect, table, fields, options, server))
    rejects = folder / "rejects"
    rejects.mkdir()
    with open_source(path) as fd:
        chunks = list(
            scan(
                fd,
                profile.dialect,
                ChunkSizes(chunk_bytes),
                Position(profile.data_offset, profile.data_line),
                end=path.stat().st_size,
                policy=ScanPolicy(exactness=plan.exactness, tolerate=options.on_error == "reject"),
            )
        )
    works = (
        ChunkLoad(job, 1, path, database, profile.dialect, plan, chunk, options=options, rejects=rejects)
        for chunk in chunks
    )
    outcomes = [load_chunk(work, LoadCallbacks()) for work in works]
    explained = "".join(each.read_text("utf-8") for each in sorted(rejects.glob("*.csv")))
    reasons = csv.reader(explained.splitlines(keepends=True))
    bad = [(int(line), column, value, code) for line, _, column, value, code, _ in reasons]
    notices: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        notices.update({(each.column, each.code): each.values for each in outcome.notices})
    tally = Tally(*(sum(getattr(each.tally, name) for each in outcomes) for name in Tally.__dataclass_fields__))
    with connect(database) as connection:
        return Came(fetch_all(connection, "SELECT * FROM t"), bad, notices, tally)
