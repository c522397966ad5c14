"""`millrace schedule`: lists, shows, runs, pauses and resumes schedules."""

import time
from collections.abc import Mapping
from datetime import date
from typing import Any

from config.contracts.documents import SCHEDULE, SCHEDULE_RUN, SCHEDULES
from config.contracts.outcomes import UNKNOWN
from importer.engine.errors import Problem
from importer.management.verbs.verb import AddOption, Context, Json, Run, Verb, Verbs, named, option

LOOK_EVERY = 0.5  # seconds


def _list(context: Context) -> None:
    rows = [_without_id(each) for each in context.api.pages("list_schedules")]
    context.output.give(SCHEDULES, {"schedules": rows})
    context.output.write_list(map(_line, rows))


def _without_id(schedule: Mapping[str, Any]) -> Json:
    """A schedule as in its document, which has its name and not its id."""
    return {name: value for name, value in schedule.items() if name != "id"}


def _line(schedule: Mapping[str, Any]) -> str:
    due = "paused" if schedule["paused"] else f"next {schedule['next_due_at'] or 'never'}"
    last = f", last run {_run_outcome(schedule['last_run'])}" if schedule["last_run"] else ""
    return f"{schedule['name']}: {schedule['when']}, {due}{last}"


def _id(context: Context) -> int:
    return int(context.named("list_schedules", "schedule")["id"])


def _show(context: Context) -> None:
    show(context, _id(context))


def show(context: Context, number: int) -> None:
    """Print one schedule: what it does, and when; its problems; and its last runs."""
    schedule, output = _without_id(context.api.call("show_schedule", id=number)), context.output
    output.give(SCHEDULE, schedule)
    output.say(f"{schedule['name']}: {schedule['when']}{', paused' if schedule['paused'] else ''}")
    output.say(f"{schedule['pattern']} of {schedule['connection']} into {schedule['table']} of {schedule['target']}")
    output.say(f"rejected rows of each file: {schedule['reject_limit']}")
    for each in schedule["upcoming"]:
        output.say(f"due {each}")
    for each in schedule["warnings"]:
        output.warn(each)
    _say_problem(context, schedule["problem"])
    for each in schedule["runs"]:
        _say_run(context, each)


def _say_run(context: Context, run: Mapping[str, Any]) -> None:
    words, note = _run_outcome(run), run["note"]
    shown = note if note.startswith(words) else ": ".join(filter(None, (words, note)))
    context.output.say(f"run {run['run']}, {run['cause']}, {run['due_at']}, {shown}")
    for each in run["files"]:
        rows = f", {each['rows']:,} rows by import {each['job']}" if each["job"] else ""
        context.output.say(f"  {each['name']}: {each['outcome']}{rows}")
    _say_problem(context, run["problem"])


def _run_outcome(run: Mapping[str, Any]) -> str:
    """The outcome of a run; the status of one that is under way."""
    return str(run["outcome"] or run["status"])


def _say_problem(context: Context, problem: Mapping[str, Any] | None) -> None:
    """Say the stored problem of a schedule or a run in a line."""
    if problem:
        context.output.warn(str(Problem(problem["what"], problem.get("where", ""), problem.get("advice", ""))))


def run(context: Context) -> int:
    """Run it now, and wait for the end."""
    chosen, name = context.options.date, context.options.name
    begun = context.api.call("run_now", {"date": chosen.isoformat()} if chosen else {}, id=_id(context))
    interrupted = False
    try:
        while not (context.options.no_wait or begun["outcome"]):
            time.sleep(LOOK_EVERY)
            begun = context.api.call("show_run", id=begun["run"])
    except KeyboardInterrupt:
        interrupted = True
        context.output.warn(f"Run {begun['run']} continues. {context.prefix} schedule show {name} shows it.")
    context.output.give(SCHEDULE_RUN, begun)
    _say_run(context, begun)
    return 0 if begun["status"] in ("succeeded", "waiting") and not interrupted else UNKNOWN


def _act(operation: str) -> Run:
    def act(context: Context) -> None:
        number = _id(context)
        context.api.call(operation, id=number)
        show(context, number)

    return act


def _run_again(context: Context) -> None:
    name, number = context.options.name, context.options.run
    runs = context.api.pages("list_runs", id=_id(context))
    if number not in (each["run"] for each in runs):
        raise Problem(f"{name} has no run {number}.", advice="`schedule show` lists the last ones.")
    _say_started(context, context.api.call("repeat_run", id=number))


def _backfill(context: Context) -> None:
    days = {name: getattr(context.options, name).isoformat() for name in ("first", "last")}
    _say_started(context, context.api.call("backfill", days, id=_id(context)))


def _say_started(context: Context, runs: list[Json]) -> None:
    for each in runs:
        context.output.say(f"run {each['run']} is started, for {each['due_at'][:16].replace('T', ' ')} UTC")


def _forget(context: Context) -> None:
    file = context.options.file
    context.api.call("forget_file", {"name": file}, id=_id(context))
    context.output.say(f"The next run loads {file} as a new file.")


def _as_day(text: str) -> date:
    from importer.management.argument_types import day  # Here: no other command needs it.

    return day(text)


def _day(flag: str, moment: str) -> AddOption:
    return option(flag, dest=moment, type=_as_day, required=True, metavar="YYYY-MM-DD", help=f"the {moment} day")


NAME = named("schedule")
OF_RUN = (
    NAME,
    option("--date", type=_as_day, metavar="YYYY-MM-DD", help="run as if it were that day"),
    option("--no-wait", action="store_true", help="leave it to the workers, and do not wait"),
)
RUN = "run it now and wait for the end; exit code 0 only if it succeeds, or with --no-wait once it is queued"
FORGET = "let the next run load a file that failed as a new one; first take its rows out of the table"
VERBS: Verbs = {
    "list": Verb("all schedules", _list),
    "show": Verb("one schedule, its next due times and its last runs", _show, (NAME,)),
    "run": Verb(RUN, run, OF_RUN),
    "pause": Verb("begin no more runs", _act("pause_schedule"), (NAME,)),
    "resume": Verb("run again from now on", _act("resume_schedule"), (NAME,)),
    "run-again": Verb(
        "start an ended or a missed run again, for its moment",
        _run_again,
        (NAME, option("run", type=int, help="the run's number, from `schedule show`")),
    ),
    "backfill": Verb(
        "start a run for each due time of some past days",
        _backfill,
        (NAME, _day("--from", "first"), _day("--to", "last")),
    ),
    "forget": Verb(FORGET, _forget, (NAME, option("file", help="the file's name as the run lists it"))),
}
