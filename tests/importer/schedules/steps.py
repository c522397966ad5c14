"""Schedule runs whose steps, including those of their imports, a test takes itself."""

from dataclasses import fields
from datetime import timedelta

from django.utils import timezone

from importer import schedules
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.models import ImportJob, Schedule, ScheduleRun
from importer.queue import Message
from importer.schedules import ScheduleRequest
from importer.schedules.scheduler import process_due
from tests.importer.steps import run as run_job


def now(run: ScheduleRun) -> ScheduleRun:
    return ScheduleRun.objects.select_related("schedule").get(pk=run.pk)


def take(run: ScheduleRun) -> list[Message]:
    """Advance the run once, without waiting for its pause."""
    ScheduleRun.objects.filter(pk=run.pk).update(retry_at=None)
    following: list[Message] = []
    schedules.advance(run.pk, following.extend)
    return following


def job_of(run: ScheduleRun) -> ImportJob | None:
    return ImportJob.objects.filter(picked__run=run, picked__outcome="loading").first()


def to_import(run: ScheduleRun) -> ImportJob:
    """Advance the run to its next import, which has not begun to load."""
    while not (job := job_of(run)):
        assert not now(run).ended, (now(run).problem, now(run).note)
        take(run)
    return job


def to_end(run: ScheduleRun) -> ScheduleRun:
    for _ in range(50):
        if now(run).ended:
            return now(run)
        job = job_of(run)
        if job and not job.ended:
            run_job(job)
        take(run)
    raise AssertionError(f"{run} does not end: {now(run).status}, {now(run).problem}")


def run_now(schedule: Schedule, **options) -> ScheduleRun:
    """Run the schedule by hand, to the run's end."""
    return to_end(schedules.run_now(schedule, **options))


def outcomes(run: ScheduleRun) -> dict[str, str]:
    return dict(run.files.values_list("name", "outcome"))


def rows(database: Address) -> list[int]:
    """The values of n in the table t."""
    with connect(database) as connection:
        return [row[0] for row in fetch_all(connection, "SELECT n FROM t ORDER BY n")]


def request_of(schedule: Schedule) -> ScheduleRequest:
    """The request that gives the schedule's present settings."""
    return ScheduleRequest(**{each.name: getattr(schedule, each.name) for each in fields(ScheduleRequest)})


def make_due(schedule: Schedule, minutes: float) -> Schedule:
    """Set the schedule's due time into the past, as if no tick had come since."""
    due_at = timezone.now() - timedelta(minutes=minutes)
    Schedule.objects.filter(pk=schedule.pk).update(next_due_at=due_at)
    return Schedule.objects.get(pk=schedule.pk)


def runs(schedule: Schedule, steps: list[Message]) -> list[ScheduleRun]:
    return [ScheduleRun.objects.get(pk=step.id) for step in steps if step.task == "take_run"]


def taken_up(schedule: Schedule) -> list[ScheduleRun]:
    return runs(schedule, process_due(schedule, timezone.now()))
