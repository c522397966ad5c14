"""Load some text the way an import does, from profile to table, with bad rows left out; what became of it."""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.chunks.scanner import Position
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import profile_file
from tests.engine.loads import given_table, load_file, rows_of

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
    given_table(database, columns)
    begin = Position(profile.data_offset, profile.data_line)
    loaded = load_file(
        database, path, mapping, options, dialect=profile.dialect, chunk_bytes=chunk_bytes, begin=begin, job=job
    )
    bad = [(int(line), column, value, code) for line, _, column, value, code, _ in loaded.explained]
    notices: Counter[tuple[str, str]] = Counter()
    for outcome in loaded.outcomes:
        notices.update({(each.column, each.code): each.values for each in outcome.notices})
    return Came(rows_of(database), bad, notices, loaded.tally)
