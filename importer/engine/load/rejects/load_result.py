"""Interprets the server's report on a load: whether all rows are stored as sent, and which are refused or skipped."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from importer.engine.load.methods import Report
from importer.engine.load.rejects.server_warnings import (
    DUPLICATE,
    TRUNCATED,
    ServerWarning,
    Warnings,
    by_number,
    by_trace,
)
from importer.engine.source.records.row_error import RowError

WarningsByRow = Mapping[int, ServerWarning]


@dataclass(frozen=True)
class Tolerance:
    """What the options allow: `skips` duplicates; `rounding` of values and cutting off their trailing spaces."""

    skips: bool = False
    rounding: bool = False

    def allows(self, warning: ServerWarning) -> bool:
        return self.rounding and warning.note and warning.code == TRUNCATED


@dataclass(frozen=True)
class LoadResult:
    """The meaning of the server's report on one statement. Rows are numbered from 0 among those that were sent.

    `accepted`: the table holds every row as it was sent, except the `refused` ones and the `skipped` duplicates, where
    the options skip them. If not accepted, `refused` are the rows that are certainly bad. `noted` counts, by column,
    values that lost digits or trailing spaces where the options allow it. `cut`: the server has more warnings than it
    lists. `first_warning` is the first of those that are not allowed.
    """

    accepted: bool
    refused: WarningsByRow = field(default_factory=dict)
    skipped: WarningsByRow = field(default_factory=dict)
    noted: Mapping[str, int] = field(default_factory=dict)
    deleted: int = 0
    unchanged: int = 0
    cut: bool = False
    first_warning: ServerWarning | None = None


@dataclass
class ServerFindings:
    """What the server has found about the chunk, by row (from 0).

    `refused` rows are rejected, `skipped` ones are duplicates that the options allow to skip. `noted` counts values, by
    column, that lost digits or trailing spaces; None if the server had more Notes than its list shows, but as many as
    were expected. `deleted` rows were replaced by new ones, `unchanged` ones met equal rows.
    """

    refused: dict[int, RowError | ServerWarning] = field(default_factory=dict)
    skipped: dict[int, ServerWarning] = field(default_factory=dict)
    noted: Counter[str] | None = field(default_factory=Counter)
    deleted: int = 0
    unchanged: int = 0


# No warnings and all rows stored: the result of most loads.
CLEAN = LoadResult(accepted=True)


def interpret(
    report: Report, warnings: Warnings, sent: int, tolerance: Tolerance, expected_notes: int = 0
) -> LoadResult:
    """The result of a LOAD DATA of `sent` rows that ended without an error.

    If the list of warnings is cut off, the load is accepted only if all listed ones are allowed Notes, and the number
    of all warnings is as expected.
    """
    if report == Report(records=sent):
        return CLEAN
    disallowed = warnings.without(tolerance.allows)
    noted = Counter(warning.column for _, warning in warnings.all if tolerance.allows(warning))
    cut = report.warnings > warnings.listed
    traced = by_trace(disallowed) if warnings.rows_traced == sent else {}
    # Records does not count rows refused by a foreign key or a CHECK (MySQL), or by a CHECK (MariaDB):
    # server-behaviour.md.
    whole = report.records - report.skipped == sent - len(traced)
    nothing_changed = not by_number(disallowed) and (bool(traced) or not disallowed.all)
    accepted = whole and nothing_changed and (not cut or (not disallowed.all and report.warnings == expected_notes))
    skipped = {row: warning for row, warning in traced.items() if tolerance.skips and warning.code == DUPLICATE}
    refused = {row: warning for row, warning in traced.items() if row not in skipped}
    return LoadResult(
        accepted=accepted,
        refused=refused if accepted else _named(disallowed, refused, counts_all=report.records == sent),
        skipped=skipped if accepted else {},
        noted=noted,
        deleted=report.deleted,
        unchanged=report.unchanged,
        cut=cut,
        first_warning=disallowed.all[0][1] if disallowed.all else None,
    )


def _named(disallowed: Warnings, traced: WarningsByRow, *, counts_all: bool) -> WarningsByRow:
    """The rows to leave out. Duplicates only if no row is bad otherwise, since they may be duplicates of a bad row.

    Rows that the server does not count in Records are not counted in its row numbers either, which are then useless.
    """
    numbered = by_number(disallowed) if counts_all else {}
    bad = {row: warning for row, warning in traced.items() if warning.code != DUPLICATE}
    return {**bad, **numbered} or traced
