"""`millrace history`: shows finished imports with any of their facts, filtered and sorted."""

from argparse import ArgumentParser
from codecs import iterdecode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from config.contracts.documents import HISTORY
from importer.history.facts import FACTS, Kind
from importer.history.formatting import in_words
from importer.history.query import ALL, NEWEST_FIRST, USUAL, Op, columns_of
from importer.management.argument_types import bounded
from importer.management.terminal.words import FLAG
from importer.management.verbs.verb import Context, Verb

MOST_SHOWN = 50  # imports in a table
LARGEST_PAGE = 200  # imports that a server gives at once


def _run(context: Context) -> None:
    """Print the facts of the imports that the reader may see, in the form that is asked for."""
    options = vars(context.options)
    query = {
        "columns": list(options["columns"]),
        "sort": options["sort"],
        "where": [" ".join(each) for each in _conditions(options)],
    }
    most = _most(options)
    if options["facts"]:
        lines = _fact_lines()
    elif options["csv"]:
        limit = {"limit": most} if most else {}
        for text in iterdecode(context.api.download("export", **query, **limit), "utf-8"):
            context.output.write(text)
        return
    else:
        found = context.api.pages("history", **query, limit=min(most or LARGEST_PAGE, LARGEST_PAGE))
        rows = islice(found, most)
        if options["as_json"]:
            context.output.give_parts(HISTORY.parts("jobs", rows))
            return
        lines = _table_lines(columns_of(options["columns"]), rows)
    for line in lines:
        context.output.say(line)


def _add_options(parser: ArgumentParser) -> None:
    """Add the options, with --json."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        FLAG, dest="as_json", action="store_true", help="print a document with an object for each import"
    )
    forms.add_argument("--csv", action="store_true", help="print a line for each import, below a header")
    forms.add_argument("--facts", action="store_true", help="list all facts instead of imports")
    text = "only imports into this table; TABLE alone: of any schema"
    parser.add_argument("--table", metavar="SCHEMA.TABLE", help=text)
    parser.add_argument("--target", metavar="NAME", help="only imports on this target")
    text = f"names listed by --facts, or {ALL}"
    parser.add_argument("--columns", nargs="+", metavar="FACT", default=USUAL, help=text)
    text = "-FACT (written --sort=-FACT) sorts in descending order"
    parser.add_argument("--sort", metavar="FACT", default=NEWEST_FIRST, help=text)
    parser.add_argument(
        "--where",
        nargs=3,
        action="append",
        default=[],
        metavar=("FACT", "OP", "VALUE"),
        help=f"may be repeated; OP is one of {' '.join(op.value for op in Op)}, VALUE may be unknown",
    )
    text = f"most imports to show (default: {MOST_SHOWN} in a table, all as JSON or CSV)"
    parser.add_argument("--limit", type=bounded(1, 10**9), metavar="N", help=text)


def _conditions(options: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The fact, the operator and the value of each condition that the options state."""
    stated = [(name, op, value) for name, op, value in options["where"]]
    if table := options["table"]:
        stated.append(("table" if "." in table else "table_name", "=", table))
    if target := options["target"]:
        stated.append(("target", "=", target))
    return stated


def _most(options: Mapping[str, Any]) -> int | None:
    """How many imports are shown; None for all."""
    limit: int | None = options["limit"]
    return limit if limit or options["as_json"] or options["csv"] else MOST_SHOWN


def _fact_lines() -> Iterator[str]:
    """Each fact: its name, kind, group and title."""
    for name, fact in FACTS.items():
        yield f"{name:36} {fact.kind.value:16} {fact.group.value}: {fact.title}"


def _table_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A table of imports, numbers to the right. `rows`: the values of facts by name."""
    lines = [tuple(columns), *(tuple(_in_words(name, row.get(name)) for name in columns) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    numbers = [FACTS[name].kind.is_number for name in columns]
    for line in lines:
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _in_words(name: str, value: Any) -> str:
    """A value of the document in words. Its times have a zone."""
    if value is not None and FACTS[name].kind is Kind.MOMENT:
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M:%S}"
    return in_words(name, value)


HISTORY_VERB = Verb("settings and timings of imports that have ended", _run, (_add_options,))
