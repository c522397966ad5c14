"""What people ask of schedules."""

from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer import queue
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect
from importer.engine.plan.options import Options
from importer.engine.schema.table import read_table
from importer.engine.source.profile.profile import profile_file
from importer.engine.stored import to_json
from importer.models import DiscoveredFile, ImportJob, MappingPreset, Schedule, ScheduleRun, SourceConnection
from importer.preparation import presets
from importer.queue import Message
from importer.schedules import recurrence
from importer.schedules.run.completion import stop
from importer.schedules.scheduler import record_run, timing_of
from importer.schedules.transitions import UNENDED, Status, touch
from importer.schedules.validation import check

Trigger = Schedule.Trigger


@dataclass(frozen=True)
class ScheduleRequest:
    """Where files come from, when they are looked for, and what becomes of them: models/schedule.py says what each is.

    `trigger` is cron with `cron`, every with `every_minutes`, or arrival.
    """

    name: str
    connection: SourceConnection
    pattern: str
    subfolders: bool = False
    trigger: str = Trigger.ARRIVAL
    cron: str = ""
    every_minutes: int | None = None
    zone: str = "UTC"
    overlap: str = Schedule.Overlap.QUEUE
    misfire: str = Schedule.Misfire.ONCE
    misfire_most: int = 10
    tries: int = 5
    backoff_seconds: int = 60
    deadline_minutes: int | None = None
    no_file: str = Schedule.NoFile.FINE
    known_by: str = Schedule.KnownBy.CONTENT
    afterwards: str = Schedule.Afterwards.KEEP
    move_to: str = ""
    drift: str = Schedule.Drift.STOP
    lateness_minutes: int | None = None
    rejects_limit: int | None = None

    @classmethod
    def from_schedule(cls, schedule: Schedule) -> "ScheduleRequest":
        """As a schedule has it."""
        return cls(**{each.name: getattr(schedule, each.name) for each in fields(cls)})


def create(asked: ScheduleRequest, preset: MappingPreset, user: User | None = None) -> Schedule:
    """A schedule that reads files as a preset says, into its table. Its first run is due at the next due time.

    Raises Problem for what cannot be.
    """
    names = ("target", "schema_name", "table_name", "header", "columns_json")
    recipe = {name: getattr(preset, name) for name in (*names, "dialect_json", "mapping_json", "fillings_json")}
    return _create(asked, recipe | {"options_json": to_json(_every_time(preset.options))}, user)


def create_from_job(job: ImportJob, asked: ScheduleRequest, user: User | None = None) -> Schedule:
    """A schedule that reads files as a past import did, into its table.

    Raises Problem for what cannot be, and if the import's file or table are no longer there.
    """
    with connect(job.target.address) as connection:
        table = read_table(connection, job.schema_name, job.table_name)
    recipe = {
        "target": job.target,
        "schema_name": job.schema_name,
        "table_name": job.table_name,
        "header": list(profile_file(job.source.file, job.file_dialect).header),
        "columns_json": presets.column_types(table),
        "dialect_json": job.dialect_json,
        "mapping_json": job.mapping_json,
        "fillings_json": job.fillings_json,
        "options_json": to_json(_every_time(job.options)),
    }
    return _create(asked, recipe, user)


def _every_time(options: Options) -> Options:
    """The options of an import that comes again: the table that mode create has made is there from now on."""
    return replace(options, mode="append", partitions=None) if options.mode == "create" else options


def _create(asked: ScheduleRequest, recipe: dict[str, Any], user: User | None) -> Schedule:
    schedule = Schedule(**_values(asked), **recipe, created_by=user)
    check(schedule)
    schedule.next_due_at = _next_due(schedule)
    schedule.save()
    return schedule


def _values(asked: ScheduleRequest) -> dict[str, Any]:
    """The model's fields; those that the trigger does not use are empty."""
    values = {each.name: getattr(asked, each.name) for each in fields(asked)}
    if asked.trigger != Trigger.CRON:
        values["cron"] = ""
    if asked.trigger != Trigger.EVERY:
        values["every_minutes"] = None
    if asked.afterwards != Schedule.Afterwards.MOVE:
        values["move_to"] = ""
    cron, name, move_to = " ".join(values["cron"].split()), values["name"].strip(), values["move_to"].strip("/ ")
    return values | {"cron": cron, "name": name, "move_to": move_to}


def _next_due(schedule: Schedule) -> datetime | None:
    now = timezone.now()
    return now if schedule.trigger == Trigger.ARRIVAL else recurrence.next_due(timing_of(schedule), now)


def update(schedule: Schedule, asked: ScheduleRequest, preset: MappingPreset | None = None) -> None:
    """Change it, and with a preset how files are read and where they go. Its next due time is reckoned anew from now.

    Raises Problem for what cannot be, and if somebody has changed it since it was read.
    """
    values = _values(asked)
    if preset:
        names = ("target", "schema_name", "table_name", "header", "columns_json")
        values |= {name: getattr(preset, name) for name in (*names, "dialect_json", "mapping_json", "fillings_json")}
        values["options_json"] = to_json(_every_time(preset.options))
    for name, value in values.items():
        setattr(schedule, name, value)
    check(schedule)
    values["next_due_at"] = None if schedule.paused else _next_due(schedule)
    as_read = Schedule.objects.filter(pk=schedule.pk, version=schedule.version, paused=schedule.paused)
    if not as_read.update(**values, problem={}, version=F("version") + 1):
        raise Problem("The schedule has changed meanwhile.", schedule.name, "Look at it again, then change it.")
    schedule.refresh_from_db()


def pause(schedule: Schedule) -> None:
    """Begin no more runs by itself; those under way go on. Due times that pass meanwhile are not made up for."""
    if not Schedule.objects.filter(pk=schedule.pk, paused=False).update(paused=True, next_due_at=None):
        raise Problem("The schedule is paused already.", schedule.name)
    touch(schedule.pk)


def resume(schedule: Schedule) -> None:
    """Go on with the next due time from now. Raises Problem if it is not paused, or if it is never due."""
    paused = Schedule.objects.filter(pk=schedule.pk, paused=True)
    if not paused.update(paused=False, next_due_at=_next_due(schedule), problem={}):
        raise Problem("The schedule is not paused.", schedule.name)
    touch(schedule.pk)


def run_now(schedule: Schedule, for_date: date | None = None, user: User | None = None) -> ScheduleRun:
    """Begin a run, also of a paused schedule; with `for_date` as if it were that day. Files that are in stay so.

    It waits while another run of the schedule is under way. Raises Problem for a date to come.
    """
    now = timezone.now()
    moment = recurrence.moment_on(timing_of(schedule), for_date) if for_date else now
    if moment > now:
        raise Problem(f"{for_date} has not begun.", schedule.name, "Choose today or a past day.")
    run = record_run(schedule, now, ScheduleRun.Cause.BY_HAND, moment, user.pk if user else None)
    if not run:
        raise Problem("A run was begun this very moment.", schedule.name, "See how that one ends.")
    touch(schedule.pk)
    queue.send([Message("take_run", run.pk)])
    return run


def cancel(run: ScheduleRun, user: User | None = None) -> None:
    """End the run and cancel the import that is under way; its rows that are committed stay. Raises Problem if it has
    ended.
    """
    unended = ScheduleRun.objects.filter(pk=run.pk, status__in=UNENDED)
    if not stop(run, unended, Status.CANCELLED, {}, f"cancelled by {user}" if user else "cancelled"):
        raise Problem("The run has ended.", str(run), "Its page shows how.")


def delete(schedule: Schedule) -> None:
    """Forget it, its runs, and which files it has loaded. Its imports stay. Raises Problem while a run is under way."""
    with transaction.atomic():
        locked = Schedule.objects.select_for_update().get(pk=schedule.pk)
        if locked.runs.filter(status__in=UNENDED).exists():
            raise Problem("A run of the schedule is under way.", schedule.name, "Wait for its end, or cancel it.")
        locked.delete()


def forget(schedule: Schedule, name: str) -> int:
    """Let a file's earlier tries that have not succeeded count no more, as their rows were dealt with; how many."""
    tries = DiscoveredFile.objects.filter(schedule=schedule, name=name).exclude(job=None)
    ended = (ImportJob.Status.FAILED, ImportJob.Status.CANCELLED)
    forgotten = tries.filter(job__status__in=ended).update(job=None, identity="")
    if not forgotten:
        raise Problem(f"No try of {name} has failed.", schedule.name, "Name the file as the run lists it.")
    touch(schedule.pk)
    return forgotten


def by_name(name: str) -> Schedule:
    """Raises Problem, with the names there are, if there is none of that name."""
    schedule = Schedule.objects.select_related("target", "connection").filter(name=name).first()
    if schedule:
        return schedule
    known = ", ".join(Schedule.objects.values_list("name", flat=True)[:20]) or "none yet"
    raise Problem(f"There is no schedule named {name}.", advice=f"Known: {known}.")


def next_due_times(schedule: Schedule, count: int = 5) -> list[datetime]:
    """Its next due times, in its zone; none while it is paused, or if it waits for files."""
    if schedule.paused or not schedule.next_due_at or schedule.trigger == Trigger.ARRIVAL:
        return []
    first = schedule.next_due_at
    return [
        first.astimezone(recurrence.zone_named(schedule.zone)),
        *recurrence.next_due_times(timing_of(schedule), first, count - 1),
    ]
