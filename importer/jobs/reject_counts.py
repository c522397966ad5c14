"""Counted kinds of rejects and notices: merged, the commonest first, and never more than a page can show."""

from collections.abc import Iterable
from typing import Any

# {"code", "column", "reason", "rows"} for rejects and skips, with "values" instead of "rows" for notices.
Kind = dict[str, Any]

# What becomes of rows: fields of both a job and a chunk.
COUNTS = ("loaded_rows", "replaced_rows", "skipped_rows", "rejected_rows")

MOST_KINDS = 200
OTHERS = "Other reasons"


def merged(kinds: Iterable[Kind], amount: str) -> list[Kind]:
    """One entry for each (code, column, reason), its `amount` ("rows" or "values") summed, the greatest first.

    What exceeds MOST_KINDS is added up in one last entry, so that no file makes a job's row in the database heavy.
    """
    sums: dict[tuple[str, str, str], int] = {}
    for kind in kinds:
        key = (kind["code"], kind["column"], kind["reason"])
        sums[key] = sums.get(key, 0) + kind[amount]
    others = sums.pop(("", "", OTHERS), 0)
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    others += sum(count for _, count in ordered[MOST_KINDS:])
    found = [_kind(key, amount, count) for key, count in ordered[:MOST_KINDS]]
    return [*found, _kind(("", "", OTHERS), amount, others)] if others else found


def by_reason(kinds: Iterable[Kind], amount: str) -> list[Kind]:
    """The same for people: one entry for each (column, reason), whoever found it, with the code most of them have.

    Some of them we refuse before they are sent, and some the server refuses, with a number of its own.
    """
    found: dict[tuple[str, str], Kind] = {}
    for kind in kinds:
        same = found.setdefault((kind["column"], kind["reason"]), {**kind, amount: 0})
        same[amount] += kind[amount]
    return sorted(found.values(), key=lambda kind: (kind["reason"] == OTHERS, -kind[amount]))


def _kind(key: tuple[str, str, str], amount: str, count: int) -> Kind:
    code, column, reason = key
    return {"code": code, "column": column, "reason": reason, amount: count}
