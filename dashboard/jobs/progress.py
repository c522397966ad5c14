"""The progress of an import, in words and numbers for its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from math import inf

from django.db.models import Count, Max, Min, Q, Sum
from django.utils.text import capfirst

from dashboard.formatting import percent
from importer.diagnosis.facts import still_seconds
from importer.diagnosis.pauses import paused_words
from importer.engine.mysql.diagnosis.causes.application import STANDSTILL
from importer.engine.schema.alter_table import DdlProgress
from importer.engine.source.formats.registry import FORMATS
from importer.jobs.uploading import can_follow
from importer.models import Chunk, ImportJob, SourceFile
from importer.models.job import COMMITTED_ROWS
from importer.models.outcomes import UNDECIDED, outcome
from importer.models.outcomes.attempts import Speed, speed_of, started_at
from importer.models.outcomes.reloaded_rows import rows_missing
from importer.models.outcomes.sequels import told
from importer.worker import live_progress
from importer.worker.hosts.installation import state

# Current rates cover the last RECENT_SECONDS. The time left is estimated over more, because chunks end in bursts.
RECENT_SECONDS = 10
FORECAST_SECONDS = 60
# Seconds of waiting that are worth a word.
LEAST_TOLD = 0.1
# The time left is unknown when the last commit is longer ago than this many usual times between two of one session.
STALLED_AFTER = 2

Status = ImportJob.Status

_PHASES: Mapping[str, str] = {
    Status.UNAPPROVED: "Nothing is written before another person approves the plan",
    Status.WAITING: "Waiting for the table: another import has it",
    Status.LOADING: "Loading",
    Status.PAUSED: "no further chunk starts until you resume",
    Status.FINISHING: "Staged",
    Status.INDEXING: "Loaded; putting back what was taken off the table",
    Status.VERIFYING: "Loaded; verifying against the ledger on the server",
    Status.SUCCEEDED: "Every row is accounted for",
    Status.FAILING: "Failing: ending what is in flight",
    Status.CANCELLING: "Cancelling: ending what is in flight",
}
# The phases of an import with a staging table.
_STAGED_PHASES: Mapping[str, str] = {
    **_PHASES,
    Status.LOADING: "Loading into a staging table; the target's table is untouched",
    Status.VERIFYING: "Finished; verifying against the ledger on the server",
    Status.FAILED: "Failed; the table is as it was",
    Status.CANCELLED: "Cancelled; the table is as it was",
}
_CREATING_PHASES: Mapping[str, str] = {
    **_STAGED_PHASES,
    Status.LOADING: "Loading into a staging table; the new table is not there yet",
    Status.FAILED: "Failed; no table was made",
    Status.CANCELLED: "Cancelled; no table was made",
}
_FINISHING: Mapping[str, str] = {
    "atomic": "Staged; moving all rows into the table in one transaction",
    "upsert": "Staged; changing and adding rows in one transaction",
    "update": "Staged; comparing with the table, and changing what differs, in one transaction",
    "sync": "Staged; comparing with the table, and changing what differs, in one transaction",
    "replace": "Staged; putting the new table in the place of the old one",
    "create": "Staged; giving the new table its name",
}
UNSURE = "the server does not answer, so it is not known yet whether the rows are in"


def _copying(job: ImportJob) -> tuple[str, str]:
    """How the working copy is made before the scan, and its name when it is done, in words."""
    if job.is_sorted and not job.needs_plain_copy:
        return "Putting the rows in the order of the key", "Sorted"
    also = (" and putting the rows in the order of the key", " and sorted") if job.is_sorted else ("", "")
    doing, done = ("Unpacking", "Unpacked") if job.packing else ("Turning it into UTF-8", "Decoded")
    if job.file_dialect.is_converted:
        doing, done = f"Converting {FORMATS[job.file_dialect.format].label} to text", "Converted"
    return doing + also[0], done + also[1]


def _rejected_words(rejected: int, missing: int) -> str:
    """How many rows were rejected, and how many of them later imports have not loaded."""
    one = rejected == 1
    were = f"{rejected:,} {'row was' if one else 'rows were'} rejected"
    if missing == rejected:
        return f"{were} and {'is' if one else 'are'} not in the table"
    if not missing:
        return f"{were}; {'it was' if one else 'all were'} loaded later"
    return f"{were}; {missing:,} of them {'is' if missing == 1 else 'are'} not in the table"


@dataclass(frozen=True)
class Recent:
    """Recent commits: rows and bytes of the last RECENT_SECONDS, bytes of the last FORECAST_SECONDS.

    `seconds`, `forecast_seconds`: these seconds, or fewer if the first of the chunks began later, as after a sort.
    `steady`: the seconds for which they stay the same if nothing is committed. `stalled`: the next commit is overdue,
    as when the server does not answer. `still`: the seconds for which no byte has moved.
    """

    rows: int = 0
    bytes: int = 0
    forecast_bytes: int = 0
    seconds: float = 0.0
    forecast_seconds: float = 0.0
    steady: float = inf
    stalled: bool = False
    still: float = 0.0


@dataclass(frozen=True)
class Bar:
    """One progress bar: `done` of `whole` bytes, and whether that is all."""

    label: str
    done: int
    whole: int
    colour: str = ""

    @property
    def full(self) -> bool:
        return self.done >= self.whole


@dataclass(frozen=True)
class Progress:
    """The parts of a job's page that change while it runs, from the job's row, live counters and a sum over chunks.

    `stage`: the progress of restoring keys, while the server does that. `halts`: why no import continues, in words.
    """

    job: ImportJob
    now: datetime
    sent_in_flight: int
    recent: Recent
    stage: DdlProgress | None = None
    halts: str = ""

    @property
    def page_state(self) -> str:
        """A token of what the page shows: with an equal token, nothing has changed."""
        job, recent = self.job, self.recent
        return ".".join(
            str(part)
            for part in (
                self.shape,
                self.rejects_state,
                job.version,
                job.source.received,
                self.sent_in_flight,
                recent.rows,
                recent.forecast_bytes,
                recent.stalled,
                self.still_since is not None,
                self.stage and f"{self.stage.words}-{self.stage.percent}",
                self.halts,
            )
        )

    @property
    def shape(self) -> str:
        """The part of the token that covers heading and buttons."""
        asked = self.job.approval_asked_at is not None
        kept = f"{self.job.kept_table}.{self.job.undo_asked}.{self.job.restored_at is not None}"
        attempt, held_up = f"{self.job.status}.{self.job.attempts}", f"{self.job.held_up}.{self.job.overdue}"
        return f"{attempt}.{asked}.{self.job.parallelism}.{kept}.{self.job.staging}.{held_up}"

    @property
    def rejects_state(self) -> str:
        """The part of the token that covers rejected and skipped rows and notices."""
        job = self.job
        noticed = sum(each["values"] for each in job.notices)
        return f"{job.rejected_rows}-{job.skipped_rows}-{noticed}-{job.ended}"

    @property
    def phase(self) -> str:
        """What the import does, or what is in the table if not all of its rows are."""
        job = self.job
        if job.restored_at:
            old = "rows are back" if job.keeps_rows else "table is back; none of these rows is in the table"
            return f"The old {old}"
        if job.status == Status.SUCCEEDED and job.rejected_rows:
            return _rejected_words(job.rejected_rows, rows_missing(job))
        return self._phase_words

    @property
    def _phase_words(self) -> str:
        if self.job.status == Status.LOADING and self.job.source.arriving:
            return "Loading what has arrived" if can_follow(self.job) else "Waiting for the upload"
        if self.job.status == Status.LOADING and self.job.needs_copy and not self.job.plain_copy:
            return _copying(self.job)[0]
        if self.job.status == Status.LOADING and self.job.awaits_changes:
            return f"{self._preparing_words} first; the chunks wait for that"
        if self.job.status == Status.PAUSED:
            return f"{paused_words(self.job)}: {_PHASES[Status.PAUSED]}"
        if self.job.status == Status.INDEXING:
            return f"Loaded; {'not yet put back:' if self.job.held_up else 'putting back'} {self._changes_words}"
        if self.job.unrestored and self.job.status in ImportJob.ENDING:
            return f"{self.job.get_status_display()}: putting back {self._changes_words}"
        if self.job.status == Status.LOADING and not self.job.scan_finished:
            return "Scanning and loading" + (" into a staging table" if self.job.stages else "")
        if self.job.stages:
            return self._staged_phase
        if self.job.status in (Status.FAILED, Status.CANCELLED):
            rows = self.job.committed_rows
            were = f" after {rows:,} {'row was' if rows == 1 else 'rows were'} committed"
            return self.job.get_status_display() + (were if self.job.committed_bytes else "; nothing was committed")
        return _PHASES[self.job.status]

    @property
    def _changes_words(self) -> str:
        """The temporary changes on the target, in words."""
        changes = self.job.temporary_changes or self.job.plan.temporary_changes
        return (changes.description if changes and changes.description else "") or "what was changed on the server"

    @property
    def _preparing_words(self) -> str:
        changes = self.job.plan.temporary_changes
        if changes and changes.alters_table and not changes.variables:
            return f"Taking {changes.description} off"
        return f"Preparing {changes.description}" if changes else "Preparing the server"

    @property
    def _staged_phase(self) -> str:
        job = self.job
        if job.status == Status.FINISHING:
            return _FINISHING[job.options.mode]
        if job.compared_json and job.ended and not job.finished:
            waits = ". Somebody has to apply or drop what is staged" if outcome(job) == UNDECIDED else ""
            return f"Compared; the table is as it was{waits}"
        if job.status in (Status.FAILED, Status.CANCELLED):
            if job.leftover:
                return f"{job.get_status_display()}; {UNSURE}"
            if job.finished:
                return f"{job.get_status_display()} after all rows were in"
        phases = _CREATING_PHASES if job.options_json.get("mode") == "create" else _STAGED_PHASES
        return phases[job.status]

    @property
    def compared_rows(self) -> int | None:
        """The rows that were compared with the table, by an import that has ended without changing it; else None."""
        job = self.job
        return job.scanned_rows - job.rejected_rows if job.ended and job.compared_json and not job.finished else None

    @property
    def data_bytes(self) -> int:
        """The size of the file without BOM and header."""
        return self.job.data_bytes

    @property
    def since(self) -> datetime | None:
        """When the present attempt got the table; None before that."""
        return started_at(self.job)

    @property
    def elapsed(self) -> float | None:
        """Seconds since the start of the present attempt; of a job that has ended, those that all attempts worked."""
        if self.since is None:
            return None
        if self.job.ended:
            return self.speed.seconds.working if self.speed else None
        return max(0.0, (self.now - self.since).total_seconds())

    @property
    def idle(self) -> float:
        """The seconds of a job that has ended which `elapsed` leaves out: of waiting and of pauses."""
        seconds = self.speed.seconds if self.speed and self.job.ended else None
        idle = seconds.waiting + seconds.paused if seconds else 0.0
        return idle if idle >= LEAST_TOLD else 0.0

    @cached_property
    def speed(self) -> Speed | None:
        """The rate over the loading time of all attempts; None if that is not known."""
        return speed_of(self.job, self.now)

    @property
    def rows_per_second(self) -> float | None:
        return self.speed.rows_per_second if self.speed else None

    @property
    def bytes_per_second(self) -> float | None:
        return self.speed.bytes_per_second if self.speed else None

    @property
    def recent_rows_per_second(self) -> float:
        return _per_second(self.recent.rows, self.recent.seconds) or 0.0

    @property
    def recent_bytes_per_second(self) -> float:
        return _per_second(self.recent.bytes, self.recent.seconds) or 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the last byte is committed, at the pace of the last minute; None if unknown."""
        if self.job.status != Status.LOADING or self.recent.stalled:
            return None
        pace = _per_second(self.recent.forecast_bytes, self.recent.forecast_seconds)
        return (self.data_bytes - self.job.committed_bytes) / pace if pace else None

    @property
    def ends_at(self) -> datetime | None:
        """When the last byte will be committed, as seconds_left estimates it."""
        left = self.seconds_left
        return None if left is None else self.now + timedelta(seconds=left)

    @property
    def percent(self) -> int:
        """The committed part of the data."""
        return percent(self.job.committed_bytes, self.data_bytes)

    @property
    def still_since(self) -> datetime | None:
        """Since when nothing moves; None unless that is a standstill."""
        still = self.recent.still
        return self.now - timedelta(seconds=still) if still >= STANDSTILL else None

    @property
    def title(self) -> str:
        """The import in the title of its page: its outcome, or how far it is."""
        job = self.job
        how_far = f"{self.percent} %" if job.status == Status.LOADING else capfirst(told(job))
        return f"{how_far} · {job.source.name} → {job.table}"

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The bars of upload, working copy, scan, sent and committed bytes; the time left is that of the last one."""
        job, source = self.job, self.job.source
        received = source.size if source.status == SourceFile.Status.READY else source.received
        scanned = max(0, job.scanned_bytes - job.data_offset)
        sent = min(self.data_bytes, job.committed_bytes + self.sent_in_flight)
        return (
            Bar("Uploaded" if source.owned else "On disk", received, source.size),
            *([Bar(_copying(job)[1], job.copied_bytes, source.size)] if job.needs_copy else []),
            Bar("Scanned", scanned, self.data_bytes),
            Bar("Sent", sent, self.data_bytes, "sent"),
            Bar("Committed", job.committed_bytes, self.data_bytes, "committed"),
        )

    @property
    def rows_to_come(self) -> int:
        """Rows that are scanned, but not in the equation yet."""
        return max(0, self.job.scanned_rows - self.job.accounted_rows)


def progress(job: ImportJob, now: datetime) -> Progress:
    """The progress of `job`, with at most one query and one read of what Redis knows; none after its end."""
    if job.ended or job.started_at is None:
        return Progress(job, now, 0, Recent(), halts="" if job.ended else state().halts)
    stage = live_progress.restore_progress(job.pk) if job.status in ImportJob.RESTORING else None
    return Progress(job, now, live_progress.sent_bytes(job.pk), _recent(job, now), stage, state().halts)


def _recent(job: ImportJob, now: datetime) -> Recent:
    recent = Q(finished_at__gt=now - timedelta(seconds=RECENT_SECONDS))
    earliest = now - timedelta(seconds=FORECAST_SECONDS)
    if job.attempts > 1:  # The chunks of an earlier attempt tell nothing of this one.
        earliest = max(earliest, started_at(job) or now)
    sums = Chunk.objects.filter(job=job, status=Chunk.Status.LOADED, finished_at__gt=earliest).aggregate(
        rows=Sum(COMMITTED_ROWS, filter=recent),
        bytes=Sum("length", filter=recent),
        forecast_bytes=Sum("length"),
        first_recent=Min("finished_at", filter=recent),
        first=Min("finished_at"),
        last=Max("finished_at"),
        chunks=Count("pk"),
        seconds=Min("started_at", filter=recent),
        forecast_seconds=Min("started_at"),
    )
    for name, most in (("seconds", RECENT_SECONDS), ("forecast_seconds", FORECAST_SECONDS)):
        began = sums[name]
        sums[name] = min(most, max(0.0, (now - began).total_seconds())) if began else most
    first, last, chunks = sums["first"], sums.pop("last"), sums.pop("chunks")
    overdue = _overdue_after((last - first).total_seconds() if chunks else 0.0, chunks, job.parallelism)
    # Each changes what the page shows, that number of seconds after that commit.
    changes = ((sums.pop("first_recent"), RECENT_SECONDS), (sums.pop("first"), FORECAST_SECONDS), (last, overdue))
    ahead = [seconds - (now - commit).total_seconds() for commit, seconds in changes if commit]
    still = still_seconds(job, now)
    ahead += [STANDSTILL - still] if still else []
    steady = min((seconds for seconds in ahead if seconds > 0), default=inf)
    stalled = last is not None and (now - last).total_seconds() >= overdue
    return Recent(**{name: amount or 0 for name, amount in sums.items()}, steady=steady, stalled=stalled, still=still)


def _overdue_after(span: float, chunks: int, parallel: int) -> float:
    """The seconds after the last commit from which the next one is overdue; `chunks` were committed within `span`.

    Sessions that began together also commit together, so the usual time is that between two commits of one session.
    """
    if chunks <= parallel:  # too few to know the usual time
        return FORECAST_SECONDS / 2
    return max(RECENT_SECONDS, STALLED_AFTER * parallel * span / (chunks - 1))


def _per_second(amount: float, seconds: float | None) -> float | None:
    return amount / seconds if seconds else None
