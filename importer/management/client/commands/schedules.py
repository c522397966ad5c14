"""`millrace --server URL schedule`."""

import time
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from config.contracts.documents import SCHEDULE, SCHEDULE_RUN, SCHEDULES
from config.contracts.outcomes import UNKNOWN
from importer.management.argument_types import day
from importer.management.client.api import LOOK_EVERY
from importer.management.client.commands.work import Command, Work
from importer.management.client.report_text import schedule_line, write_run, write_schedule
from importer.management.command_line.verbs import LIST, add_verbs

ABOUT = "list, show and run schedules"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    verbs = add_verbs(
        parser,
        {
            LIST: "all schedules that the token may see",
            "show": "one schedule, its next due times and its last runs",
            "run": "run it now and wait for the end; exit status 0 only if it succeeds",
            "pause": "begin no more runs",
            "resume": "run again from now on",
        },
    )
    for name, verb in verbs.items():
        if name != LIST:
            verb.add_argument("name", help="the schedule's name")
    verbs["run"].add_argument("--date", type=day, metavar="YYYY-MM-DD", help="run as if it were that day")
    verbs["run"].add_argument("--no-wait", action="store_true", help="leave it to the workers, and do not wait")


def run(work: Work) -> int:
    """Run one verb."""
    return VERBS[work.options.verb](work)


def _list(work: Work) -> int:
    rows = [_without_id(each) for each in work.millrace.pages("list_schedules")]
    work.output.give(SCHEDULES, {"schedules": rows})
    for each in rows:
        work.output.say(schedule_line(each))
    return 0


def _without_id(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """A schedule as its document has it, which names it and does not number it."""
    return {name: value for name, value in schedule.items() if name != "id"}


def _show(work: Work) -> int:
    return _print(work, work.named("list_schedules", "schedule")["id"])


def _print(work: Work, number: int) -> int:
    shown = _without_id(work.millrace.call("show_schedule", id=number))
    work.output.give(SCHEDULE, shown)
    write_schedule(shown, work.output.say, work.output.warn)
    return 0


def _run(work: Work) -> int:
    number = work.named("list_schedules", "schedule")["id"]
    chosen = work.options.date
    run = work.millrace.call("run_now", {"date": chosen.isoformat()} if chosen else {}, id=number)
    while not (work.options.no_wait or run["outcome"]):
        time.sleep(LOOK_EVERY)
        run = work.millrace.call("show_run", id=run["run"])
    work.output.give(SCHEDULE_RUN, run)
    write_run(run, work.output.say, work.output.warn)
    return 0 if run["status"] in ("succeeded", "waiting") else UNKNOWN


def _act(operation: str) -> Command:
    def act(work: Work) -> int:
        number = work.named("list_schedules", "schedule")["id"]
        work.millrace.call(operation, id=number)
        return _print(work, number)

    return act


VERBS: Mapping[str, Command] = {
    LIST: _list,
    "show": _show,
    "run": _run,
    "pause": _act("pause_schedule"),
    "resume": _act("resume_schedule"),
}
