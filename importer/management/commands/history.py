"""`millrace history`: shows finished imports with any of their facts, filtered and sorted."""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from importer import jobs
from importer.history.export import as_csv, as_json
from importer.history.formatting import in_words
from importer.history.query import Condition, Query, columns_of
from importer.history.search import every_row
from importer.management.base_command import PreparedCommand
from importer.management.terminal.history_words import (
    add_history_options,
    conditions,
    fact_lines,
    most_rows,
    table_lines,
)
from importer.management.terminal.one_document import DEST


class Command(PreparedCommand):
    only_shows = True
    help = "Show settings, timings and other facts of imports that have ended."

    def add_arguments(self, parser: CommandParser) -> None:
        add_history_options(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["facts"]:
            self._print(f"{line}\n" for line in fact_lines())
            return
        while late := jobs.jobs_without_record():
            for job_id in late:
                jobs.write_record(job_id)
        query = _query(options)
        rows = every_row(query, most_rows(options))
        if options[DEST]:
            self.give_parts(as_json(query.columns, rows))
        elif options["csv"]:
            self._print(as_csv(query.columns, rows))
        else:
            lines = table_lines(query.columns, (row.facts for row in rows), in_words)
            self._print(f"{line}\n" for line in lines)

    def _print(self, parts: Iterable[str]) -> None:
        for part in parts:
            self.stdout.write(part, ending="")


def _query(options: dict[str, Any]) -> Query:
    stated = tuple(Condition.read(*each) for each in conditions(options))
    return Query(stated, columns_of(options["columns"]), options["sort"])
