"""`millrace history`: shows finished imports with any of their facts, filtered and sorted."""

from collections.abc import Iterator, Sequence
from typing import Any

from importer.history.export import as_csv, documents
from importer.history.query import Condition, Query, columns_of
from importer.history.search import Row, every_row
from importer.jobs.record import jobs_without_record, write_record
from importer.management.base_command import PreparedCommand
from importer.management.verbs.history import HISTORY_VERB


def _found(
    columns: Sequence[str], sort: str, where: Sequence[str], most: int | None = None
) -> tuple[Sequence[str], Iterator[Row]]:
    while late := jobs_without_record():
        for job_id in late:
            write_record(job_id)
    conditions = tuple(Condition.read(*each.split(" ", 2)) for each in where)
    query = Query(conditions, columns_of(columns), sort)
    return query.columns, every_row(query, most)


def _history(**asked: Any) -> Iterator[dict[str, Any]]:
    return documents(*_found(**asked))


def _export(limit: int | None = None, **asked: Any) -> Iterator[bytes]:
    return (line.encode() for line in as_csv(*_found(**asked, most=limit)))


class Command(PreparedCommand):
    only_shows = True
    help = "Show settings, timings and other facts of imports that have ended."
    verbs = HISTORY_VERB
    operations = {"history": _history, "export": _export}
