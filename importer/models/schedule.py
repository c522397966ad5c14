"""A schedule, which imports files on its own; its runs, and the files that these discovered."""

from datetime import datetime

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from importer.lease import is_overdue
from importer.models.checked_save import Named
from importer.models.job import ImportJob
from importer.models.recipe import ImportRecipe, WithStarters
from importer.models.source_connection import SourceConnection
from importer.models.source_file import SourceFile
from importer.models.target import Target


class Schedule(Named, ImportRecipe, WithStarters):
    """A recurring import: the source of files, the due times, the import recipe, and what happens to files afterwards.

    Recipe, header and columns are stored as in a mapping preset. They show whether a file or the table has changed.
    """

    thing = "schedule"

    class Trigger(models.TextChoices):
        CRON = "cron", "at set times"
        EVERY = "every", "at an interval"
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
        WARN = "warn", "sends a notification"
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
    # Name and full type of the table's columns when the schedule was saved, to detect later changes.
    columns_json = models.JSONField()

    connection = models.ForeignKey(SourceConnection, models.PROTECT, related_name="schedules")
    # Below the connection's base; may hold dates, such as sales-{date:%Y%m%d}.csv.
    pattern = models.CharField(max_length=512)
    subfolders = models.BooleanField(default=False)

    trigger = models.CharField(max_length=8, choices=Trigger)
    cron = models.CharField(max_length=200, blank=True)
    every_minutes = models.PositiveIntegerField(null=True, blank=True)
    # Name of the time zone for due times, dates in the pattern, and shown times.
    zone = models.CharField(max_length=64, default="UTC")

    overlap = models.CharField(max_length=8, choices=Overlap, default=Overlap.QUEUE)
    misfire = models.CharField(max_length=8, choices=Misfire, default=Misfire.ONCE)
    misfire_most = models.PositiveSmallIntegerField(default=10)
    # Most attempts of a run after temporary problems, and the seconds between the first two; they double with each
    # further one.
    most_attempts = models.PositiveSmallIntegerField(default=5)
    backoff_seconds = models.PositiveIntegerField(default=60)
    # A run is ended this long after its start. None: no limit.
    deadline_minutes = models.PositiveIntegerField(null=True, blank=True)
    no_file = models.CharField(max_length=8, choices=NoFile, default=NoFile.FINE)
    known_by = models.CharField(max_length=8, choices=KnownBy, default=KnownBy.CONTENT)
    afterwards = models.CharField(max_length=8, choices=Afterwards, default=Afterwards.KEEP)
    # Below the connection's base; may hold dates, too.
    move_to = models.CharField(max_length=512, blank=True)
    drift = models.CharField(max_length=8, choices=Drift, default=Drift.STOP)

    # Limits for notifications: minutes from the due time until a run must have ended, and rejected rows.
    lateness_minutes = models.PositiveIntegerField(null=True, blank=True)
    rejects_limit = models.PositiveBigIntegerField(null=True, blank=True)

    paused = models.BooleanField(default=False)
    # When the next run is due, or with trigger arrival the next look for files; None while paused.
    next_due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # Why there is no due time or no look for files (importer.engine.errors.Problem as JSON, with the moment `at` which
    # it was last found), or empty.
    problem = models.JSONField(default=dict, blank=True)
    # Counts every change a page would show.
    version = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def problem_at(self) -> datetime | None:
        """When the problem was last found; None if that is not known."""
        at = self.problem.get("at")
        return datetime.fromisoformat(at) if at else None

    @property
    def overdue(self) -> bool:
        """Whether its next run, or look for files, should have begun: no process works on schedules."""
        return not self.paused and is_overdue(self.next_due_at)


class ScheduleRun(models.Model):
    """One due time of a schedule with its result, or several due times that were skipped together.

    waiting -> finding <-> loading -> succeeded
       |          |          +-----> failed, needs an answer
       +----------+----------+-----> cancelled
    skipped

    `waiting`: another run of the schedule is under way. `finding`: files are searched, and watched until they stop
    changing. `loading`: one file after another is imported; if others still change then, the run goes back to
    `finding`. `skipped`: not begun, by the schedule's rules for overlaps
    and missed due times.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        FINDING = "finding"
        LOADING = "loading"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        # No file failed, but one can be read in more than one way. It is left where it is.
        NEEDS_ANSWER = "needs an answer"
        CANCELLED = "cancelled"
        SKIPPED = "skipped"

    class Cause(models.TextChoices):
        DUE = "due"
        BY_HAND = "by hand"
        ARRIVAL = "arrival"
        CATCH_UP = "catch-up"

    ENDED = (Status.SUCCEEDED, Status.FAILED, Status.NEEDS_ANSWER, Status.CANCELLED, Status.SKIPPED)
    # It ended, and a person has to do something before the next run can succeed.
    UNSUCCESSFUL = (Status.FAILED, Status.NEEDS_ANSWER)

    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="runs")
    # For cause arrival the time when the file was seen, for by hand the time of the request.
    due_at = models.DateTimeField()
    # For due times that were skipped together: the last one and their number.
    last_due_at = models.DateTimeField(null=True, blank=True)
    due_times = models.PositiveIntegerField(default=1)
    cause = models.CharField(max_length=8, choices=Cause)
    # The time that fills in the dates of the pattern.
    moment = models.DateTimeField()
    status = models.CharField(max_length=15, choices=Status, default=Status.WAITING)
    # Set while the run is under way, else NULL; unique, because MySQL ignores conditional constraints.
    schedule_claim = models.BigIntegerField(unique=True, null=True, blank=True, editable=False)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)

    # One worker at a time advances the run. `lease`: the time until which it counts as alive. `attempt`: claims so far.
    # `woken_at`: when the last message was sent to the workers.
    lease = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    woken_at = models.DateTimeField(null=True, blank=True)
    # Temporary problems: their number in a row, and the earliest time of the next attempt.
    failures = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    # When a notification of lateness is due; None if there is none or it was sent.
    late_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # How often files were looked at: files that still change are looked at again.
    looks = models.PositiveSmallIntegerField(default=0)
    found_files = models.PositiveIntegerField(default=0)
    # Of these, files that the schedule had loaded before; not all of them have a DiscoveredFile.
    known_files = models.PositiveIntegerField(default=0)

    # The problem (importer.engine.errors.Problem as JSON), or empty. `note`: other information, such as why it was
    # skipped.
    problem = models.JSONField(default=dict, blank=True)
    note = models.CharField(max_length=200, blank=True)
    # Events for notifications: {"event", "at"}.
    events = models.JSONField(default=list, blank=True)
    version = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Who has said, and when, that nobody needs to look at how it ended.
    dismissed_at = models.DateTimeField(null=True, blank=True, editable=False)
    dismissed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )

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
    def overdue(self) -> bool:
        """Whether its next attempt should have begun: no process works on schedules."""
        return is_overdue(self.retry_at)

    @property
    def late(self) -> bool:
        """Whether the run is or was late enough for a notification."""
        return any(each["event"] == "late" for each in self.events)

    @property
    def lateness(self) -> str:
        """In words: "late", of a run that has loaded its files since "late, then arrived"; "" of one in time."""
        return ("late, then arrived" if self.status == self.Status.SUCCEEDED else "late") if self.late else ""


class DiscoveredFile(models.Model):
    """A file that a run discovered, and its outcome.

    found -> fetched -> loading -> loaded
      |         |          +-----> failed
      |         +----------------> failed, already loaded, needs an answer
      +--> already loaded, failed before, dropped, gone, left; `dropped` also from failed
      +--> still written -> found; also from fetched and loading
    """

    class Outcome(models.TextChoices):
        FOUND = "found"
        FETCHED = "fetched"
        LOADING = "loading"
        LOADED = "loaded"
        ALREADY_LOADED = "already loaded"
        FAILED = "failed"
        # It can be read in more than one way; nothing of it was loaded.
        NEEDS_ANSWER = "needs an answer"
        # Trigger arrival: it failed in an earlier run and has not changed.
        FAILED_BEFORE = "failed before"
        # A limit of changes had stopped its import, and a person has dropped that: it is not loaded unless it changes.
        DROPPED = "dropped"
        # It kept changing, or was replaced before it was loaded. The run looks at it again, less often, or leaves it
        # for a later run.
        STILL_WRITTEN = "still written"
        GONE = "gone"
        # The run ended before loading it; left for a later run.
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
    # Whether it has stopped changing.
    settled = models.BooleanField(default=False)
    # Digest of name, size and time, equal for an unchanged file; "" if these cannot tell. `fingerprint`: xxh3-128 of
    # the content, once fetched.
    identity = models.CharField(max_length=32, blank=True)
    fingerprint = models.CharField(max_length=32, blank=True)
    source = models.ForeignKey(SourceFile, models.SET_NULL, null=True, blank=True, related_name="picked")
    # Several files can share a job: a later run continues an import that failed.
    job = models.ForeignKey(ImportJob, models.SET_NULL, null=True, blank=True, related_name="picked")
    outcome = models.CharField(max_length=15, choices=Outcome, default=Outcome.FOUND)
    problem = models.JSONField(default=dict, blank=True)
    # What was done with the file after its import balanced, and the problem that prevented it.
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
