"""`millrace schedule`: creates, shows, runs, pauses and resumes schedules, which import files on their own."""

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from typing import Any

from django.db.models import QuerySet, TextChoices

from importer import schedules
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.management.base_command import PreparedCommand
from importer.management.verbs import schedules as verbs
from importer.management.verbs.verb import Context, Verb, option
from importer.models import ImportJob, Schedule, ScheduleRun, SourceConnection
from importer.schedules import ScheduleRequest, serialization
from importer.schedules.commands import DEFAULT_LIMIT, NO_LIMIT
from importer.worker.hosts import presence

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


def _run(context: Context) -> int | None:
    if not (context.options.no_wait or presence.parallel_loads()):
        context.output.warn("No worker is running: is `millrace serve` running? The run waits for them.")
    return verbs.run(context)


def _create_from_job(context: Context) -> None:
    options = vars(context.options)
    past = seen(ImportJob.objects.select_related("target", "source")).filter(pk=options["job"]).first()
    if not past:
        raise Problem(f"There is no import {options['job']}.", advice="Give the number of one that worked.")
    no_limit = options["reject_limit"] == NO_LIMIT
    made = schedules.create_from_job(past, _request(options), acting_user(), no_limit=no_limit)
    verbs.show(context, made.pk)


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


def _seen() -> QuerySet[Schedule]:
    return seen(Schedule.objects.select_related("target", "connection"))


def _schedule(id: int) -> Schedule:
    return _seen().get(pk=id)


def _runs(id: int) -> Iterator[dict[str, Any]]:
    return map(serialization.run, _schedule(id).runs.all().iterator())


def _show_run(id: int) -> dict[str, Any]:
    return serialization.run(ScheduleRun.objects.get(pk=id))


def _run_now(id: int, **how: str) -> dict[str, Any]:
    day = date.fromisoformat(how["date"]) if how else None
    return serialization.run(schedules.run_now(_schedule(id), for_date=day, user=acting_user()))


def _repeat_run(id: int) -> list[dict[str, Any]]:
    return list(map(serialization.run, schedules.run_again(ScheduleRun.objects.get(pk=id), acting_user())))


def _backfill(id: int, first: str, last: str) -> list[dict[str, Any]]:
    started = schedules.backfill(_schedule(id), date.fromisoformat(first), date.fromisoformat(last), acting_user())
    return list(map(serialization.run, started))


class Command(PreparedCommand):
    help = "Import files by themselves, on time, each file once."
    verbs = {
        **verbs.VERBS,
        "run": Verb(verbs.RUN, _run, verbs.OF_RUN),
        "create-from-job": Verb(
            "import files like that of a past import regularly",
            _create_from_job,
            (
                option("job", type=int, help="the import's number"),
                _add_request,
                option(
                    "--reject-limit",
                    choices=(DEFAULT_LIMIT, NO_LIMIT),
                    default=DEFAULT_LIMIT,
                    help="an import that rejects more rows fails; if the copied import had no limit: the larger of 100"
                    " rows and 1 %% (default), or none. See --rejects-limit",
                ),
            ),
        ),
    }
    operations = {
        "list_schedules": lambda: ({"id": each.pk} | serialization.summary(each) for each in _seen()),
        "show_schedule": lambda id: serialization.details(_schedule(id)),
        "pause_schedule": lambda id: schedules.pause(_schedule(id)),
        "resume_schedule": lambda id: schedules.resume(_schedule(id)),
        "forget_file": lambda id, name: schedules.forget(_schedule(id), name),
        "list_runs": _runs,
        "show_run": _show_run,
        "run_now": _run_now,
        "repeat_run": _repeat_run,
        "backfill": _backfill,
    }
