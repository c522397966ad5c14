"""What outlives an import: its record of flat facts, which stay readable when new ones are added; and how long."""

from django.conf import settings
from django.db import models

from importer.models.job import ImportJob
from importer.models.target import Target


class JobRecord(models.Model):
    """The record of an ended import at its last end, written by importer.jobs. importer.history.facts has the facts.

    It outlives its job, so it has a copy of what says who may see it, and of the job's name in the target's ledger.
    """

    job = models.OneToOneField(
        ImportJob, models.DO_NOTHING, primary_key=True, related_name="record", db_constraint=False
    )
    target = models.ForeignKey(Target, models.SET_NULL, null=True, blank=True, related_name="+")
    schema_name = models.CharField(max_length=64, blank=True)
    table_name = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    key = models.UUIDField(null=True, blank=True)
    # The keys of earlier attempts in modes that stage, as texts.
    past_keys = models.JSONField(default=list, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # Whether the ledger on the target has rows of the job no more, as far as this installation knows.
    ledger_removed = models.BooleanField(default=False)
    # The planner's decisions in words (importer.engine.plan.plan.Reason as JSON), as of the end.
    reasons = models.JSONField(default=list)
    # What had changed, if the import was slower than its peers (importer.history.regressions.Changed as JSON).
    changed = models.JSONField(default=list)
    # The timings of the chunks, if these are too many to be read each time (importer.history.chunks.timings as JSON).
    chunk_timings = models.JSONField(default=dict)
    # What the page shows of chunks that are deleted: {"map", "rates", "loaded", "failed"} (importer.retention).
    kept_chunks = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"record of import {self.job_id}"


class JobFact(models.Model):
    """One fact of a record: a number, else a text. The key stores the values of one fact next to each other.

    Each fact is a row, because any fact can be a sorted, filtered or drawn column of the history. With 10,000 records
    of 120 facts, reading three of them takes 18 ms on SQLite, 29 on MariaDB and 50 on MySQL. One JSON per record
    took 100, 230 and 35 ms to draw them, 88, 243 and 34 to filter and sort a page (MariaDB searches the whole text for
    each value), and 0.5 to 1.2 seconds to be read into memory. Real columns would need a migration for each new
    setting.
    """

    LONGEST_TEXT = 255

    pk = models.CompositePrimaryKey("name", "record_id")
    name = models.CharField(max_length=64)
    record = models.ForeignKey(JobRecord, models.CASCADE, related_name="facts")
    number = models.FloatField(null=True)
    text = models.CharField(max_length=LONGEST_TEXT)

    class Meta:
        # SQLite stores rows in the order of insertion: without this index, reading a column takes three times the
        # processor time.
        indexes = [models.Index(fields=["name", "record", "number", "text"], name="column_of_facts")]

    def __str__(self) -> str:
        return f"{self.name} of import {self.record_id}"


class Total(models.Model):
    """A sum since the installation, for monitoring (importer.history.totals): no deletion of an import lowers it.

    `target`: the name that the target had, "" for what is not counted by target. `kind`: an outcome of rows or of
    imports, a phase, or what was tried again or lost its worker; "" for none.
    """

    class Name(models.TextChoices):
        ROWS = "rows"
        BYTES = "bytes"
        CHUNKS = "chunks"
        CHUNK_SECONDS = "chunk seconds"
        ENDED = "ended"
        RETRIES = "retries"
        EXPIRED = "expired"

    name = models.CharField(max_length=16, choices=Name)
    target = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=32, blank=True)
    amount = models.FloatField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "target", "kind"], name="one_total_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.name} {self.target} {self.kind}: {self.amount}"


class RetentionPolicy(models.Model):
    """A policy of importer.retention that an admin has changed; without a row, its setting is in force."""

    name = models.CharField(max_length=32, primary_key=True)
    # NULL: kept for ever.
    days = models.PositiveIntegerField(null=True, blank=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name
