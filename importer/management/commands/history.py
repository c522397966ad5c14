"""`millrace history`: shows finished imports with any of their facts, filtered and sorted."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.core.management.base import CommandParser

from importer import jobs
from importer.history.export import as_csv, as_json
from importer.history.facts import FACTS
from importer.history.formatting import in_words
from importer.history.query import NEWEST_FIRST, USUAL, Condition, Op, Query
from importer.history.search import Row, every_row
from importer.management.base_command import PreparedCommand
from importer.management.command_line.one_document import DEST, FLAG

LIMIT = 50
ALL = "all"


class Command(PreparedCommand):
    only_shows = True
    help = "Show settings, timings and other facts of imports that have ended."

    def add_arguments(self, parser: CommandParser) -> None:
        forms = parser.add_mutually_exclusive_group()
        forms.add_argument(FLAG, dest=DEST, action="store_true", help="print a document with an object for each import")
        forms.add_argument("--csv", action="store_true", help="print a line for each import, below a header")
        forms.add_argument("--facts", action="store_true", help="list all facts instead of imports")
        parser.add_argument(
            "--table", metavar="SCHEMA.TABLE", help="only imports into this table; TABLE alone: of any schema"
        )
        parser.add_argument("--target", metavar="NAME")
        parser.add_argument(
            "--columns", nargs="+", metavar="FACT", default=USUAL, help=f"names listed by --facts, or {ALL}"
        )
        parser.add_argument(
            "--sort",
            metavar="FACT",
            default=NEWEST_FIRST,
            help="-FACT (written --sort=-FACT) sorts in descending order",
        )
        parser.add_argument(
            "--where",
            nargs=3,
            action="append",
            default=[],
            metavar=("FACT", "OP", "VALUE"),
            help=f"may be repeated; OP is one of {' '.join(op.value for op in Op)}, VALUE may be unknown",
        )
        parser.add_argument(
            "--limit", type=int, help=f"most imports to show (default: {LIMIT} in a table, all as JSON or CSV)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["facts"]:
            self._print(_facts())
            return
        while late := jobs.jobs_without_record():
            for job_id in late:
                jobs.write_record(job_id)
        query = _query(options)
        exported = options[DEST] or options["csv"]
        rows = every_row(query, options["limit"] if exported or options["limit"] else LIMIT)
        if options[DEST]:
            self.give_parts(as_json(query.columns, rows))
            return
        formatted = as_csv if options["csv"] else _as_table
        self._print(formatted(query.columns, rows))

    def _print(self, parts: Iterable[str]) -> None:
        for part in parts:
            self.stdout.write(part, ending="")


def _query(options: dict[str, Any]) -> Query:
    conditions = list(options["where"])
    if table := options["table"]:
        conditions.append(("table", "=", table) if "." in table else ("table_name", "=", table))
    if target := options["target"]:
        conditions.append(("target", "=", target))
    columns = tuple(FACTS) if options["columns"] == [ALL] else tuple(options["columns"])
    return Query(tuple(Condition.read(*each) for each in conditions), columns, options["sort"])


def _facts() -> Iterator[str]:
    for name, fact in FACTS.items():
        yield f"{name:36} {fact.kind.value:16} {fact.group.value}: {fact.title}\n"


def _as_table(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    lines = [tuple(columns)] + [tuple(in_words(name, row.facts.get(name)) for name in columns) for row in rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    numbers = [FACTS[name].kind.is_number for name in columns]
    for line in lines:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        ]
        yield f"{'  '.join(cells).rstrip()}\n"
