"""Estimates how long an import will take, by earlier imports of its kind."""

import statistics

from importer.preparation.prepare import PreparedImport


def expected_seconds(prepared: PreparedImport, rows: int) -> float | None:
    """Seconds for `rows` at the median rate of earlier imports into the table, as previous_imports.past() chooses them.

    None if there are none.
    """
    runs = prepared.previous.runs
    return rows / statistics.median(each.rows_per_second for each in runs) if runs else None
