"""`millrace schedule`: creates, shows, runs, pauses and resumes schedules, which import files on their own."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import fields
from datetime import date
from typing import Any

from django.db.models import TextChoices

from config.contracts.documents import SCHEDULE, SCHEDULE_RUN, SCHEDULES
from importer import schedules
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.plan.options import DEFAULT_LIMIT, NO_LIMIT
from importer.management.argument_types import day
from importer.management.base_command import PreparedCommand
from importer.management.terminal.report_text import run_continues, schedule_line, write_run, write_schedule
from importer.management.terminal.verbs import add_schedule_verbs
from importer.management.terminal.words import PROGRAM
from importer.models import ImportJob, Schedule, ScheduleRun, SourceConnection
from importer.schedules import ScheduleRequest, serialization
from importer.worker.hosts import presence

LOOK_EVERY = 0.5  # seconds
# Options with their choices, and with numbers; what each is about.
CHOICES: dict[str, tuple[type[TextChoices], str]] = {
    "overlap": (Schedule.Overlap, "a run that is due during another one"),
    "misfire": (Schedule.Misfire, "due times that were missed, such as while Millrace was off"),
    "no_file": (Schedule.NoFile, "a run that finds no new file"),
    "known_by": (Schedule.KnownBy, "a file was loaded before if it is the same by"),
    "afterwards": (Schedule.Afterwards, "a file that was loaded"),
    "drift": (Schedule.Drift, "a file with another header, or a table with other columns"),
}
NUMBERS = {
    "misfire_most": "most due times that --misfire all makes up for",
    "most_attempts": "of a run, after temporary problems",
    "backoff_seconds": "between the first two attempts; twice as long each further time",
}
LIMITS = {
    "deadline_minutes": "a run that takes longer is ended, and its import cancelled (default: no limit)",
    "lateness_minutes": "channels are notified of a run that has not ended so long after it was due (default: never)",
    "rejects_limit": "channels are notified of a run that rejects more rows (default: the limit of each channel)."
    " It fails nothing: see --reject-limit",
}
DEFAULTS = {each.name: each.default for each in fields(ScheduleRequest)}


class Command(PreparedCommand):
    help = "Import files by themselves, on time, each file once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = add_schedule_verbs(parser, VERBS)
        create = verbs["create-from-job"]
        create.add_argument("job", type=int, help="the import's number")
        _add_request(create)
        create.add_argument(
            "--reject-limit",
            choices=(DEFAULT_LIMIT, NO_LIMIT),
            default=DEFAULT_LIMIT,
            help="an import that rejects more rows fails; if the copied import had no limit: the larger of 100 rows and"
            " 1 %% (default), or none. See --rejects-limit",
        )
        verbs["run-again"].add_argument("run", type=int, help="the run's number, from `schedule show`")
        for flag, moment in (("--from", "first"), ("--to", "last")):
            verbs["backfill"].add_argument(
                flag, dest=moment, type=day, required=True, metavar="YYYY-MM-DD", help=f"the {moment} day"
            )
        verbs["forget"].add_argument("file", help="the file's name as the run lists it")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _list(self, *, as_json: bool, **_: Any) -> None:
        schedules_seen = seen(Schedule.objects.select_related("target", "connection"))
        rows = [serialization.summary(each) for each in schedules_seen]
        if as_json:
            self.give(SCHEDULES, {"schedules": rows})
            return
        self.write_list(map(schedule_line, rows))

    def _show(self, *, name: str, as_json: bool, **_: Any) -> None:
        schedule = schedules.by_name(name)
        summary = serialization.details(schedule)
        if as_json:
            self.give(SCHEDULE, summary)
            return
        write_schedule(summary, self.stdout.write, self.stderr.write)

    def _create_from_job(self, *, job: int, as_json: bool, **options: Any) -> None:
        past = seen(ImportJob.objects.select_related("target", "source")).filter(pk=job).first()
        if not past:
            raise Problem(f"There is no import {job}.", advice="Give the number of one that worked.")
        no_limit = options["reject_limit"] == NO_LIMIT
        schedule = schedules.create_from_job(past, _request(options), acting_user(), no_limit=no_limit)
        self._show(name=schedule.name, as_json=as_json)

    def _run(self, *, name: str, date: date | None, no_wait: bool, as_json: bool, **_: Any) -> None:
        run = schedules.run_now(schedules.by_name(name), for_date=date, user=acting_user())
        if not (no_wait or presence.parallel_loads()):
            self.stderr.write("No worker is running: is `millrace serve` running? The run waits for them.")
        interrupted = False
        try:
            while not (no_wait or run.ended):
                time.sleep(LOOK_EVERY)
                run.refresh_from_db()
        except KeyboardInterrupt:
            interrupted = True
            self.stderr.write(run_continues(run.pk, name, PROGRAM))
        result = serialization.run(run)
        if as_json:
            self.give(SCHEDULE_RUN, result)
        else:
            write_run(result, self.stdout.write, self.stderr.write)
        if interrupted or run.status not in (ScheduleRun.Status.SUCCEEDED, ScheduleRun.Status.WAITING):
            sys.exit(1)

    def _run_again(self, *, name: str, run: int, **_: Any) -> None:
        schedule = schedules.by_name(name)
        ended = schedule.runs.filter(pk=run).first()
        if ended is None:
            raise Problem(f"{name} has no run {run}.", advice="`schedule show` lists the last ones.")
        self._write_started(schedules.run_again(ended, acting_user()))

    def _backfill(self, *, name: str, first: date, last: date, **_: Any) -> None:
        self._write_started(schedules.backfill(schedules.by_name(name), first, last, acting_user()))

    def _write_started(self, runs: list[ScheduleRun]) -> None:
        for each in runs:
            self.stdout.write(f"run {each.pk} is started, for {each.due_at:%Y-%m-%d %H:%M} UTC")

    def _pause(self, *, name: str, as_json: bool, **_: Any) -> None:
        schedules.pause(schedules.by_name(name))
        self._show(name=name, as_json=as_json)

    def _resume(self, *, name: str, as_json: bool, **_: Any) -> None:
        schedules.resume(schedules.by_name(name))
        self._show(name=name, as_json=as_json)

    def _forget(self, *, name: str, file: str, **_: Any) -> None:
        schedules.forget(schedules.by_name(name), file)
        self.stdout.write(f"The next run loads {file} as a new file.")


def _add_request(parser: ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="of the schedule")
    parser.add_argument("--connection", required=True, help="the name of the connection that has the files")
    parser.add_argument("--pattern", required=True, help="such as sales-{date:%%Y%%m%%d}.csv or daily/*.csv")
    parser.add_argument("--subfolders", action="store_true", help="also in all folders below")
    parser.add_argument("--cron", default="", help="due times as five fields, such as '30 2 * * 1-5'")
    parser.add_argument(
        "--every", dest="every_minutes", type=int, metavar="MINUTES", help="due times at an interval instead"
    )
    parser.add_argument("--zone", default="UTC", help="such as Europe/Berlin")
    for name, (choices, about) in CHOICES.items():
        each = "; ".join(f"{value}: {text}" for value, text in choices.choices)
        text = f"{about} (default {DEFAULTS[name]}). {each}"
        parser.add_argument(_flag(name), choices=choices.values, default=DEFAULTS[name], help=text)
    parser.add_argument(
        "--move-to", default="", metavar="FOLDER", help="below the connection's base; dates as in the pattern"
    )
    for name, about in NUMBERS.items():
        text = f"{about} (default {DEFAULTS[name]})"
        parser.add_argument(_flag(name), type=int, metavar="N", default=DEFAULTS[name], help=text)
    for name, about in LIMITS.items():
        parser.add_argument(_flag(name), type=int, metavar="N", help=about)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _request(options: dict[str, Any]) -> ScheduleRequest:
    connection = seen(SourceConnection.objects.filter(name=options["connection"])).first()
    if not connection:
        known = ", ".join(seen(SourceConnection.objects.all()).values_list("name", flat=True)) or "none yet"
        raise Problem(f"There is no connection named {options['connection']}.", advice=f"Known: {known}.")
    if options["cron"] and options["every_minutes"]:
        raise Problem("Both --cron and --every are given.", advice="Give one of them, or neither to wait for files.")
    trigger = schedules.trigger_for(options["cron"], options["every_minutes"])
    names = set(DEFAULTS) - {"connection", "trigger"}
    return ScheduleRequest(connection=connection, trigger=trigger, **{name: options[name] for name in names})


VERBS: dict[str, Callable[..., None]] = {
    "list": Command._list,
    "show": Command._show,
    "create-from-job": Command._create_from_job,
    "run": Command._run,
    "run-again": Command._run_again,
    "backfill": Command._backfill,
    "pause": Command._pause,
    "resume": Command._resume,
    "forget": Command._forget,
}
