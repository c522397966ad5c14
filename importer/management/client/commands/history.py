"""`millrace --server URL history`."""

import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from config.contracts.documents import HISTORY
from importer.history.facts import FACTS, Kind
from importer.history.formatting import in_words
from importer.history.query import columns_of
from importer.management.client.commands.context import CommandContext
from importer.management.terminal.history_words import (
    add_history_options,
    conditions,
    fact_lines,
    most_rows,
    table_lines,
)

LARGEST_PAGE = 200  # imports that the server gives at once

add_arguments = add_history_options


def run(context: CommandContext) -> int:
    """Print the facts of the imports that the token may see, in the form that is asked for."""
    options = vars(context.options)
    if options["facts"]:
        for line in fact_lines():
            context.output.say(line)
        return 0
    query = {
        "columns": list(options["columns"]),
        "sort": options["sort"],
        "where": [" ".join(each) for each in conditions(options)],
    }
    most = most_rows(options)
    if options["csv"]:
        limit = {"limit": most} if most else {}
        sys.stdout.buffer.writelines(context.millrace.download("export", **query, **limit))
        return 0
    rows = islice(_rows(context, query, most), most)
    if options["as_json"]:
        context.output.give(HISTORY, {"jobs": list(rows)})
        return 0
    for line in table_lines(columns_of(options["columns"]), rows, _in_words):
        context.output.say(line)
    return 0


def _rows(context: CommandContext, query: dict[str, Any], most: int | None) -> Iterator[dict[str, Any]]:
    return context.millrace.pages("history", **query, limit=min(most or LARGEST_PAGE, LARGEST_PAGE))


def _in_words(name: str, value: Any) -> str:
    """A value of the document in words. Its times have a zone."""
    if value is not None and FACTS[name].kind is Kind.MOMENT:
        return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M:%S}"
    return in_words(name, value)
