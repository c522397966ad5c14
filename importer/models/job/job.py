"""An import job: one file into one table, with request, plan and progress."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from config.telemetry.traces import ImportTrace
from importer.engine import stored
from importer.engine.errors import is_of_broken_proof
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import is_newer, plan_from_json
from importer.engine.reading.reading import StoredReading, stored_reading
from importer.engine.schema.indexes import ForeignKey
from importer.engine.schema.new_table import NewTable
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines
from importer.engine.source.decoding import needs_copy
from importer.engine.source.dialect import Dialect
from importer.engine.stored import from_json
from importer.engine.target import write_modes
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.lease import backoff_seconds, is_overdue
from importer.models.job.lifetimes import (
    LoadedRows,
    PresentAttempt,
    PresentLoad,
    WholeLife,
    Wish,
    WorkingCopy,
)

# ImportJob.committed_rows, of a job or a chunk, for queries.
COMMITTED_ROWS = models.F("loaded_rows") + models.F("replaced_rows") + models.F("unchanged_rows")
# The same of ImportJob.rows_in_table and ImportJob.accounted_rows.
ROWS_IN_TABLE = models.Case(models.When(restored_at=None, then=COMMITTED_ROWS), default=0)
ACCOUNTED_ROWS = COMMITTED_ROWS + models.F("skipped_rows") + models.F("rejected_rows")
# The parts of ImportJob.lines_json.
LINES_BEFORE, LINES_AMONG, LINES_AFTER = "before", "among", "after"


class ImportJob(Wish, WholeLife, PresentAttempt, PresentLoad, LoadedRows, WorkingCopy):
    """The import of one file into one table. lifetimes.py has its fields.

    unapproved
       ^ |
       | v approval
    waiting -> loading -> finishing -> indexing -> verifying -> succeeded
       |        |  ^          |           |           |
       |        v  | resume   |           |           +--> failed --(retry)--> waiting
       |      paused          |           |
       +--------+-------------+--> cancelling -> cancelled --(retry)--> waiting
                +-------------+-----------+--> failing -> failed

    `waiting`: another job has the table. `unapproved`: the target needs another person's approval of the plan
    (jobs/approval.py); the file is scanned, and nothing is written to the target. A cancel or a refusal ends it.
    `finishing`: in a mode that stages, the staged rows move to their table; other modes skip it. `indexing`: temporary
    changes on the target are undone, if there are any. `failing` and `cancelling`: chunks in flight are ended,
    temporary changes undone, and a staging table dropped; if the finishing step turns out to have taken place,
    `verifying` follows.
    """

    Status: TypeAlias = WholeLife.Status
    Step: TypeAlias = PresentAttempt.Step
    Changes: TypeAlias = PresentLoad.Changes
    Staging: TypeAlias = LoadedRows.Staging

    class Meta:
        # Of one file into one table: SQLite would take the index of the status, which most imports share.
        indexes = [
            models.Index(fields=["source", "target", "schema_name", "table_name"], name="imports_of_file"),
            models.Index(fields=["finished_at"], name="imports_by_end"),
        ]

    def __str__(self) -> str:
        return f"Import {self.pk}"

    @property
    def log_ids(self) -> dict[str, int]:
        """What a log in JSON has of it (config/telemetry/json_lines.py)."""
        return {"job": self.pk}

    @property
    def trace(self) -> ImportTrace:
        """Where the present attempt is in the import's trace."""
        return ImportTrace(self.key, self.attempts)

    @property
    def reading(self) -> StoredReading:
        """The decisions about the file, for pages."""
        return stored_reading(self.reading_json)

    @staticmethod
    def is_held_up(status: str, obstacle: object) -> bool:
        """Whether an import is under way, and the target has refused what its end needs."""
        return bool(obstacle) and status not in ImportJob.ENDED

    @property
    def held_up(self) -> bool:
        return self.is_held_up(self.status, self.obstacle)

    @property
    def next_try(self) -> datetime | None:
        """When what was refused is tried again; None while it is being tried."""
        return self.step_lease if self.held_up and self.step == self.Step.RESTORE_QUEUED else None

    @property
    def last_try(self) -> datetime | None:
        """When it was refused last, which the pause until `next_try` tells; None if somebody has cut that short."""
        if not (self.next_try and self.step_failures):
            return None
        return self.next_try - timedelta(seconds=backoff_seconds(self.step_failures - 1))

    @property
    def overdue(self) -> bool:
        """Whether its next try should have begun: no process works on it."""
        return is_overdue(self.next_try)

    @property
    def ended(self) -> bool:
        return self.status in self.ENDED

    @property
    def dialect(self) -> Dialect:
        """The dialect of the data that is read: the file or its plain copy."""
        plain = replace(self.file_dialect.plain, raw_fields=tuple(self.plan_json.get("raw_fields", ())))
        # A sorted copy has records only.
        return replace(plain, skip_footer=0) if self.is_sorted else plain

    @property
    def needs_copy(self) -> bool:
        """Whether a working copy (plain, sorted, or both) is read instead of the file."""
        return self.is_sorted or self.needs_plain_copy

    @property
    def needs_plain_copy(self) -> bool:
        """Whether the file must be decompressed, transcoded or converted, or its columns moved, before it is read."""
        reordered = any(each.get("order") for each in self.files_json)
        return needs_copy(self.packing, self.file_dialect) or reordered

    @property
    def is_sorted(self) -> bool:
        """Whether the rows are loaded in the order of the primary key."""
        return bool(self.plan_json.get("sorted_by"))

    @property
    def has_places(self) -> bool:
        """Whether the rows of the working copy have other positions in the file (original_positions.py)."""
        return self.is_sorted or self.file_dialect.is_converted

    @property
    def awaits_whole_file(self) -> bool:
        """Whether the new table's types are not known yet, because the file or its plain copy is not complete."""
        if not self.new_table_json:
            return False
        return self.end_unread or (self.needs_plain_copy and not self.scan_finished) or self.source.arriving

    @property
    def copy_file(self) -> Path:
        """The path of the working copy, if the job needs one and it is on this host."""
        return settings.PLAIN_DIR / self.plain_copy

    @property
    def read_size(self) -> int:
        """Bytes of the file or the working copy that is read; an estimate until the copy is complete."""
        return self.plain_size or self.source.size

    @property
    def joined_files(self) -> tuple[JoinedFile, ...]:
        """The files of an import of several, as they lie in what is read; none for an import of one file."""
        return tuple(from_json(JoinedFile, each) for each in self.files_json)

    @cached_property
    def file_names(self) -> tuple[str, ...]:
        """The names of the files of an import of several, in their order."""
        return tuple(each["name"] for each in self.files_json)

    @property
    def data_bytes(self) -> int:
        """Bytes that are read, without BOM and header."""
        return max(0, self.read_size - self.data_offset)

    @property
    def is_newer(self) -> bool:
        """Whether a newer release has planned the import: workers of this release then leave it alone."""
        return is_newer(self.plan_json)

    @property
    def plan(self) -> ImportPlan:
        return plan_from_json(self.plan_json)

    @property
    def new_table(self) -> NewTable | None:
        """The table that mode create creates."""
        return from_json(NewTable, self.new_table_json) if self.new_table_json else None

    @property
    def temporary_changes(self) -> TemporaryChanges | None:
        """The recorded temporary changes on the target; None before they are recorded or if there are none."""
        return stored.from_json(TemporaryChanges, self.arrangement_json) if self.arrangement_json else None

    @property
    def unchecked(self) -> tuple[ForeignKey, ...]:
        """Foreign keys that were not checked during the load, until a check finds all parent rows."""
        return tuple(from_json(ForeignKey, each) for each in self.unchecked_json)

    @property
    def awaits_changes(self) -> bool:
        """Whether columns or temporary changes must be made on the target before the first chunk."""
        planned = any(self.plan_json.get(name) for name in ("arrangement", "added_columns"))
        return planned and self.changes in (self.Changes.NONE, self.Changes.BEGUN)

    @property
    def stages(self) -> bool:
        """Whether the table stays unchanged until the finishing step."""
        return write_modes.stages(self.options_json.get("mode", "append"))

    @property
    def keeps_rows(self) -> bool:
        """Whether it keeps the old rows that it changes, so that it can be taken back."""
        return bool(self.options_json.get("undo", "none") == "keep")

    @property
    def undo_asked(self) -> bool:
        """Whether somebody has asked to take it back, and that is not done."""
        return "asked" in (self.undo_json or {})

    @property
    def lock_seconds(self) -> float:
        """For how long it waited for locks of others, in all attempts."""
        return round(sum((float(each["seconds"]) for each in self.lock_waits_json or []), 0.0), 3)

    @property
    def followed_upload(self) -> bool:
        """Whether it got its table before the whole file had arrived, so that its load may have waited for bytes."""
        return self.awaits_bytes > 0

    @property
    def wait_seconds(self) -> float | None:
        """The seconds from the job's creation until a worker took it; None before that."""
        if self.taken_at is None:
            return None
        return max(0.0, round((self.taken_at - self.created_at).total_seconds(), 3))

    @property
    def skipped_lines(self) -> SkippedLines:
        """The lines of the file that are no records; complete when the scan is finished."""
        parts = (self.lines_json.get(part, {}) for part in (LINES_BEFORE, LINES_AMONG, LINES_AFTER))
        return sum((SkippedLines.from_json(part) for part in parts), NO_LINES)

    @property
    def accounted_rows(self) -> int:
        """The right side of the equation: rows loaded, replaced, unchanged, skipped and rejected so far."""
        return self.committed_rows + self.skipped_rows + self.rejected_rows

    @property
    def proof_is_broken(self) -> bool:
        """Whether the recorded rows need not be in the table, because somebody has changed it or the ledger."""
        return is_of_broken_proof(self.problem)

    @property
    def changed_values(self) -> int:
        """The values that were stored rounded, cut or in another spelling, as the options allow."""
        return sum(each["values"] for each in self.notices if each["code"] != "created")

    @property
    def rows_in_table(self) -> int:
        """The committed rows; none of an import that was taken back since."""
        return 0 if self.restored_at else self.committed_rows

    @property
    def committed_rows(self) -> int:
        """The rows of the file that went into the table, or were equal to one there."""
        return self.loaded_rows + self.replaced_rows + self.unchanged_rows
