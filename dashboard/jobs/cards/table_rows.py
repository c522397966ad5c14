"""Rows of the table as they stand now, on the page of an import that has ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from importer.connections.source_location import location_of_job
from importer.engine.errors import Problem
from importer.engine.mapping.expressions import is_plain
from importer.engine.mysql.sign_in.reasons import shown as shown_problem
from importer.engine.source.byte_source import open_source, read_at
from importer.engine.source.records.fields import fields, records
from importer.engine.target.table_rows import KeyValues, TableRows, read_rows
from importer.models import ImportJob

MOST_ROWS = 10
# The part of the file in which the keys of its first rows are looked up.
HEAD_BYTES = 2**16


@dataclass(frozen=True)
class Shown:
    """The rows, or the problem why there are none; `before`: about how many rows the table had before the import."""

    table: TableRows | None
    problem: Problem | None
    before: int | None

    @property
    def told(self) -> Mapping[str, Any]:
        """The problem, without its reason if the reader may not know it."""
        return shown_problem(self.problem.as_json()) if self.problem else {}


def counts_on_rows(job: ImportJob) -> bool:
    """Whether the import has committed rows to the table itself, which a retry leaves as they are."""
    return bool(job.rows_in_table) and bool(job.finished or not job.stages)


def emptied(job: ImportJob, shown: Shown) -> bool:
    """Whether the table has lost all rows that the import has committed to it."""
    return shown.table is not None and not shown.table.rows and counts_on_rows(job)


def rows_of(job: ImportJob) -> Shown:
    """Rows of the table now: those of the file's first records if the primary key tells them, else the first rows."""
    before = job.plan.seen.get("rows_before")
    known = int(before) if isinstance(before, int | float) else None
    wanted = None if job.restored_at or known == 0 else _first_keys(job)
    try:
        rows = read_rows(job.target.address, job.schema_name, job.table_name, MOST_ROWS, wanted)
        return Shown(rows, None, known)
    except Problem as problem:
        return Shown(None, problem, known)


def _first_keys(job: ImportJob) -> dict[str, KeyValues] | None:
    """The file's first records as values of the table's primary key; None where they are unknown.

    They are known if the file is there, and its fields go into the key's columns unchanged. An import in the order of
    the key has the lowest keys first in its working copy.
    """
    key = [name for name in str(job.plan.seen.get("primary_key", "none")).split(", ") if name != "none"]
    places = {each.column.lower(): at for at, each in enumerate(job.mapping) if is_plain(each)}
    if not key or any(name.lower() not in places for name in key):
        return None
    rows = [row for row in _first_records(job) if len(row) == len(job.mapping)]
    if not rows or not all(value.isascii() for row in rows for value in row):
        return None
    return {name: [row[places[name.lower()]].decode() for row in rows] for name in key}


def _first_records(job: ImportJob) -> list[list[bytes]]:
    try:
        with open_source(location_of_job(job)) as fd:
            data = read_at(fd, HEAD_BYTES, job.data_offset)
    except (OSError, Problem):
        return []
    found = []
    for each in records(data, job.dialect, final=len(data) < HEAD_BYTES):
        found.append(fields(data[each.start : each.end], job.dialect))
        if len(found) == MOST_ROWS:
            break
    return found
