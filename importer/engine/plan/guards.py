"""Limits of what an import may change: `deleted>5%`, `changed>1000`. Beyond one of them it changes nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from importer.engine.errors import Problem, TooManyChanges
from importer.engine.units import count_of

# An empty file, or one that was cut, must not empty a table.
DEFAULT_GUARD = "deleted>10%"
COUNTS = ("new", "changed", "deleted")

_GUARD = re.compile(rf"({'|'.join(COUNTS)})\s*>\s*([0-9]{{1,12}}(?:\.[0-9]{{1,6}})?)\s*(%?)")


@dataclass(frozen=True)
class Guard:
    """At most `most` rows of a count may be; with `percent`, that share of the table's rows that are compared."""

    count: str
    most: float
    percent: bool

    def __str__(self) -> str:
        most = f"{self.most:.6f}".rstrip("0").rstrip(".")
        return f"{self.count}>{most}{'%' if self.percent else ''}"

    def allows(self, rows: int, of: int) -> bool:
        """Whether so many rows may be, of `of` that are compared; without any to compare, every share may."""
        return rows * 100 <= self.most * of if self.percent and of else self.percent or rows <= self.most


def read_guards(text: str) -> tuple[Guard, ...]:
    """The limits in a text, separated by commas. Raises Problem for another text."""
    guards = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        match = _GUARD.fullmatch(part)
        if not match:
            raise Problem(
                f"{part!r} is no limit of what an import may change.",
                advice=f"Write {', '.join(COUNTS)} and a number of rows or a percentage: deleted>5%, changed>1000.",
                option="stop_if",
            )
        guards.append(Guard(match[1], float(match[2]), bool(match[3])))
    return tuple(guards)


def beyond(
    text: str, counts: Mapping[str, int], of: int, table: str, where: str, *, marks: bool = False
) -> TooManyChanges | None:
    """The problem if one of the `counts` is beyond a limit, else None; `of` rows of the table are compared.

    `marks`: rows are marked instead of deleted.
    """
    guards = read_guards(text)
    for guard in guards:
        rows = counts[guard.count]
        if not guard.allows(rows, of):
            words = "marked as missing" if marks and guard.count == "deleted" else guard.count
            share = f" ({rows / of:.1%})" if of else ""
            others = [str(each) for each in guards if each.count != guard.count]
            wider = ", ".join((*others, f"{guard.count}>{rows}"))
            return TooManyChanges(
                f"{count_of(rows, 'row')}{share} would be {words}, where the table has {of:,} to compare:"
                f" more than {guard} allows.",
                where=where,
                advice=f"{table} is unchanged. Look whether the file is whole. If it is right, apply it all the same;"
                f" else drop it. A wider limit for other files: --stop-if '{wider}'.",
            )
    return None
