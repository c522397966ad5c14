"""`millrace --server URL target` and `schedule`."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from datetime import date
from typing import Any

from config.contracts.documents import SCHEDULE, SCHEDULE_RUN, SCHEDULES, TARGET_CHECK, TARGETS
from config.contracts.outcomes import UNKNOWN
from importer.management.client.commands.work import Command, Work
from importer.management.client.report_text import run_lines, schedule_line, schedule_lines, stored_problem

LOOK_EVERY = 0.5  # seconds
SIGNS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
TARGET_FIELDS = (
    *("name", "host", "port", "user", "database", "tls", "tls_ca", "server_key", "clear_password"),
    *("ceiling", "needs_approval", "checked_at"),
)


def add_target_arguments(parser: ArgumentParser) -> None:
    """Add the verbs of `target`."""
    _add_verbs(parser, TARGET_VERBS)


def add_schedule_arguments(parser: ArgumentParser) -> None:
    """Add the verbs of `schedule`."""
    verbs = _add_verbs(parser, SCHEDULE_VERBS)
    verbs["run"].add_argument("--date", type=_date, metavar="YYYY-MM-DD", help="run as if it were that day")
    verbs["run"].add_argument("--no-wait", action="store_true", help="leave it to the workers, and do not wait")


def _add_verbs(parser: ArgumentParser, known: Mapping[str, tuple[Command, str]]) -> dict[str, ArgumentParser]:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    added = {name: verbs.add_parser(name, help=about) for name, (_, about) in known.items()}
    for name, verb in added.items():
        if name != "list":
            verb.add_argument("name")
    return added


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text} is no date such as 2026-03-31") from None


def run_target(work: Work) -> int:
    """Run a verb of `target`."""
    return TARGET_VERBS[work.options.verb][0](work)


def run_schedule(work: Work) -> int:
    """Run a verb of `schedule`."""
    return SCHEDULE_VERBS[work.options.verb][0](work)


def _list_targets(work: Work) -> int:
    found = sorted(work.millrace.pages("list_targets"), key=lambda each: each["name"])
    rows = [{**{name: each[name] for name in TARGET_FIELDS}, "ok": each["passed"]} for each in found]
    work.output.give(TARGETS, {"targets": rows})
    for each in rows:
        where = f"{each['user']}@{each['host']}:{each['port']}/{each['database']}"
        work.output.say(f"{each['name']}: {where}, TLS {each['tls']}, {_state(each)}")
    return 0


def _state(target: Mapping[str, Any]) -> str:
    if target["checked_at"] is None:
        return "not checked yet"
    return "ok" if target["ok"] else "fails its check"


def _check_target(work: Work) -> int:
    found = work.millrace.call("check_target", id=work.named("list_targets", "target")["id"])
    work.output.give(TARGET_CHECK, {"target": found["name"], "ok": found["passed"], "findings": found["findings"]})
    for each in found["findings"]:
        work.output.say(f"{SIGNS[each['status']]}  {each['name']}: {each['message']}")
        for line in each["fix"].splitlines():
            work.output.say(f"      {line}")
    return 0 if found["passed"] else UNKNOWN


def _list_schedules(work: Work) -> int:
    rows = [_without_id(each) for each in work.millrace.pages("list_schedules")]
    work.output.give(SCHEDULES, {"schedules": rows})
    for each in rows:
        work.output.say(schedule_line(each))
    return 0


def _without_id(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """A schedule as its document has it, which names it and does not number it."""
    return {name: value for name, value in schedule.items() if name != "id"}


def _show_schedule(work: Work) -> int:
    return _tell(work, work.named("list_schedules", "schedule")["id"])


def _tell(work: Work, number: int) -> int:
    shown = _without_id(work.millrace.call("show_schedule", id=number))
    work.output.give(SCHEDULE, shown)
    for line in schedule_lines(shown):
        work.output.say(line)
    for each in shown["warnings"]:
        work.output.warn(each)
    if shown["problem"]:
        work.output.warn(stored_problem(shown["problem"]))
    for each in shown["runs"]:
        _tell_run(work, each)
    return 0


def _tell_run(work: Work, run: Mapping[str, Any]) -> None:
    for line in run_lines(run):
        work.output.say(line)
    if run["problem"]:
        work.output.warn(stored_problem(run["problem"]))


def _run_schedule(work: Work) -> int:
    number = work.named("list_schedules", "schedule")["id"]
    day = work.options.date
    run = work.millrace.call("run_now", {"date": day.isoformat()} if day else {}, id=number)
    while not (work.options.no_wait or run["outcome"]):
        time.sleep(LOOK_EVERY)
        run = work.millrace.call("show_run", id=run["run"])
    work.output.give(SCHEDULE_RUN, run)
    _tell_run(work, run)
    return 0 if run["status"] in ("succeeded", "waiting") else UNKNOWN


def _act(operation: str) -> Command:
    def act(work: Work) -> int:
        number = work.named("list_schedules", "schedule")["id"]
        work.millrace.call(operation, id=number)
        return _tell(work, number)

    return act


TARGET_VERBS: Mapping[str, tuple[Command, str]] = {
    "list": (_list_targets, "all targets that the token may see"),
    "check": (_check_target, "connect, and report what works, what does not, and the fix"),
}
SCHEDULE_VERBS: Mapping[str, tuple[Command, str]] = {
    "list": (_list_schedules, "all schedules that the token may see"),
    "show": (_show_schedule, "one schedule, its next due times and its last runs"),
    "run": (_run_schedule, "run it now and wait for the end; exit status 0 only if it succeeds"),
    "pause": (_act("pause_schedule"), "begin no more runs"),
    "resume": (_act("resume_schedule"), "run again from now on"),
}
