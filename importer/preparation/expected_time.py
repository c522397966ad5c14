"""Estimates how long an import will take, by earlier imports of its kind."""

import statistics

from importer.preparation.prepare import PreparedImport
from importer.preparation.previous_imports import past


def expected_seconds(prepared: PreparedImport, rows: int) -> float | None:
    """Seconds for `rows` at the median rate of earlier imports into the table, of a similar size and in the same mode.

    None if there are none.
    """
    table, size = prepared.table, prepared.profile.size - prepared.profile.data_offset
    runs = past(prepared.target, table.schema, table.name, prepared.options.mode, size).runs
    return rows / statistics.median(each.rows_per_second for each in runs) if runs else None
