"""What the server's report about a load means: whether it accepted, and which rows it names."""

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

WarningsByRow = Mapping[int, ServerWarning]


@dataclass(frozen=True)
class Tolerance:
    """What may happen to a row: `skips` it if its key is there already, `rounding` and cutting off trailing spaces."""

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
    cut: bool = False
    first_warning: ServerWarning | None = None


@dataclass
class ServerFindings:
    """All that the server has said about the chunk's rows, by row (from 0).

    `refused` rows are rejected, `skipped` ones are duplicates that the options allow to skip. `noted` counts values, by
    column, that lost digits or trailing spaces; None if the server had more Notes than its list shows, but as many as
    were expected. `deleted` rows were replaced by new ones.
    """

    refused: dict[int, ServerWarning] = field(default_factory=dict)
    skipped: dict[int, ServerWarning] = field(default_factory=dict)
    noted: Counter[str] | None = field(default_factory=Counter)
    deleted: int = 0


# Nothing is the matter: what most loads get, and the quickest to say.
CLEAN = LoadResult(accepted=True)


def interpret(
    report: Report, warnings: Warnings, sent: int, tolerance: Tolerance, expected_notes: int = 0
) -> LoadResult:
    """The answer about a LOAD DATA of `sent` rows that ended without an error.

    Where the list of warnings is cut, it accepted only if it shows nothing but Notes and their number is as expected.
    """
    if report == Report(records=sent):
        return CLEAN
    said = warnings.without(tolerance.allows)
    noted = Counter(warning.column for _, warning in warnings.all if tolerance.allows(warning))
    cut = report.warnings > warnings.listed
    kept_out = by_trace(said) if warnings.rows_traced == sent else {}
    # On MySQL, Records leaves out what a foreign key or a CHECK refused, on MariaDB a CHECK only (server-behaviour.md).
    whole = report.records - report.skipped == sent - len(kept_out)
    nothing_changed = not by_number(said) and (bool(kept_out) or not said.all)
    accepted = whole and nothing_changed and (not cut or (not said.all and report.warnings == expected_notes))
    skipped = {row: warning for row, warning in kept_out.items() if tolerance.skips and warning.code == DUPLICATE}
    refused = {row: warning for row, warning in kept_out.items() if row not in skipped}
    return LoadResult(
        accepted=accepted,
        refused=refused if accepted else _named(said, refused, counts_all=report.records == sent),
        skipped=skipped if accepted else {},
        noted=noted,
        deleted=report.deleted,
        cut=cut,
        first_warning=said.all[0][1] if said.all else None,
    )


def _named(said: Warnings, kept_out: WarningsByRow, *, counts_all: bool) -> WarningsByRow:
    """The rows to leave out, duplicates only if nothing else is wrong: they may be duplicates of such a row.

    Rows that the server leaves out of Records are not counted in its row numbers either, which then mean other rows.
    """
    numbered = by_number(said) if counts_all else {}
    others = {row: warning for row, warning in kept_out.items() if warning.code != DUPLICATE}
    return {**others, **numbered} or kept_out
