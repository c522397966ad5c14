"""`millrace --server URL schedule`."""

import time
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from config.contracts.documents import SCHEDULE, SCHEDULE_RUN, SCHEDULES
from config.contracts.outcomes import UNKNOWN
from importer.management.client.commands.context import Command, CommandContext
from importer.management.terminal.report_text import run_continues, schedule_line, write_run, write_schedule
from importer.management.terminal.verbs import LIST, add_schedule_verbs
from millrace_client.api import LOOK_EVERY

ABOUT = "list, show and run schedules"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    add_schedule_verbs(parser, VERBS)


def run(context: CommandContext) -> int:
    """Run one verb."""
    return VERBS[context.options.verb](context)


def _list(context: CommandContext) -> int:
    rows = [_without_id(each) for each in context.millrace.pages("list_schedules")]
    context.output.give(SCHEDULES, {"schedules": rows})
    context.output.write_list(map(schedule_line, rows))
    return 0


def _without_id(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """A schedule as in its document, which has its name and not its id."""
    return {name: value for name, value in schedule.items() if name != "id"}


def _show(context: CommandContext) -> int:
    return _print(context, context.named("list_schedules", "schedule")["id"])


def _print(context: CommandContext, number: int) -> int:
    shown = _without_id(context.millrace.call("show_schedule", id=number))
    context.output.give(SCHEDULE, shown)
    write_schedule(shown, context.output.say, context.output.warn)
    return 0


def _run(context: CommandContext) -> int:
    number = context.named("list_schedules", "schedule")["id"]
    chosen = context.options.date
    run = context.millrace.call("run_now", {"date": chosen.isoformat()} if chosen else {}, id=number)
    interrupted = False
    try:
        while not (context.options.no_wait or run["outcome"]):
            time.sleep(LOOK_EVERY)
            run = context.millrace.call("show_run", id=run["run"])
    except KeyboardInterrupt:
        interrupted = True
        context.output.warn(run_continues(run["run"], context.options.name, context.prefix))
    context.output.give(SCHEDULE_RUN, run)
    write_run(run, context.output.say, context.output.warn)
    return 0 if run["status"] in ("succeeded", "waiting") and not interrupted else UNKNOWN


def _act(operation: str) -> Command:
    def act(context: CommandContext) -> int:
        number = context.named("list_schedules", "schedule")["id"]
        context.millrace.call(operation, id=number)
        return _print(context, number)

    return act


VERBS: Mapping[str, Command] = {
    LIST: _list,
    "show": _show,
    "run": _run,
    "pause": _act("pause_schedule"),
    "resume": _act("resume_schedule"),
}
