"""Finds the imports of a query, sorts them, and returns pages of their facts.

Conditions and order are evaluated in Python, so that texts compare in the same way with every database and collation.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from importer.history.facts import Value
from importer.history.query import Condition, Query
from importer.history.read import FEW, column, narrowed, recorded, rows


@dataclass(frozen=True)
class Row:
    """An import with its known values of the query's columns."""

    job: int
    facts: dict[str, Value]


@dataclass(frozen=True)
class Page:
    """One page of the imports of a query; `found` is the number on all pages."""

    number: int
    pages: int
    found: int
    rows: tuple[Row, ...]


def matching(query: Query) -> list[int]:
    """The ids of the imports for which all conditions hold, in no order."""
    jobs: list[int] | None = None
    for number, condition in enumerate(query.conditions):
        if jobs is not None and len(jobs) <= FEW:
            return _matching(query.conditions[number:], jobs)
        if condition.needs_all:
            jobs = recorded() if jobs is None else jobs
            values = column(condition.name, jobs)
            jobs = [job for job in jobs if condition.holds(values.get(job))]
        else:
            values = narrowed(condition.name, *condition.limits, jobs)
            among = values.keys() if jobs is None else values.keys() & set(jobs)
            jobs = [job for job in among if condition.holds(values[job])]
    return recorded() if jobs is None else jobs


def _matching(conditions: Sequence[Condition], jobs: Sequence[int]) -> list[int]:
    """Those of a few imports for which all conditions hold: one query reads all facts."""
    known = rows(jobs, {each.name for each in conditions}) if jobs else {}
    return [job for job in jobs if all(each.holds(known[job].get(each.name)) for each in conditions)]


def in_order(query: Query) -> list[int]:
    """The ids of the imports for which all conditions hold, in the query's order."""
    jobs = matching(query)
    values = column(query.sorted_by, jobs)
    newest_first = sorted(jobs, reverse=True)
    known = [job for job in newest_first if job in values]
    known.sort(key=lambda job: values[job], reverse=query.descending)
    # reverse keeps the order of equals (docs.python.org, Sorting Techniques).
    return known + [job for job in newest_first if job not in values]


def page(query: Query) -> Page:
    """The page of the query, or the last page if there are fewer."""
    jobs = in_order(query)
    pages = max(1, -(-len(jobs) // query.rows))
    number = min(max(1, query.page), pages)
    shown = jobs[(number - 1) * query.rows : number * query.rows]
    facts = rows(shown, query.columns)
    return Page(number, pages, len(jobs), tuple(Row(job, facts[job]) for job in shown))


def every_row(query: Query, most: int | None = None) -> Iterator[Row]:
    """All rows of all pages, or the first `most`, read in parts of FEW."""
    return rows_of(query.columns, in_order(query)[:most])


def rows_of(columns: Sequence[str], jobs: Iterable[int]) -> Iterator[Row]:
    """The rows of these imports, in this order, read in parts of FEW."""
    left = iter(jobs)
    while part := list(islice(left, FEW)):
        facts = rows(part, columns)
        yield from (Row(job, facts[job]) for job in part)


def values_of(name: str, among: Collection[int] | None = None) -> list[Value]:
    """The different values of a fact, sorted: the choices of a filter."""
    values = column(name, among)
    chosen = values.values() if among is None else (values[job] for job in among if job in values)
    return sorted(set(chosen))
