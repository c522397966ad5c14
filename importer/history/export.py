"""Exports the history as CSV or JSON, row by row as it is read."""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.utils import timezone

from config.contracts.documents import HISTORY
from importer.engine.load.rejects.formulas import escape_formulas
from importer.history.facts import FACTS, Kind, Value
from importer.history.search import Row


class _LineWriter:
    """A file for csv.writer whose write() returns the line."""

    def write(self, line: str) -> str:
        return line


def as_csv(columns: Iterable[str], rows: Iterable[Row]) -> Iterator[str]:
    """A header and a line for each import (RFC 4180). Unknown facts are empty, switches yes or no.

    Times are in the current zone, with its offset from UTC. A text that a spreadsheet would read as a formula gets an
    apostrophe in front.
    """
    names = list(columns)
    writer: Any = csv.writer(_LineWriter())
    yield writer.writerow(names)
    for row in rows:
        yield writer.writerow([_cell(name, row.facts.get(name)) for name in names])


def documents(columns: Iterable[str], rows: Iterable[Row]) -> Iterator[dict[str, Value | None]]:
    """An object for each import. Unknown facts are null; times as in as_csv()."""
    names = list(columns)
    return ({name: _value(name, row.facts.get(name)) for name in names} for row in rows)


def as_json(columns: Iterable[str], rows: Iterable[Row]) -> Iterator[str]:
    """A document with `jobs`: an object on its own line for each."""
    return HISTORY.parts("jobs", documents(columns, rows))


def _cell(name: str, value: Value | None) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return escape_formulas(value)
    return _value(name, value)


def _value(name: str, value: Value | None) -> Value | None:
    if value is not None and FACTS[name].kind is Kind.MOMENT:
        return datetime.fromtimestamp(float(value), timezone.get_current_timezone()).isoformat(timespec="milliseconds")
    return value
