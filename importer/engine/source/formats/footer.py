"""Finds a footer below the records of a file or a sheet: a total, or lines below a blank one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from importer.engine.source.decisions import Decision, Standing, answer

MOST_FOOTER_LINES = 5
_NUMBER = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_TOTAL = re.compile(r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|insgesamt|totaux|totale|suma|count)\b", re.I)


@dataclass(frozen=True)
class LastLine:
    """A line at the end. `first`: its first value. `short`: it has fewer values than the table, or none."""

    first: str
    short: bool
    blank: bool = False


def count_footer(upwards: Iterable[LastLine]) -> int:
    """The number of lines at the end that are a footer. `upwards`: the lines from the last one on.

    A footer has fewer values than the table and stands below a blank line, or its first value is a word such as Total.
    """
    count = 0
    for number, line in enumerate(islice(upwards, MOST_FOOTER_LINES), start=1):
        if line.blank:
            return number - 1
        if _TOTAL.match(line.first):
            count = number
        elif not line.short:
            break
    return count


def is_sum(last: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the last row has a number, and each of its numbers is the sum of those above it, of two at least."""
    numbers = [number for number, value in enumerate(last) if _NUMBER.fullmatch(value)]
    return len(rows) > 1 and bool(numbers) and all(_sum(rows, number) == Decimal(last[number]) for number in numbers)


def _sum(rows: Sequence[Sequence[str]], number: int) -> Decimal | None:
    values = [row[number] for row in rows if number < len(row)]
    return sum(map(Decimal, values), Decimal()) if all(map(_NUMBER.fullmatch, values)) else None


def footer_question(count: int, shown: Sequence[str]) -> Decision:
    """The question whether the last lines are a footer. `shown`: those that are not blank."""
    evidence = f"The file ends with {shown[-1]!r}, which is taken for a footer: left out."
    answers = (
        answer("a footer", shown, skip_footer=count),
        answer("records", shown, skip_footer=0),
    )
    return Decision("skip_footer", str(count), Standing.GUESSED, evidence, answers=answers)
