"""Merges counted kinds of rejects and notices, the most frequent first, at most MOST_KINDS."""

from collections.abc import Iterable
from typing import Any

# {"code", "column", "reason", "rows"} for rejects and skips, with "values" instead of "rows" for notices.
Kind = dict[str, Any]

# The outcomes of rows: fields of both a job and a chunk.
COUNTS = ("loaded_rows", "replaced_rows", "unchanged_rows", "skipped_rows", "rejected_rows")

MOST_KINDS = 200
OTHERS = "Other reasons"


def merged(kinds: Iterable[Kind], amount: str) -> list[Kind]:
    """One entry for each (code, column, reason), its `amount` ("rows" or "values") summed, the greatest first.

    Kinds beyond MOST_KINDS are summed in one last entry, which limits the size of a job's row in the database.
    """
    sums: dict[tuple[str, str, str], int] = {}
    for kind in kinds:
        key = (kind["code"], kind["column"], kind["reason"])
        sums[key] = sums.get(key, 0) + kind[amount]
    others = sums.pop(("", "", OTHERS), 0)
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    others += sum(count for _, count in ordered[MOST_KINDS:])
    entries = [_kind(key, amount, count) for key, count in ordered[:MOST_KINDS]]
    return [*entries, _kind(("", "", OTHERS), amount, others)] if others else entries


def by_reason(kinds: Iterable[Kind], amount: str) -> list[Kind]:
    """One entry for each (column, reason), for people; its code is that of the first kind.

    Rows with one reason can have two codes: Millrace's own, and the number of the server's error.
    """
    entries: dict[tuple[str, str], Kind] = {}
    for kind in kinds:
        entry = entries.setdefault((kind["column"], kind["reason"]), {**kind, amount: 0})
        entry[amount] += kind[amount]
    return sorted(entries.values(), key=lambda kind: (kind["reason"] == OTHERS, -kind[amount]))


def _kind(key: tuple[str, str, str], amount: str, count: int) -> Kind:
    code, column, reason = key
    return {"code": code, "column": column, "reason": reason, amount: count}
