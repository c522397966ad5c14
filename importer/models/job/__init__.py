"""An import and its attempts: the present one is a part of the import's row, each earlier one has a row of its own."""

from importer.models.job.attempt import Attempt, PhaseSeconds
from importer.models.job.job import (
    ACCOUNTED_ROWS,
    COMMITTED_ROWS,
    LINES_AFTER,
    LINES_AMONG,
    LINES_BEFORE,
    ROWS_IN_TABLE,
    ImportJob,
)

__all__ = [
    "ACCOUNTED_ROWS",
    "COMMITTED_ROWS",
    "LINES_AFTER",
    "LINES_AMONG",
    "LINES_BEFORE",
    "ROWS_IN_TABLE",
    "Attempt",
    "ImportJob",
    "PhaseSeconds",
]
