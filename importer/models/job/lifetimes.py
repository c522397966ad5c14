"""The fields of an import, by how long they last: a retry forgets some of them, and says so nowhere else."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models

from importer.models.lab import Trial
from importer.models.recipe import Approvable, ImportRecipe
from importer.models.source_file import SourceFile
from importer.models.target import Target


class Wish(ImportRecipe, Approvable):
    """What people want, and what was decided about the file. A retry keeps it, unless it is to answer something."""

    target = models.ForeignKey(Target, models.PROTECT, related_name="jobs")
    source = models.ForeignKey(SourceFile, models.PROTECT, related_name="jobs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    # Who created, resumed or retried it last: it loads while that person may load into its table. Null: the system.
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # The decisions about the file (engine/reading/reading.py, reading_to_json()).
    reading_json = models.JSONField(default=dict, blank=True)
    # The table that mode create creates (importer.engine.schema.new_table.NewTable as JSON), else empty.
    new_table_json = models.JSONField(default=dict, blank=True)
    parallelism = models.PositiveSmallIntegerField(default=2)
    # The compression of the file (engine/source/compression.py), "" for none.
    packing = models.CharField(max_length=8, blank=True)
    # The import whose rejected rows, unchanged or corrected, this one loads.
    rejects_of = models.ForeignKey(
        "importer.ImportJob", models.SET_NULL, null=True, blank=True, related_name="loaded_again_by"
    )
    # The lab trial that this job belongs to. Such jobs are not listed, and are deleted when the lab has their figures.
    trial = models.OneToOneField(Trial, models.CASCADE, null=True, blank=True, related_name="job")

    class Meta:
        abstract = True


class WholeLife(models.Model):
    """What is known of the import over all its attempts, and of its file."""

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

    ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
    # For queries: a database finds few by an index, but reads all that are not in ENDED.
    UNENDED = tuple(sorted(set(Status) - set(ENDED)))
    # Nothing more is loaded, and one of ENDED follows once workers, changes and staging table are gone.
    ENDING = (Status.FAILING, Status.CANCELLING)
    # While temporary changes may be undone on the target.
    RESTORING = (Status.INDEXING, Status.FINISHING, *ENDING)

    # Set while the job owns its table, else NULL; unique, because MySQL ignores conditional constraints
    # (server-behaviour.md).
    table_claim = models.CharField(max_length=200, unique=True, null=True, blank=True, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING, db_index=True)
    # The number of the last claim of a step. It never starts over: a worker that lost its step has a lower one.
    step_attempt = models.PositiveSmallIntegerField(default=0)
    # Bytes that are read: of the file or its plain copy, an estimate until that is complete. 0: the size of the file.
    plain_size = models.BigIntegerField(default=0)
    # Where the data begins, after BOM and header: byte offset and line in the file or the working copy.
    data_offset = models.BigIntegerField(default=0)
    data_line = models.BigIntegerField(default=1)
    # Of several files that are read as one: where the records of each lie in what is read
    # (importer.engine.source.chunks.joined.JoinedFile as JSON), else empty.
    files_json = models.JSONField(default=list, blank=True, editable=False)
    scanned_bytes = models.BigIntegerField(default=0)
    scanned_rows = models.BigIntegerField(default=0)
    # While the file is still being uploaded: how many of its bytes must arrive before the scan
    # continues (jobs/uploading.py). It stays when they have arrived; 0 for an import that began with the whole file.
    awaits_bytes = models.BigIntegerField(default=0, editable=False)
    # The import was planned before the end of the file was there, and nobody has looked at the end since.
    end_unread = models.BooleanField(default=False, editable=False)
    # The lines that are no records: those before the first record, among the records and after the last one, each part
    # as SkippedLines.as_json(). Complete when the scan is finished.
    lines_json = models.JSONField(default=dict, blank=True)
    # Foreign keys (importer.engine.schema.indexes.ForeignKey as JSON) that were not checked during the load, so that
    # parent rows may be missing.
    unchecked_json = models.JSONField(default=list, blank=True)
    # The table backup of mode replace, or after a restore the imported table; or the old rows that another mode has
    # kept (--undo keep). "" once it is dropped.
    kept_table = models.CharField(max_length=64, blank=True)
    kept_rows = models.BigIntegerField(null=True, blank=True)
    kept_bytes = models.BigIntegerField(null=True, blank=True)
    restored_at = models.DateTimeField(null=True, blank=True)
    # That it is to be taken back (`asked`, and whether to `overwrite`), what was taken back (TakenBack as JSON), or the
    # `problem` for which it was not; NULL if nobody has asked.
    undo_json = models.JSONField(default=None, null=True, blank=True, editable=False)
    # Counts every change a page would show; a poll that has seen this version gets an empty answer.
    version = models.PositiveIntegerField(default=0)
    # Attempts of the job: 1, and 1 more for each retry.
    attempts = models.PositiveSmallIntegerField(default=1)
    # The waits for locks of others, of all attempts (importer/jobs/lock_waits.py); NULL as empty.
    lock_waits_json = models.JSONField(default=list, null=True, blank=True, editable=False)
    # How often it was paused.
    pauses = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    # When the first worker took a step of the job; NULL before that.
    taken_at = models.DateTimeField(null=True, blank=True)
    # When a worker last took or gave back a step or a chunk of the job; NULL before that.
    worked_at = models.DateTimeField(null=True, blank=True, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    scanned_at = models.DateTimeField(null=True, blank=True)
    # When the chunks were deleted (importer.retention): the record keeps what charts show, and no retry is possible.
    chunks_removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class PresentAttempt(models.Model):
    """What only the present attempt has. Each retry forgets it; the earlier attempts are rows (Attempt)."""

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
        UNDO_QUEUED = "undo queued"
        UNDOING = "undoing"

    # The current step, which one worker does under a lease: the scan, the verification, making and undoing temporary
    # changes on the target, and in a mode that stages creating the staging table, finishing, cleaning up, restoring or
    # dropping the table backup, and taking the change back.
    step = models.CharField(max_length=16, choices=Step, default=Step.NONE, blank=True)
    step_lease = models.DateTimeField(null=True, blank=True)
    # Failures of the step in a row, and the target's id of its connection (see Chunk.connection_id).
    step_failures = models.PositiveSmallIntegerField(default=0)
    step_connection_id = models.BigIntegerField(null=True, blank=True)
    # When it got the table; NULL before that.
    attempt_started_at = models.DateTimeField(null=True, blank=True)
    # The seconds in each status, with and without a worker, until `phase_since` (outcomes/phases.py), which is NULL for
    # attempts of older versions.
    phases_json = models.JSONField(default=dict, blank=True)
    phase_since = models.DateTimeField(null=True, blank=True)
    # What went wrong (importer.engine.errors.Problem as JSON), or empty.
    problem = models.JSONField(default=dict, blank=True)
    # The Problem that last prevented that changes on the target were undone, and the time that undoing took.
    obstacle = models.JSONField(default=dict, blank=True)
    index_seconds = models.FloatField(default=0)
    balanced = models.BooleanField(default=False)
    # The hosts that do not see the file, whose workers get no step that reads it (importer.jobs.sharing.hosts.LeftOut,
    # as JSON).
    left_out_json = models.JSONField(default=list, blank=True, editable=False)
    # What others have changed in file and table (importer.jobs.steps.outside_changes.OutsideChange as JSON).
    outside_changes_json = models.JSONField(default=list, null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    # When the file was compared with the table by an import that was to change nothing.
    previewed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Who has said, and when, that nobody needs to look at how it ended.
    dismissed_at = models.DateTimeField(null=True, blank=True, editable=False)
    dismissed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    # Rows by loading time, and the seconds of all attempts (outcomes/attempts.py). Stored at the end, so that the
    # database can sort ten thousand jobs by them.
    rows_per_second = models.FloatField(null=True, blank=True, db_index=True)
    loading_seconds = models.FloatField(null=True, blank=True)
    total_seconds = models.FloatField(null=True, blank=True)

    class Meta:
        abstract = True


class PresentLoad(models.Model):
    """What belongs to sending rows. A retry forgets it, unless all rows are in the table."""

    class Changes(models.TextChoices):
        """The temporary changes on the target: none -> begun -> made -> settled.

        `begun`: they are recorded, and some may be made. `settled`: they are undone, or none was needed. A job does not
        end before that, unless somebody ends it without: `left` (jobs/actions/obstacles.py). Then a retry undoes them.
        """

        NONE = ""
        BEGUN = "begun"
        MADE = "made"
        SETTLED = "settled"
        LEFT = "left"

    UNRESTORED = (Changes.BEGUN, Changes.MADE)

    plan_json = models.JSONField()
    # The changes on the target for the time of the job, recorded before they are made
    # (importer.engine.target.temporary_changes.TemporaryChanges as JSON), and their state.
    arrangement_json = models.JSONField(default=dict, blank=True)
    changes = models.CharField(max_length=8, choices=Changes, default=Changes.NONE, db_default="", blank=True)
    loaded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def unrestored(self) -> bool:
        """Whether changes on the target may have to be undone before the job ends."""
        return self.changes in self.UNRESTORED

    @property
    def left_changed(self) -> bool:
        """Whether somebody ended the job without undoing them."""
        return self.changes == self.Changes.LEFT


class LoadedRows(models.Model):
    """What is on the target of the import. A retry forgets it if it begins again: in a mode that stages."""

    class Staging(models.TextChoices):
        """The staging table of a mode that stages: none -> begun -> ready -> merged -> done.

        `begun`: it may be there. `ready`: it is made. `merged`: the finishing step is done, so that all rows are in the
        table, and the staging table may still be there. Cleaning up makes `merged` to `done`, and the others to none.
        `kept`: the import has compared its rows with the table and ended, and they wait for somebody who applies or
        drops them (jobs/actions/applying.py), which makes it `ready` again.
        """

        NONE = ""
        BEGUN = "begun"
        READY = "ready"
        KEPT = "kept"
        MERGED = "merged"
        DONE = "done"

    UNMADE = (Staging.NONE, Staging.BEGUN)
    LEFTOVER = (Staging.BEGUN, Staging.READY, Staging.MERGED)
    FINISHED = (Staging.MERGED, Staging.DONE)

    # Its name in the target's ledger, and that of its staging table; unique over all installations that share the
    # target.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    staging = models.CharField(max_length=8, choices=Staging, default=Staging.NONE, db_default="", blank=True)
    # Rows and bytes of chunks that are committed, counted once when the chunk is recorded.
    loaded_rows = models.BigIntegerField(default=0)
    replaced_rows = models.BigIntegerField(default=0)
    unchanged_rows = models.BigIntegerField(default=0)
    skipped_rows = models.BigIntegerField(default=0)
    rejected_rows = models.BigIntegerField(default=0)
    # Rows of the table that left it or were marked, because the file does not have them.
    deleted_rows = models.BigIntegerField(default=0, db_default=0)
    marked_rows = models.BigIntegerField(default=0, db_default=0)
    # What the file changes, in a mode that compares it with the table (importer.engine.load.outcome.Compared as JSON),
    # recorded before the finishing step commits. NULL: not compared.
    compared_json = models.JSONField(default=None, null=True, blank=True, editable=False)
    # What that has shown (importer.engine.load.outcome.Seen as JSON), to be found again before it is applied. NULL: the
    # table was changed, or nothing was compared.
    seen_json = models.JSONField(default=None, null=True, blank=True, editable=False)
    committed_bytes = models.BigIntegerField(default=0)
    # Reasons for rejected or skipped rows, and counted changes of values (shapes: importer.jobs.rejects.counts).
    reject_reasons = models.JSONField(default=list, blank=True)
    notices = models.JSONField(default=list, blank=True)

    class Meta:
        abstract = True

    @property
    def leftover(self) -> bool:
        """Whether a staging table may have to be dropped."""
        return self.staging in self.LEFTOVER

    @property
    def keeps_staged(self) -> bool:
        """Whether its staged rows can be compared with the table again, without its file."""
        return self.staging == self.Staging.KEPT

    @property
    def finished(self) -> bool:
        """Whether the finishing step of a mode that stages is done, so that all rows are in the table."""
        return self.staging in self.FINISHED


class WorkingCopy(models.Model):
    """The copy that is read instead of the file. It is removed at the end, and a retry that needs it makes it again."""

    # The working copy that is read instead of the file: its name in PLAIN_DIR, or its address in the store, "" while
    # there is none; and the bytes of the file that were copied.
    plain_copy = models.CharField(max_length=1024, blank=True)
    copied_bytes = models.BigIntegerField(default=0)
    scan_finished = models.BooleanField(default=False)

    class Meta:
        abstract = True


# Each field of an import is in exactly one of these.
LIFETIMES: tuple[type[models.Model], ...] = (
    Wish,
    WholeLife,
    PresentAttempt,
    PresentLoad,
    LoadedRows,
    WorkingCopy,
)


def first_values(lifetime: type[models.Model]) -> dict[str, Any]:
    """The values that the fields of this lifetime begin with."""
    return {each.name: None if each.is_relation else each.get_default() for each in lifetime._meta.local_fields}
