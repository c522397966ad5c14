"""An import job: one file into one table, with request, plan and progress."""

import uuid
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from config.telemetry.traces import ImportTrace
from importer.engine import stored
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
from importer.models.lab import Trial
from importer.models.recipe import Approvable, ImportRecipe
from importer.models.source_file import SourceFile
from importer.models.target import Target

# ImportJob.rows_in_table, of a job or a chunk, for queries.
ROWS_IN_TABLE = models.F("loaded_rows") + models.F("replaced_rows") + models.F("unchanged_rows")
# The same of ImportJob.accounted_rows.
ACCOUNTED_ROWS = ROWS_IN_TABLE + models.F("skipped_rows") + models.F("rejected_rows")
# The parts of ImportJob.lines_json.
LINES_BEFORE, LINES_AMONG, LINES_AFTER = "before", "among", "after"


class ImportJob(ImportRecipe, Approvable):
    """The import of one file into one table.

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

    class Status(models.TextChoices):
        UNAPPROVED = "unapproved", "waits for approval"
        WAITING = "waiting"
        LOADING = "loading"
        PAUSED = "paused"
        FINISHING = "finishing"
        INDEXING = "indexing"
        VERIFYING = "verifying"
        SUCCEEDED = "succeeded"
        FAILING = "failing"
        FAILED = "failed"
        CANCELLING = "cancelling"
        CANCELLED = "cancelled"

    class Step(models.TextChoices):
        NONE = ""
        SCAN_QUEUED = "scan queued"
        SCANNING = "scanning"
        VERIFY_QUEUED = "verify queued"
        VERIFYING = "verifying"
        ARRANGE_QUEUED = "arrange queued"
        ARRANGING = "arranging"
        RESTORE_QUEUED = "restore queued"
        RESTORING = "restoring"
        STAGE_QUEUED = "stage queued"
        STAGING = "staging"
        FINISH_QUEUED = "finish queued"
        FINISHING = "finishing"
        CLEAN_QUEUED = "clean queued"
        CLEANING = "cleaning"
        KEEPING = "keeping"

    ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
    # For queries: a database finds few by an index, but reads all that are not in ENDED.
    UNENDED = tuple(sorted(set(Status) - set(ENDED)))
    # Nothing more is loaded, and one of ENDED follows once workers, changes and staging table are gone.
    ENDING = (Status.FAILING, Status.CANCELLING)
    # While temporary changes may be undone on the target.
    RESTORING = (Status.INDEXING, Status.FINISHING, *ENDING)

    # The name of this job in the target's ledger and of its staging table; unique over all installations that share the
    # target. A retry in a mode that stages starts over with another key.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    target = models.ForeignKey(Target, models.PROTECT, related_name="jobs")
    source = models.ForeignKey(SourceFile, models.PROTECT, related_name="jobs")
    # Set while the job owns its table, else NULL; unique, because MySQL ignores conditional constraints
    # (server-behaviour.md).
    table_claim = models.CharField(max_length=200, unique=True, null=True, blank=True, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING, db_index=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    # Who created, resumed or retried it last: it loads while that person may load into its table. Null: the system.
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    plan_json = models.JSONField()
    # The decisions about the file (engine/reading/reading.py, reading_to_json()).
    reading_json = models.JSONField(default=dict, blank=True)
    # The table that mode create creates (importer.engine.schema.new_table.NewTable as JSON), else empty.
    new_table_json = models.JSONField(default=dict, blank=True)
    parallelism = models.PositiveSmallIntegerField(default=2)
    # The compression of the file (engine/source/compression.py), "" for none.
    packing = models.CharField(max_length=8, blank=True)
    # The working copy that is read instead of the file: its name in PLAIN_DIR, or its address in the store, "" while
    # there is none; and the bytes of the file that were copied.
    plain_copy = models.CharField(max_length=1024, blank=True)
    copied_bytes = models.BigIntegerField(default=0)
    # Bytes that are read: of the file or its plain copy, an estimate until that is complete. 0: the size of the file.
    plain_size = models.BigIntegerField(default=0)
    # Where the data begins, after BOM and header: byte offset and line in the file or the working copy.
    data_offset = models.BigIntegerField(default=0)
    data_line = models.BigIntegerField(default=1)

    # Of several files that are read as one: where the records of each lie in what is read
    # (importer.engine.source.chunks.joined.JoinedFile as JSON), else empty.
    files_json = models.JSONField(default=list, blank=True, editable=False)

    # The current step, which one worker does under a lease: the scan, the verification, making and undoing temporary
    # changes on the target, and in a mode that stages creating the staging table, finishing, cleaning up, and restoring
    # or dropping the table backup.
    step = models.CharField(max_length=16, choices=Step, default=Step.NONE, blank=True)
    step_attempt = models.PositiveSmallIntegerField(default=0)
    step_lease = models.DateTimeField(null=True, blank=True)
    # Failures of the step in a row, and the target's id of its connection (see Chunk.connection_id).
    step_failures = models.PositiveSmallIntegerField(default=0)
    step_connection_id = models.BigIntegerField(null=True, blank=True)
    # The changes on the target for the time of the job, recorded before they are made
    # (importer.engine.target.temporary_changes.TemporaryChanges as JSON). `arranged`: all of them are made, or none is
    # needed. `unrestored`: some are not undone yet; a job does not end before they are. `obstacle` is the Problem that
    # last prevented it. `left_changed`: the job was ended without undoing them (jobs/actions/obstacles.py); a retry
    # does that. `index_seconds` is the time that undoing took.
    arrangement_json = models.JSONField(default=dict, blank=True)
    arranged = models.BooleanField(default=False)
    unrestored = models.BooleanField(default=False)
    obstacle = models.JSONField(default=dict, blank=True)
    left_changed = models.BooleanField(default=False)
    index_seconds = models.FloatField(default=0)
    # Foreign keys (importer.engine.schema.indexes.ForeignKey as JSON) that were not checked during the load, so that
    # parent rows may be missing.
    unchecked_json = models.JSONField(default=list, blank=True)
    # Modes that stage. `staged`: the staging table is created. `leftover`: one may have to be dropped. `finished`: the
    # finishing step is done.
    staged = models.BooleanField(default=False)
    leftover = models.BooleanField(default=False)
    finished = models.BooleanField(default=False)
    # The table backup of mode replace, or after a restore the imported table; "" once it is dropped.
    kept_table = models.CharField(max_length=64, blank=True)
    kept_rows = models.BigIntegerField(null=True, blank=True)
    kept_bytes = models.BigIntegerField(null=True, blank=True)
    restored_at = models.DateTimeField(null=True, blank=True)
    scanned_bytes = models.BigIntegerField(default=0)
    scanned_rows = models.BigIntegerField(default=0)
    scan_finished = models.BooleanField(default=False)
    # While the file is still being uploaded: how many of its bytes must arrive before the scan
    # continues (jobs/uploading.py). It stays when they have arrived; 0 for an import that began with the whole file.
    awaits_bytes = models.BigIntegerField(default=0, editable=False)
    # The import was planned before the end of the file was there, and nobody has looked at the end since.
    end_unread = models.BooleanField(default=False, editable=False)
    # The lines that are no records: those before the first record, among the records and after the last one, each part
    # as SkippedLines.as_json(). Complete when the scan is finished.
    lines_json = models.JSONField(default=dict, blank=True)

    # Rows and bytes of chunks that are committed, counted once when the chunk is recorded.
    loaded_rows = models.BigIntegerField(default=0)
    replaced_rows = models.BigIntegerField(default=0)
    unchanged_rows = models.BigIntegerField(default=0)
    skipped_rows = models.BigIntegerField(default=0)
    rejected_rows = models.BigIntegerField(default=0)
    committed_bytes = models.BigIntegerField(default=0)
    # Reasons for rejected or skipped rows, and counted changes of values (shapes: importer.jobs.rejects.counts).
    reject_reasons = models.JSONField(default=list, blank=True)
    notices = models.JSONField(default=list, blank=True)
    # The import whose rejected rows, unchanged or corrected, this one loads.
    rejects_of = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="loaded_again_by")
    # The lab trial that this job belongs to. Such jobs are not listed, and are deleted when the lab has their figures.
    trial = models.OneToOneField(Trial, models.CASCADE, null=True, blank=True, related_name="job")
    # The hosts that do not see the file, whose workers get no step that reads it (importer.jobs.sharing.hosts.LeftOut,
    # as JSON). A retry begins without any.
    left_out_json = models.JSONField(default=list, blank=True, editable=False)
    # What went wrong (importer.engine.errors.Problem as JSON), or empty.
    problem = models.JSONField(default=dict, blank=True)
    balanced = models.BooleanField(default=False)
    # Counts every change a page would show; a poll that has seen this version gets an empty answer.
    version = models.PositiveIntegerField(default=0)

    # Attempts of the job: 1, and 1 more for each retry.
    attempts = models.PositiveSmallIntegerField(default=1)
    # When the present attempt got the table; NULL before that.
    attempt_started_at = models.DateTimeField(null=True, blank=True)
    # The seconds that the present attempt has spent in each status, with and without a worker, until `phase_since`
    # (outcomes/phases.py). NULL for attempts of older versions.
    phases_json = models.JSONField(default=dict, blank=True)
    phase_since = models.DateTimeField(null=True, blank=True)
    # How often it was paused.
    pauses = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    # When the first worker took a step of the job; NULL before that.
    taken_at = models.DateTimeField(null=True, blank=True)
    # When a worker last took or gave back a step or a chunk of the job; NULL before that.
    worked_at = models.DateTimeField(null=True, blank=True, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    scanned_at = models.DateTimeField(null=True, blank=True)
    loaded_at = models.DateTimeField(null=True, blank=True)
    # When the chunks were deleted (importer.retention): the record keeps what charts show, and no retry is possible.
    chunks_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Rows by loading time, and the seconds of all attempts (outcomes/attempts.py). Stored at the end, so that the
    # database can sort ten thousand jobs by them.
    rows_per_second = models.FloatField(null=True, blank=True, db_index=True)
    loading_seconds = models.FloatField(null=True, blank=True)
    total_seconds = models.FloatField(null=True, blank=True)

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

    @property
    def ended(self) -> bool:
        return self.status in self.ENDED

    @property
    def dialect(self) -> Dialect:
        """The dialect of the data that is read: the file or its plain copy."""
        plain = self.file_dialect.plain
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
        return any(self.plan_json.get(name) for name in ("arrangement", "added_columns")) and not self.arranged

    @property
    def stages(self) -> bool:
        """Whether the table stays unchanged until the finishing step."""
        return write_modes.stages(self.options_json.get("mode", "append"))

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
        return self.rows_in_table + self.skipped_rows + self.rejected_rows

    @property
    def rows_in_table(self) -> int:
        """The rows of the file that went into the table, or were equal to one there."""
        return self.loaded_rows + self.replaced_rows + self.unchanged_rows
