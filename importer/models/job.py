"""One file into one table: what was asked for, what was planned, and how far it is."""

import uuid
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import models

from importer.engine import stored
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_from_json
from importer.engine.schema.indexes import ForeignKey
from importer.engine.schema.new_table import NewTable
from importer.engine.source.decoding import needs_copy
from importer.engine.source.dialect import Dialect
from importer.engine.stored import from_json
from importer.engine.target import write_modes
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.models.lab import Trial
from importer.models.recipe import ImportRecipe
from importer.models.source_file import SourceFile
from importer.models.target import Target


class ImportJob(ImportRecipe):
    """One file into one table.

    waiting -> loading -> finishing -> indexing -> verifying -> succeeded
       |        |  ^          |           |           |
       |        v  | resume   |           |           +--> failed --(retry)--> waiting
       |      paused          |           |
       +--------+-------------+--> cancelling -> cancelled --(retry)--> waiting
                +-------------+-----------+--> failing -> failed

    `waiting`: another job has the table. `finishing`: in a mode that stages, the staged rows go where they belong; the
    other modes leave it out. `indexing`: what was changed on the target for the load is put back, if anything was.
    `failing` and `cancelling`: what is in flight is still being ended, what was changed put back, and a staging table
    dropped; if the finishing step turns out to have taken place, `verifying` follows.
    """

    class Status(models.TextChoices):
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

    # The name of this job in the target's ledger and of its staging table; unique over all installations that share the
    # target. A retry in a mode that stages begins anew, under another key.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    target = models.ForeignKey(Target, models.PROTECT, related_name="jobs")
    source = models.ForeignKey(SourceFile, models.PROTECT, related_name="jobs")
    # Set while the job owns its table, else NULL; unique, because MySQL ignores conditional constraints
    # (server-behaviour.md).
    table_claim = models.CharField(max_length=200, unique=True, null=True, blank=True, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING, db_index=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    plan_json = models.JSONField()
    # The table that mode create makes (importer.engine.schema.new_table.NewTable as JSON), else empty.
    new_table_json = models.JSONField(default=dict, blank=True)
    parallelism = models.PositiveSmallIntegerField(default=2)
    # How the file is packed (engine/source/compression.py), "" for not at all.
    packing = models.CharField(max_length=8, blank=True)
    # The copy that is read instead of the file, plain or sorted: its name in PLAIN_DIR, "" while there is none, and how
    # many bytes of the file have gone into it.
    plain_copy = models.CharField(max_length=64, blank=True)
    copied_bytes = models.BigIntegerField(default=0)
    # Bytes of what is read, the file or its plain copy; an estimate until that is made. 0: as the file has.
    plain_size = models.BigIntegerField(default=0)
    # Where the data begins in what is read: byte offset and line, after BOM and header.
    data_offset = models.BigIntegerField(default=0)
    data_line = models.BigIntegerField(default=1)

    # What is done once for a whole job, by one worker that holds the lease: the scan, the verification, the arranging
    # of the target for the load and its way back, and in a mode that stages the making of the staging table, the
    # finishing step, the cleaning up and changes of a kept table.
    step = models.CharField(max_length=16, choices=Step, default=Step.NONE, blank=True)
    step_attempt = models.PositiveSmallIntegerField(default=0)
    step_lease = models.DateTimeField(null=True, blank=True)
    # How often it has failed in a row, and the target's id of the connection it works on: see Chunk.connection_id.
    step_failures = models.PositiveSmallIntegerField(default=0)
    step_connection_id = models.BigIntegerField(null=True, blank=True)
    # The changes on the target for the time of the job, recorded before they are made
    # (importer.engine.target.temporary_changes.TemporaryChanges as JSON). `arranged`: all of them are made, or none is
    # needed. `unrestored`: some are not undone yet; a job does not end before they are. `obstacle` is the Problem that
    # last prevented it. `index_seconds` is the time that undoing took.
    arrangement_json = models.JSONField(default=dict, blank=True)
    arranged = models.BooleanField(default=False)
    unrestored = models.BooleanField(default=False)
    obstacle = models.JSONField(default=dict, blank=True)
    index_seconds = models.FloatField(default=0)
    # Foreign keys (importer.engine.schema.indexes.ForeignKey as JSON) that were off while rows came, and may lack some.
    unchecked_json = models.JSONField(default=list, blank=True)
    # Modes that stage: the staging table is made; one may be there that is to be dropped; the finishing step is done.
    staged = models.BooleanField(default=False)
    leftover = models.BooleanField(default=False)
    finished = models.BooleanField(default=False)
    # The table that mode replace has put aside, or after a restore the job's own; "" once it is dropped.
    kept_table = models.CharField(max_length=64, blank=True)
    kept_rows = models.BigIntegerField(null=True, blank=True)
    kept_bytes = models.BigIntegerField(null=True, blank=True)
    restored_at = models.DateTimeField(null=True, blank=True)
    scanned_bytes = models.BigIntegerField(default=0)
    scanned_rows = models.BigIntegerField(default=0)
    scan_finished = models.BooleanField(default=False)

    # Rows and bytes of chunks that are committed, counted once when the chunk is recorded.
    loaded_rows = models.BigIntegerField(default=0)
    replaced_rows = models.BigIntegerField(default=0)
    skipped_rows = models.BigIntegerField(default=0)
    rejected_rows = models.BigIntegerField(default=0)
    committed_bytes = models.BigIntegerField(default=0)
    # Why rows were rejected or skipped, and what was changed and counted: importer.jobs.reject_counts has the shapes.
    reject_reasons = models.JSONField(default=list, blank=True)
    notices = models.JSONField(default=list, blank=True)
    # The import whose rejected rows, as they were or mended, this one loads.
    rejects_of = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="loaded_again_by")
    # The trial of a lab that it is; such a one is in no list, and goes when the lab has its figures.
    trial = models.OneToOneField(Trial, models.CASCADE, null=True, blank=True, related_name="job")
    # What went wrong (importer.engine.errors.Problem as JSON), or empty.
    problem = models.JSONField(default=dict, blank=True)
    balanced = models.BooleanField(default=False)
    # Counts every change a page would show; a poll that has seen this version gets an empty answer.
    version = models.PositiveIntegerField(default=0)

    # How often it was begun: once, and once for each retry.
    tries = models.PositiveSmallIntegerField(default=1)
    # And how often paused.
    pauses = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True, blank=True)
    scanned_at = models.DateTimeField(null=True, blank=True)
    loaded_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Kept beside the timings, so that ten thousand jobs sort by it in the database. Rows per second, start to end.
    rows_per_second = models.FloatField(null=True, blank=True, db_index=True)

    def __str__(self) -> str:
        return f"Import {self.pk}"

    @property
    def ended(self) -> bool:
        return self.status in self.ENDED

    @property
    def dialect(self) -> Dialect:
        """The format of what is read: the file, or its plain copy."""
        return self.file_dialect.plain

    @property
    def needs_copy(self) -> bool:
        """Whether a copy is read instead of the file: a plain one, a sorted one, or both in one."""
        return self.is_sorted or self.needs_plain_copy

    @property
    def needs_plain_copy(self) -> bool:
        """Whether the file cannot be read as it lies."""
        return needs_copy(self.packing, self.file_dialect.encoding)

    @property
    def is_sorted(self) -> bool:
        """Whether the rows are loaded in the order of the primary key."""
        return bool(self.plan_json.get("sorted_by"))

    @property
    def awaits_copy(self) -> bool:
        """Whether the table's types cannot be read yet."""
        return bool(self.new_table_json) and self.needs_plain_copy and not self.scan_finished

    @property
    def copy_file(self) -> Path:
        """Its copy, where it needs one."""
        return settings.PLAIN_DIR / self.plain_copy

    @property
    def read_size(self) -> int:
        """Bytes of what is read; an estimate until the plain copy is there."""
        return self.plain_size or self.source.size

    @property
    def data_bytes(self) -> int:
        """The same without BOM and header."""
        return max(0, self.read_size - self.data_offset)

    @property
    def plan(self) -> ImportPlan:
        return plan_from_json(self.plan_json)

    @property
    def new_table(self) -> NewTable | None:
        """The table that mode create makes."""
        return from_json(NewTable, self.new_table_json) if self.new_table_json else None

    @property
    def temporary_changes(self) -> TemporaryChanges | None:
        """What is changed on the target for the time of the job; None before that is written down, or if nothing is."""
        return stored.from_json(TemporaryChanges, self.arrangement_json) if self.arrangement_json else None

    @property
    def unchecked(self) -> tuple[ForeignKey, ...]:
        """Foreign keys that were off while rows came, until none was found that they would have refused."""
        return tuple(from_json(ForeignKey, each) for each in self.unchecked_json)

    @property
    def awaits_changes(self) -> bool:
        """Whether something is to be changed on the target before the first chunk."""
        return bool(self.plan_json.get("arrangement")) and not self.arranged

    @property
    def stages(self) -> bool:
        """Whether the table is untouched until the finishing step."""
        return write_modes.stages(self.options_json.get("mode", "append"))

    @property
    def step_seconds(self) -> dict[str, float | None]:
        """How long its steps took, None for those that it has not come to.

        Scan and load from its start, since they run side by side; index and verify what they took after the load,
        verify with the finishing step of modes that stage.
        """
        verified = _between(self.loaded_at, self.finished_at)
        return {
            "scan": _between(self.started_at, self.scanned_at),
            "load": _between(self.started_at, self.loaded_at),
            "index": round(self.index_seconds, 3),
            "verify": None if verified is None else round(max(0.0, verified - self.index_seconds), 3),
            "total": _between(self.started_at, self.finished_at),
        }

    @property
    def accounted_rows(self) -> int:
        """The right side of the equation: what has become of the rows so far."""
        return self.loaded_rows + self.replaced_rows + self.skipped_rows + self.rejected_rows


def _between(since: datetime | None, until: datetime | None) -> float | None:
    return round((until - since).total_seconds(), 3) if since and until else None
