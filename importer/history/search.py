"""The imports that a query asks for, in its order, and a page of what is known of them.

Conditions and order are worked out here, not in the database: so texts compare alike whatever it is and collates.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from importer.history.facts import Value
from importer.history.query import Query
from importer.history.read import FEW, column, narrowed, recorded, rows


@dataclass(frozen=True)
class Row:
    """An import, and what is known of the facts that were asked for."""

    job: int
    facts: dict[str, Value]


@dataclass(frozen=True)
class Page:
    """Some of the imports that were found, of `found` altogether."""

    number: int
    pages: int
    found: int
    rows: tuple[Row, ...]


def matching(query: Query) -> list[int]:
    """The ids of the imports for which all conditions hold, in no order."""
    found: list[int] | None = None
    for condition in query.conditions:
        if condition.needs_all:
            found = recorded() if found is None else found
            told = column(condition.name, found)
            found = [job for job in found if condition.holds(told.get(job))]
        else:
            told = narrowed(condition.name, *condition.limits, found)
            among = told.keys() if found is None else told.keys() & set(found)
            found = [job for job in among if condition.holds(told[job])]
    return recorded() if found is None else found


def in_order(query: Query) -> list[int]:
    """The same in the query's order."""
    found = matching(query)
    told = column(query.sorted_by, found)
    newest_first = sorted(found, reverse=True)
    known = [job for job in newest_first if job in told]
    known.sort(key=lambda job: told[job], reverse=query.descending)
    # reverse keeps the order of equals (docs.python.org, Sorting Techniques).
    return known + [job for job in newest_first if job not in told]


def page(query: Query) -> Page:
    """The page that is asked for, or the last one if there are fewer."""
    found = in_order(query)
    pages = max(1, -(-len(found) // query.rows))
    number = min(max(1, query.page), pages)
    shown = found[(number - 1) * query.rows : number * query.rows]
    told = rows(shown, query.columns)
    return Page(number, pages, len(found), tuple(Row(job, told[job]) for job in shown))


def every_row(query: Query, most: int | None = None) -> Iterator[Row]:
    """All rows of all pages, or the first so many, read in parts."""
    found = iter(in_order(query) if most is None else in_order(query)[:most])
    while part := list(islice(found, FEW)):
        told = rows(part, query.columns)
        yield from (Row(job, told[job]) for job in part)


def values_of(name: str, among: Collection[int] | None = None) -> list[Value]:
    """The different values that a fact has had, in their order: what a filter can offer."""
    told = column(name, among)
    chosen = told.values() if among is None else (told[job] for job in among if job in told)
    return sorted(set(chosen))
