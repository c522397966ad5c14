"""A chunk: a part of a job's file that is loaded completely or not at all; seals, and corrections of rejected rows."""

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from importer.engine.source.chunks.scanner import ChunkRange
from importer.models.job import ImportJob

# The fields that describe the range of the file; those of ChunkRange.
RANGE = (
    *("number", "offset", "length", "rows", "first_line", "first_row", "digest"),
    *("null_word", "null_marker", "suspect", "ascii", "file"),
)


class Chunk(models.Model):
    """A range of whole records of the file, loaded in one transaction; small chunks share a transaction.

    pending -> queued -> loading -> loaded
       ^          |         |
       +----------+---------+--> failed --(retry of the job)--> pending
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        QUEUED = "queued"
        LOADING = "loading"
        LOADED = "loaded"
        FAILED = "failed"

    IN_FLIGHT = (Status.QUEUED, Status.LOADING)
    NOT_LOADED = (Status.PENDING, Status.QUEUED, Status.LOADING, Status.FAILED)

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    offset = models.BigIntegerField()
    length = models.BigIntegerField()
    rows = models.BigIntegerField()
    first_line = models.BigIntegerField()
    first_row = models.BigIntegerField(default=1)
    digest = models.CharField(max_length=16)
    null_word = models.BooleanField(default=False)
    null_marker = models.BooleanField(default=True)
    suspect = models.BooleanField(default=False)
    ascii = models.BooleanField(default=False)
    # The number (from 0) of its file in ImportJob.files_json; its lines are those of that file.
    file = models.PositiveSmallIntegerField(default=0)

    status = models.CharField(max_length=8, choices=Status, default=Status.PENDING)
    # In flight: the run of chunks that a worker has claimed together (jobs/steps/chunk_leases.py).
    run = models.UUIDField(null=True, blank=True, editable=False)
    attempt = models.PositiveSmallIntegerField(default=0)
    # Workers that died while loading it: a chunk that kills its workers is not tried for ever.
    deaths = models.PositiveSmallIntegerField(default=0)
    # Queued or loading: the time after which its worker counts as dead. Pending: the earliest time of the next try.
    lease = models.DateTimeField(null=True, blank=True)
    # The target's id of the connection that loads it, which a sweep kills if the worker is dead.
    connection_id = models.BigIntegerField(null=True, blank=True)
    # The process that has claimed it last (importer.lease.holder); "" before that.
    worker = models.CharField(max_length=100, blank=True, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Row counts of the loaded chunk; their sum is `rows`.
    loaded_rows = models.BigIntegerField(default=0)
    replaced_rows = models.BigIntegerField(default=0)
    unchanged_rows = models.BigIntegerField(default=0)
    skipped_rows = models.BigIntegerField(default=0)
    rejected_rows = models.BigIntegerField(default=0)
    reject_reasons = models.JSONField(default=list, blank=True)
    notices = models.JSONField(default=list, blank=True)
    # Seconds by phase of the attempt that loaded it: {"connect", "ledger", "review", "load", "verify", "commit"}.
    timings = models.JSONField(default=dict, blank=True)
    problem = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="one_chunk_per_number")]
        indexes = [models.Index(fields=["job", "status"]), models.Index(fields=["status", "lease"])]

    def __str__(self) -> str:
        return f"chunk {self.number} of import {self.job_id}"

    @property
    def words(self) -> str:
        """Its status as pages say it: nothing pending of an ended import will be loaded."""
        pending = "not loaded" if self.job.ended else "waiting"
        return pending if self.status == self.Status.PENDING else self.status

    @property
    def log_ids(self) -> dict[str, int]:
        """What a log in JSON has of it (config/telemetry/json_lines.py)."""
        return {"job": self.job_id, "chunk": self.number}

    @cached_property
    def range(self) -> ChunkRange:
        """The chunk's range. It is cached, because the scan's result never changes."""
        return ChunkRange(**{name: getattr(self, name) for name in RANGE})


class JobSeal(models.Model):
    """The seal (importer/engine/load/seal.py) of a connection that has loaded chunks of a job, or could have.

    It stays when other connections take over its chunks: what it has committed may not be recorded. `key` is the job's
    key in the ledger.
    """

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="seals")
    key = models.UUIDField(editable=False)
    number = models.BigIntegerField()
    # A moment before it was opened: a server that has run since then has not lost it.
    opened_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "key", "number"], name="one_record_of_a_seal")]

    def __str__(self) -> str:
        return f"seal {self.number} of import {self.job_id}"


class RowFix(models.Model):
    """A rejected row as a person has corrected it: a draft until an import has taken it.

    The row is named by its chunk and its place, from 0, among the chunk's rejected rows. `key` is the job's key when
    the row was corrected: a job that begins again has a new one, and may reject other rows.
    """

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="row_fixes")
    key = models.UUIDField(editable=False)
    chunk = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # The text of each field, and when the person entered them last; NULL of before that was recorded.
    texts = models.JSONField()
    changed_at = models.DateTimeField(null=True, auto_now=True)
    # When an import took the row, and which; the time stays when that import is deleted, so that no other takes it.
    taken_at = models.DateTimeField(null=True, blank=True)
    taken_by = models.ForeignKey(ImportJob, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "key", "chunk", "place", "person"], name="one_fix_of_a_row"),
        ]

    def __str__(self) -> str:
        return f"corrected row {self.place} of chunk {self.chunk} of import {self.job_id}"
