"""The actions that people request for schedules: create, change, pause, resume, run, cancel, delete, forget."""

from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from importer import queue
from importer.access import approval, limits
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.access.time_zones import zone_named
from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.models import DiscoveredFile, ImportJob, MappingPreset, Schedule, ScheduleRun, SourceConnection
from importer.preparation import presets
from importer.queue import Message
from importer.schedules import past_import, recurrence
from importer.schedules.run.completion import stop
from importer.schedules.run.deduplication import is_loaded
from importer.schedules.run.owner import require_grants
from importer.schedules.scheduler import record_run, timing_of
from importer.schedules.transitions import UNENDED, Status, touch
from importer.schedules.validation import check

Trigger = Schedule.Trigger

# The answers to the question for a limit of rejected rows, where the import or preset that is copied has none.
NO_LIMIT, DEFAULT_LIMIT = "none", "default"


@dataclass(frozen=True)
class ScheduleRequest:
    """The fields of a schedule that people set. models/schedule.py explains each.

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
    most_attempts: int = 5
    backoff_seconds: int = 60
    deadline_minutes: int | None = None
    no_file: str = Schedule.NoFile.FINE
    known_by: str = Schedule.KnownBy.CONTENT
    afterwards: str = Schedule.Afterwards.KEEP
    move_to: str = ""
    drift: str = Schedule.Drift.STOP
    lateness_minutes: int | None = None
    rejects_limit: int | None = None


def trigger_for(cron: str, every_minutes: int | None) -> str:
    """The trigger that is meant by a cron text, by an interval, or by neither of them."""
    return Trigger.CRON if cron else Trigger.EVERY if every_minutes else Trigger.ARRIVAL


def create(
    request: ScheduleRequest, preset: MappingPreset, user: User | None = None, *, no_limit: bool = False
) -> Schedule:
    """Create a schedule with the preset's mapping, options and table. Its first run is due at the next due time.

    `no_limit`: each import may reject any number of rows, if the preset has no limit either; otherwise the default one
    holds. Raises Problem for an invalid request, and TooMany if the user has as many as allowed.
    """
    return _create(request, recipe_of(preset, no_limit=no_limit), user)


def recipe_of(preset: MappingPreset, *, no_limit: bool) -> dict[str, Any]:
    """The fields that a schedule of this preset copies from it; `no_limit` as for create()."""
    options = to_json(_recurring_options(preset.options, no_limit))
    return {name: getattr(preset, name) for name in presets.RECIPE} | {"options_json": options}


def create_from_job(
    job: ImportJob, request: ScheduleRequest, user: User | None = None, *, no_limit: bool = False
) -> Schedule:
    """Create a schedule with a past import's mapping, options and table; `no_limit` as for create().

    The files whose rows the import has put into the table count as loaded by the schedule.

    Raises Problem for an invalid request, and if the import's table no longer exists.
    """
    options = to_json(_recurring_options(job.options, no_limit))
    return _create(request, presets.recipe_of(job) | {"options_json": options}, user, job)


def lacks_limit(recipe: ImportJob | MappingPreset | Schedule) -> bool:
    """Whether any number of rows may be rejected: a person says whether that is meant for every run."""
    return recipe.options.on_error == "reject" and not recipe.options.limits_rejects


def _recurring_options(options: Options, no_limit: bool) -> Options:
    """The options for further imports. Mode create becomes append, since the table now exists, and a preview a load."""
    limited = replace(options if no_limit else options.with_default_limit(), preview=False)
    return limited.appending() if limited.mode == "create" else limited


def _create(
    request: ScheduleRequest, recipe: dict[str, Any], user: User | None, job: ImportJob | None = None
) -> Schedule:
    schedule = Schedule(**values_of(request), **recipe, created_by=user, starters=approval.starters(user))
    require_grants(schedule)
    check(schedule)
    schedule.next_due_at = _next_due(schedule)
    with limits.one_more(limits.SCHEDULES, user):
        schedule.save()
        if job:
            past_import.record(schedule, job)
    return schedule


def values_of(request: ScheduleRequest) -> dict[str, Any]:
    """The values of the model's fields; those that the trigger does not use are empty."""
    values = {each.name: getattr(request, each.name) for each in fields(request)}
    if request.trigger != Trigger.CRON:
        values["cron"] = ""
    if request.trigger != Trigger.EVERY:
        values["every_minutes"] = None
    if request.afterwards != Schedule.Afterwards.MOVE:
        values["move_to"] = ""
    cron, name, move_to = " ".join(values["cron"].split()), values["name"].strip(), values["move_to"].strip("/ ")
    return values | {"cron": cron, "name": name, "move_to": move_to}


def _next_due(schedule: Schedule) -> datetime | None:
    now = timezone.now()
    return now if schedule.trigger == Trigger.ARRIVAL else recurrence.next_due(timing_of(schedule), now)


def update(
    schedule: Schedule,
    request: ScheduleRequest,
    preset: MappingPreset | None = None,
    *,
    no_limit: bool | None = None,
) -> None:
    """Change a schedule; a preset replaces its mapping, options and table. The next due time is computed from now.

    `no_limit` as for create(); with None, a schedule without a limit of rejected rows stays so if the preset has none
    either.

    Raises Problem for an invalid request, and if the schedule was changed since it was read.
    """
    values = values_of(request)
    if preset:
        values |= recipe_of(preset, no_limit=lacks_limit(schedule) if no_limit is None else no_limit)
    for name, value in values.items():
        setattr(schedule, name, value)
    require_grants(schedule)
    check(schedule)
    values["starters"] = sorted({*schedule.starters, *approval.starters()})
    values["next_due_at"] = None if schedule.paused else _next_due(schedule)
    as_read = Schedule.objects.filter(pk=schedule.pk, version=schedule.version, paused=schedule.paused)
    if not as_read.update(**values, problem={}, version=F("version") + 1):
        raise Problem("The schedule has changed since you looked at it.", schedule.name, "Reload it, then change it.")
    # The new mapping may be the answer: with trigger arrival, these files count as new again.
    schedule.files.filter(outcome=DiscoveredFile.Outcome.NEEDS_ANSWER).update(identity="")
    schedule.refresh_from_db()


def pause(schedule: Schedule) -> None:
    """Start no more runs automatically; runs under way continue. Due times during the pause are not caught up.

    Raises Problem if the schedule is paused already.
    """
    if not Schedule.objects.filter(pk=schedule.pk, paused=False).update(paused=True, next_due_at=None):
        raise Problem("The schedule is paused already.", schedule.name)
    touch(schedule.pk)


def resume(schedule: Schedule) -> None:
    """Continue with the next due time from now. Raises Problem if the schedule is not paused, or is never due."""
    paused = Schedule.objects.filter(pk=schedule.pk, paused=True)
    if not paused.update(paused=False, next_due_at=_next_due(schedule), problem={}):
        raise Problem("The schedule is not paused.", schedule.name)
    touch(schedule.pk)


def run_now(schedule: Schedule, for_date: date | None = None, user: User | None = None) -> ScheduleRun:
    """Start a run, also of a paused schedule; with `for_date` as if it were that day. Loaded files are not repeated.

    The run waits while another run of the schedule is under way. Raises Problem for a future date.
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
    """End the run and cancel the import that is under way; committed rows stay.

    Raises Problem if the run has ended.
    """
    unended = ScheduleRun.objects.filter(pk=run.pk, status__in=UNENDED)
    if not stop(run, unended, Status.CANCELLED, {}, f"cancelled by {user}" if user else "cancelled"):
        raise Problem("The run has ended.", str(run), "Its page shows how.")


def dismiss(run: ScheduleRun) -> None:
    """Say that nobody needs to look at how the run and its imports ended; the acting person is named with it.

    Raises Problem for a run that is under way or did not fail.
    """
    who = {"dismissed_at": timezone.now(), "dismissed_by": acting_user()}
    ended = ScheduleRun.objects.filter(pk=run.pk, status__in=ScheduleRun.UNSUCCESSFUL)
    if not ended.update(**who, version=F("version") + 1):
        raise Problem("The run needs nobody: it is under way, or it did not fail.", str(run))
    jobs = ImportJob.objects.filter(picked__run=run, status=ImportJob.Status.FAILED, dismissed_at=None)
    ImportJob.objects.filter(pk__in=list(jobs.values_list("pk", flat=True))).update(**who, version=F("version") + 1)
    touch(run.schedule_id)


def delete(schedule: Schedule) -> None:
    """Delete the schedule, its runs, and its record of loaded files. Its imports stay.

    Raises Problem while a run is under way.
    """
    with transaction.atomic():
        locked = Schedule.objects.select_for_update().get(pk=schedule.pk)
        if locked.runs.filter(status__in=UNENDED).exists():
            raise Problem("A run of the schedule is under way.", schedule.name, "Wait for its end, or cancel it.")
        locked.delete()


def forget(schedule: Schedule, name: str) -> int:
    """Forget a file's earlier attempts that did not succeed, so that the next run imports it as a new file.

    For a file whose partly loaded rows were removed from the table. The imports of these attempts are forgotten for
    files of other names, too, which have the same content. Returns the number of attempts; raises Problem if there
    are none, or if the last one has loaded the file: a name that was mistaken would double its rows.
    """
    ended = Q(job__status__in=(ImportJob.Status.FAILED, ImportJob.Status.CANCELLED))
    asked = Q(outcome=DiscoveredFile.Outcome.NEEDS_ANSWER)
    tried = schedule.files.filter(name=name)
    attempts = tried.filter(ended | asked | Q(outcome=DiscoveredFile.Outcome.DROPPED))
    loaded = tried.filter(is_loaded()).order_by("pk").last()
    if loaded and not attempts.filter(pk__gt=loaded.pk).exists():
        raise Problem(
            f"{name} was loaded; only attempts that failed are forgotten.",
            schedule.name,
            "To load it once more, take its rows out of the table, and import it by hand: as a new import on the pages,"
            f" or by millrace load from the connection {schedule.connection.name}.",
        )
    # The ids, since MySQL does not update a table by a query of the same table.
    ids = list(attempts.values_list("pk", flat=True))
    imports = [pk for pk in attempts.values_list("job_id", flat=True) if pk]
    if not ids:
        raise Problem(f"No attempt to load {name} has failed.", schedule.name, "Name the file as the run lists it.")
    forgotten = schedule.files.filter(Q(pk__in=ids) | Q(job__in=imports))
    forgotten.filter(outcome=DiscoveredFile.Outcome.DROPPED).update(outcome=DiscoveredFile.Outcome.FAILED)
    forgotten.update(job=None, identity="")
    touch(schedule.pk)
    return len(ids)


def by_name(name: str) -> Schedule:
    """The schedule of this name. Raises Problem, with the existing names, if there is none."""
    schedule = seen(Schedule.objects.select_related("target", "connection")).filter(name=name).first()
    if schedule:
        return schedule
    known = ", ".join(seen(Schedule.objects.all()).values_list("name", flat=True)[:20]) or "none yet"
    raise Problem(f"There is no schedule named {name}.", advice=f"Known: {known}.")


def next_due_times(schedule: Schedule, count: int = 5) -> list[datetime]:
    """The next `count` due times, in the schedule's zone; none while it is paused, or with trigger arrival."""
    if schedule.paused or not schedule.next_due_at or schedule.trigger == Trigger.ARRIVAL:
        return []
    first = schedule.next_due_at
    return [
        first.astimezone(zone_named(schedule.zone)),
        *recurrence.next_due_times(timing_of(schedule), first, count - 1),
    ]
