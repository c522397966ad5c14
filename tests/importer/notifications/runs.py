"""Schedule runs in the state in which importer.schedules leaves them."""

from datetime import UTC, datetime

from importer.models import DiscoveredFile, ImportJob, Schedule, ScheduleRun, SourceConnection

DUE = datetime(2026, 11, 20, 2, tzinfo=UTC)


def run_of(job: ImportJob, **values) -> ScheduleRun:
    """A schedule run that has listed the import's file and started the import."""
    connection = SourceConnection.objects.create(name="drop", kind="folder", base="/srv/drop")
    recipe = {name: getattr(job, name) for name in ("schema_name", "table_name", "dialect_json", "mapping_json")}
    schedule = Schedule.objects.create(
        name="orders nightly", target=job.target, connection=connection, pattern="orders-*.csv", trigger="cron",
        zone="Europe/Vienna", header=[], columns_json=[], **recipe, **values,
    )  # fmt: skip
    run = ScheduleRun.objects.create(
        schedule=schedule, due_at=DUE, moment=DUE, cause=ScheduleRun.Cause.DUE, found_files=1, problem=job.problem
    )
    DiscoveredFile.objects.create(run=run, schedule=schedule, name=job.source.name, job=job)
    return run
