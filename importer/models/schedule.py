"""A schedule: files picked up by themselves, on time, once; its runs, and the files that they picked up."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from importer.models.job import ImportJob
from importer.models.recipe import ImportRecipe
from importer.models.source_connection import SourceConnection
from importer.models.source_file import SourceFile
from importer.models.target import Target


class Schedule(ImportRecipe):
    """Where files come from, when they are looked for, how they are read, where they go, and what becomes of them.

    The recipe, the header and the columns are as in a mapping preset: that a file or the table has changed since is
    told from them.
    """

    class Trigger(models.TextChoices):
        CRON = "cron", "at times (cron)"
        EVERY = "every", "every so many minutes"
        ARRIVAL = "arrival", "when a new file appears"

    class Overlap(models.TextChoices):
        SKIP = "skip", "leave the new run out"
        QUEUE = "queue", "let the new run wait"

    class Misfire(models.TextChoices):
        SKIP = "skip", "leave them all out"
        ONCE = "once", "run once, for the latest"
        ALL = "all", "run all, up to a number"

    class NoFile(models.TextChoices):
        FINE = "fine", "is fine"
        WARN = "warn", "is told"
        FAIL = "fail", "is a failure"

    class KnownBy(models.TextChoices):
        CONTENT = "content", "its content"
        STAT = "stat", "its name, size and time"

    class Afterwards(models.TextChoices):
        KEEP = "keep", "leave it where it is"
        MOVE = "move", "move it"
        DELETE = "delete", "delete it"

    class Drift(models.TextChoices):
        STOP = "stop", "stop, and show the difference"
        ADD = "add", "add new columns to the table"

    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[^\x00-\x1f\x7f]+\Z", "No control characters.")]
    )
    target = models.ForeignKey(Target, models.PROTECT, related_name="schedules")
    header = models.JSONField()
    # Name and full type of the table's columns when it was saved: tells what has changed since.
    columns_json = models.JSONField()

    connection = models.ForeignKey(SourceConnection, models.PROTECT, related_name="schedules")
    # Below the connection's base; may hold dates, such as sales-{date:%Y%m%d}.csv.
    pattern = models.CharField(max_length=512)
    subfolders = models.BooleanField(default=False)

    trigger = models.CharField(max_length=8, choices=Trigger)
    cron = models.CharField(max_length=200, blank=True)
    every_minutes = models.PositiveIntegerField(null=True, blank=True)
    # The zone's name; due times are reckoned, dates in the pattern filled, and times shown in it.
    zone = models.CharField(max_length=64, default="UTC")

    overlap = models.CharField(max_length=8, choices=Overlap, default=Overlap.QUEUE)
    misfire = models.CharField(max_length=8, choices=Misfire, default=Misfire.ONCE)
    misfire_most = models.PositiveSmallIntegerField(default=10)
    # How often a run is tried in all when something stands in the way that may pass, and the seconds between the first
    # two tries: twice as many before each further one.
    tries = models.PositiveSmallIntegerField(default=5)
    backoff_seconds = models.PositiveIntegerField(default=60)
    # A run that has not ended so long after its start is ended. None: it may take as long as it takes.
    deadline_minutes = models.PositiveIntegerField(null=True, blank=True)
    no_file = models.CharField(max_length=8, choices=NoFile, default=NoFile.FINE)
    known_by = models.CharField(max_length=8, choices=KnownBy, default=KnownBy.CONTENT)
    afterwards = models.CharField(max_length=8, choices=Afterwards, default=Afterwards.KEEP)
    move_to = models.CharField(max_length=512, blank=True)
    drift = models.CharField(max_length=8, choices=Drift, default=Drift.STOP)

    # People are told when a run has not ended so many minutes after it was due, and when it rejects more rows.
    lateness_minutes = models.PositiveIntegerField(null=True, blank=True)
    rejects_limit = models.PositiveBigIntegerField(null=True, blank=True)

    paused = models.BooleanField(default=False)
    # When the next run is due, or on arrival the next look; None while it is paused.
    next_due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # Why it finds no due time, or could not look for new files (importer.engine.errors.Problem as JSON), or empty.
    problem = models.JSONField(default=dict, blank=True)
    # Counts every change a page would show.
    version = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ScheduleRun(models.Model):
    """One due time of a schedule, and what came of it; or a stretch of due times that were left out together.

    waiting -> finding -> loading -> succeeded
       |          |          +-----> failed
       +----------+----------+-----> cancelled
    skipped

    `waiting`: another run of the schedule is under way. `finding`: its files are looked for, and watched until nobody
    writes to them any more. `loading`: one file after another, each by an import. `skipped`: left out from the
    beginning, by what the schedule says of overlaps and of due times that were missed.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        FINDING = "finding"
        LOADING = "loading"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        SKIPPED = "skipped"

    class Cause(models.TextChoices):
        DUE = "due"
        BY_HAND = "by hand"
        ARRIVAL = "arrival"
        CATCH_UP = "catch-up"

    ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED, Status.SKIPPED)

    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="runs")
    # For an arrival when the file was seen, by hand when it was asked for.
    due_at = models.DateTimeField()
    # Of due times that were left out together: the last one, and how many.
    last_due_at = models.DateTimeField(null=True, blank=True)
    due_times = models.PositiveIntegerField(default=1)
    cause = models.CharField(max_length=8, choices=Cause)
    # What the dates in the pattern are filled from.
    moment = models.DateTimeField()
    status = models.CharField(max_length=9, choices=Status, default=Status.WAITING)
    # Set while the run is the one under way, else NULL; unique, because MySQL ignores conditional constraints.
    schedule_claim = models.BigIntegerField(unique=True, null=True, blank=True, editable=False)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    # One worker at a time takes it a piece further: until when it is taken for alive, how often that was done, and when
    # a worker was last sent a message.
    lease = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    woken_at = models.DateTimeField(null=True, blank=True)
    # Of faults that may pass: how many there were in a row, and before when nobody is to try again.
    failures = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    # When people are to be told that it is late; None if they are not, or have been.
    late_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # How often files were looked at: those to which somebody writes are looked at again.
    looks = models.PositiveSmallIntegerField(default=0)
    found_files = models.PositiveIntegerField(default=0)
    # Of them, those that the schedule had loaded before; not all of these have a PickedFile.
    known_files = models.PositiveIntegerField(default=0)

    # What went wrong (importer.engine.errors.Problem as JSON), or empty. What else there is to know, such as why it was
    # left out.
    problem = models.JSONField(default=dict, blank=True)
    note = models.CharField(max_length=200, blank=True)
    # What people were to be told: {"event", "at"}.
    events = models.JSONField(default=list, blank=True)
    version = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-due_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["schedule", "due_at"], name="one_run_per_due_time")]
        indexes = [models.Index(fields=["status", "woken_at"], name="run_by_status")]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.schedule.name}"

    @property
    def ended(self) -> bool:
        return self.status in self.ENDED

    @property
    def late(self) -> bool:
        """Whether it is, or was, so late that people are told."""
        return any(each["event"] == "late" for each in self.events)


class DiscoveredFile(models.Model):
    """A file that a run came across, and what became of it.

    found -> fetched -> loading -> loaded
      |         |          +-----> failed
      |         +----------------> failed, already loaded
      +--> already loaded, failed before, still written, gone, left
    """

    class Outcome(models.TextChoices):
        FOUND = "found"
        FETCHED = "fetched"
        LOADING = "loading"
        LOADED = "loaded"
        ALREADY_LOADED = "already loaded"
        FAILED = "failed"
        # On arrival: it failed in an earlier run, and is as it was.
        FAILED_BEFORE = "failed before"
        # It kept changing while the run watched it: for a later run.
        STILL_WRITTEN = "still written"
        GONE = "gone"
        # The run ended before it came to it: for a later run.
        LEFT = "left"

    class Done(models.TextChoices):
        NOTHING = ""
        MOVED = "moved"
        DELETED = "deleted"
        FAILED = "failed"

    run = models.ForeignKey(ScheduleRun, models.CASCADE, related_name="files")
    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="files")
    # As the connection lists it, below its base. Size in bytes.
    name = models.CharField(max_length=1024)
    size = models.BigIntegerField(null=True, blank=True)
    modified_at = models.DateTimeField(null=True, blank=True)
    etag = models.CharField(max_length=255, blank=True)
    # Nobody writes to it any more.
    settled = models.BooleanField(default=False)
    # A digest of name, size and time: the same file, unchanged; "" if these do not tell. And xxh3-128 of what is in it,
    # once it has been fetched.
    identity = models.CharField(max_length=32, blank=True)
    fingerprint = models.CharField(max_length=32, blank=True)
    source = models.ForeignKey(SourceFile, models.SET_NULL, null=True, blank=True, related_name="picked")
    # More than one where a later run went on with an import that had failed.
    job = models.ForeignKey(ImportJob, models.SET_NULL, null=True, blank=True, related_name="picked")
    outcome = models.CharField(max_length=14, choices=Outcome, default=Outcome.FOUND)
    problem = models.JSONField(default=dict, blank=True)
    # What was done with the file after its import had balanced, and what kept that from being done.
    done = models.CharField(max_length=7, choices=Done, default=Done.NOTHING, blank=True)
    done_problem = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name", "pk"]
        indexes = [
            models.Index(fields=["schedule", "identity"], name="picked_by_identity"),
            models.Index(fields=["schedule", "fingerprint"], name="picked_by_fingerprint"),
            models.Index(fields=["run", "outcome"], name="picked_by_outcome"),
        ]

    def __str__(self) -> str:
        return self.name
