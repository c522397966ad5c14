"""Simulates a year of imports with the default retention policies, and measures what stays.

    python -m bench.retention                          10,000 jobs and 2,000,000 chunks on SQLite
    python -m bench.retention --server mariadb         the same in a private MariaDB
    python -m bench.retention --jobs 500 --chunks 50000

Each simulated day writes that day's imports with chunks, facts, files, rejected rows, sessions, events and runs of a
schedule, and then deletes what is due on that day; nothing waits. A line for each 30 days has the rows and bytes that
are there. After the last day the facts of all imports are compared with those of the day on which they ended. Then
years pass without an import: everything goes.
"""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import MySQLdb

TABLES = 5
SESSIONS, EVENTS, RUNS = 10, 50, 24  # for each day
FILE_BYTES, REJECT_BYTES = 10_000, 4_000
LEDGER_ROWS = 20  # for each import
FIRST_DAY = datetime(2030, 1, 1, 12, tzinfo=UTC)
EVERY = 30  # days between two lines


@dataclass(frozen=True)
class Stock:
    """What is there at the end of a day: rows, files and bytes; `database` with freed pages, which are used again."""

    day: int
    jobs: int
    chunks: int
    facts: int
    sources: int
    sessions: int
    events: int
    runs: int
    ledger: int
    files: int
    file_bytes: int
    database: int


class Year:
    """Days with imports, one after another, and what is known of them. `target` has a ledger, or is None.

    What is due is deleted on every day, or on each `every`-th.
    """

    def __init__(self, jobs: int, chunks: int, days: int, target: Any = None, every: int = 1) -> None:
        self.jobs, self.chunks, self.days, self.target, self.every = jobs, chunks, days, target, every
        self.facts: dict[int, int] = {}  # a digest of the facts of each import, as of its end
        self.deleted: dict[str, int] = {}

    def pass_days(self) -> Iterator[Stock]:
        """Live through the days. Gives what is there after each deletion."""
        for day in range(self.days):
            now = FIRST_DAY + timedelta(days=day)
            jobs = self.jobs * (day + 1) // self.days - self.jobs * day // self.days
            if jobs:
                self._add_imports(jobs, self.chunks // self.days, day, now)
            self._add_others(now)
            if (day + 1) % self.every == 0:
                self.delete(now)
                yield stock(day + 1, self.target)

    def delete(self, now: datetime) -> None:
        """Delete what is due, as the task of the workers does."""
        from importer.retention.run import run_to_the_end

        for what, count in run_to_the_end(now).items():
            self.deleted[what] = self.deleted.get(what, 0) + count

    def changed_facts(self) -> int:
        """The number of imports whose facts are no longer those of their end."""
        return sum(self.facts[job] != digest for job, digest in _digests(list(self.facts)).items())

    def _add_imports(self, jobs: int, chunks: int, day: int, now: datetime) -> None:
        from bench.workloads.sample_history import seed
        from importer.models import ImportJob

        before = set(self.facts)
        for _ in seed(jobs, chunks, tables=TABLES, seed=day + 1, now=now, days=1):
            pass
        new = list(ImportJob.objects.filter(finished_at__gt=now - timedelta(days=1.5)).exclude(pk__in=before))
        self.facts |= _digests([job.pk for job in new])
        for job in new:
            self._add_files(job, now)

    def _add_files(self, job: Any, now: datetime) -> None:
        """An upload for the job; rejected rows for each tenth; and ledger rows."""
        from django.conf import settings

        from importer.engine.load import ledger
        from importer.engine.mysql.connection import connect
        from importer.jobs.rejects.storage import folder
        from importer.models import ImportJob, JobRecord, SourceFile

        ready = SourceFile.Status.READY
        source = SourceFile.objects.create(name=job.source.name, path="", size=FILE_BYTES, status=ready)
        path = settings.UPLOAD_DIR / str(source.key)
        path.write_bytes(b"x" * FILE_BYTES)
        SourceFile.objects.filter(pk=source.pk).update(path=str(path), touched_at=now)
        SourceFile.objects.filter(pk=job.source_id).update(touched_at=now)
        rejected = 3 if job.pk % 10 == 0 else 0
        ImportJob.objects.filter(pk=job.pk).update(source=source, rejected_rows=rejected)
        if rejected:
            folder(job).mkdir(parents=True)
            (folder(job) / "00000000.rejects").write_bytes(b"x" * REJECT_BYTES)
        if self.target:
            JobRecord.objects.filter(pk=job.pk).update(target=self.target)
            entries = [ledger.Entry(str(job.key), number, 1, 1, 1, "0" * 16) for number in range(LEDGER_ROWS)]
            with connect(self.target.address) as connection:
                ledger.insert(connection, *entries)

    def _add_others(self, now: datetime) -> None:
        from django.contrib.sessions.models import Session

        from importer.models import AuditEvent, ScheduleRun

        ends = now + timedelta(days=14)
        Session.objects.bulk_create(
            Session(session_key=f"{now:%Y%m%d}-{number}", session_data="", expire_date=ends)
            for number in range(SESSIONS)
        )
        AuditEvent.objects.bulk_create(
            AuditEvent(at=now - timedelta(minutes=number), action="job", actor_name="somebody")
            for number in range(EVENTS)
        )
        values = {"schedule": _schedule(), "cause": "due", "status": ScheduleRun.Status.SUCCEEDED}
        hours = (now + timedelta(hours=hour) for hour in range(-RUNS, 0))
        ScheduleRun.objects.bulk_create(ScheduleRun(due_at=due, moment=due, **values) for due in hours)


def _schedule() -> Any:
    from importer.models import Schedule, SourceConnection, Target

    connection = SourceConnection.objects.get_or_create(name="seeded", defaults={"kind": "folder"})[0]
    values: dict[str, Any] = {"target": Target.objects.order_by("pk")[0], "connection": connection, "paused": True}
    values |= {"header": [], "columns_json": [], "dialect_json": {}, "mapping_json": []}
    return Schedule.objects.get_or_create(name="seeded", defaults=values)[0]


def _digests(jobs: list[int]) -> dict[int, int]:
    """A digest of the facts of each import, as the history reads them."""
    from importer.history.read import rows

    digests: dict[int, int] = {}
    left = iter(jobs)
    while some := list(islice(left, 500)):
        digests |= {job: hash(tuple(sorted(facts.items()))) for job, facts in rows(some).items()}
    return digests


def stock(day: int, target: Any = None) -> Stock:
    """What is there now."""
    from django.conf import settings
    from django.contrib.sessions.models import Session

    from importer.access import audit
    from importer.models import Chunk, ImportJob, JobFact, ScheduleRun, SourceFile

    stored = [each for each in settings.UPLOAD_DIR.rglob("*") if each.is_file()]
    stored += [each for each in settings.REJECTS_DIR.rglob("*") if each.is_file()]
    return Stock(
        day,  # type: ignore[call-arg] # five counts follow
        *(model.objects.count() for model in (ImportJob, Chunk, JobFact, SourceFile, Session)),
        audit.count(),
        ScheduleRun.objects.count(),
        _ledger_rows(target) if target else 0,
        len(stored),
        sum(each.stat().st_size for each in stored),
        _database_bytes(),
    )


def _ledger_rows(target: Any) -> int:
    from importer.engine.load import ledger
    from importer.engine.mysql.connection import connect, fetch_row

    with connect(target.address) as connection:
        return int(fetch_row(connection, f"SELECT COUNT(*) FROM {ledger.TABLE}")[0])


def _database_bytes() -> int:
    """The bytes of the database's files: of SQLite, or of all tables of a private MariaDB."""
    from django.db import connection

    if connection.vendor == "sqlite":
        name = Path(str(connection.settings_dict["NAME"]))
        return sum(each.stat().st_size for each in (name, Path(f"{name}-wal")) if each.exists())
    with connection.cursor() as cursor:
        table = "information_schema.INNODB_SYS_TABLESPACES"
        cursor.execute(f"SELECT SUM(FILE_SIZE) FROM {table} WHERE NAME LIKE CONCAT(DATABASE(), '/%')")
        return int(cursor.fetchone()[0])


def years_later(year: Year, years: int) -> Stock:
    """Let years pass without an import, a quarter at a time. Returns what is there then."""
    for quarter in range(4 * years):
        year.delete(FIRST_DAY + timedelta(days=year.days + 92 * quarter))
    return stock(year.days + 365 * years, year.target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=2_000_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--server", choices=("sqlite", "mariadb"), default="sqlite")
    parser.add_argument("--folder", type=Path, default=Path("var/bench/retention"))
    arguments = parser.parse_args()
    folder = arguments.folder.resolve() / f"{arguments.server}-{int(time.time())}"
    folder.mkdir(parents=True)
    server = _start(folder) if arguments.server == "mariadb" else None
    try:
        _set_up(folder)
        _measure(Year(arguments.jobs, arguments.chunks, arguments.days))
    finally:
        if server:
            server.stop()


def _start(folder: Path) -> Any:
    """A private MariaDB, which DATABASE_URL names."""
    from importer.management.processes.private_databases import PrivateMariaDB

    server = PrivateMariaDB(folder / "mariadb")
    server.start()
    with closing(MySQLdb.connect(host="127.0.0.1", port=server.port, user="root", passwd="")) as connection:
        connection.query("CREATE DATABASE seeded CHARACTER SET utf8mb4")
    os.environ["DATABASE_URL"] = f"mysql://root@127.0.0.1:{server.port}/seeded"
    return server


def _set_up(folder: Path) -> None:
    import django
    from django.conf import settings
    from django.core.management import call_command

    os.environ["VAR_DIR"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    for each in (settings.UPLOAD_DIR, settings.REJECTS_DIR):
        each.mkdir(exist_ok=True)


def _measure(year: Year) -> None:
    began = time.monotonic()
    print("".join(f"{each.name:>13}" for each in fields(Stock)), flush=True)
    for now in year.pass_days():
        if now.day % EVERY == 0 or now.day == year.days:
            print("".join(f"{value:13,}" for value in vars(now).values()), flush=True)
    print(
        f"{time.monotonic() - began:,.0f} s; imports with changed facts: {year.changed_facts()} of {len(year.facts):,}"
    )
    later = years_later(year, 6)
    print("".join(f"{value:13,}" for value in vars(later).values()), flush=True)
    print("deleted:", ", ".join(f"{count:,} {what}" for what, count in year.deleted.items() if count))


if __name__ == "__main__":
    main()
