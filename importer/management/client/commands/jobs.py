"""`millrace --server URL job`: the verbs that follow and steer imports."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from config.contracts.documents import CAUSES, JOBS
from config.contracts.outcomes import UNKNOWN
from importer.management.client.commands.context import Command, CommandContext
from importer.management.client.commands.load import end, follow, lines_of, problem_and_ways_out, watched
from importer.management.terminal.new_file import write_rejects
from importer.management.terminal.report_text import plan_lines
from importer.management.terminal.verbs import LIST, add_job_verbs
from millrace_client.api import is_over

LOOK_AFTER = 1.0  # seconds, in which what a server does can be seen (docs/waiting.md)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    add_job_verbs(parser, VERBS)


def run(context: CommandContext) -> int:
    """Run one verb."""
    return VERBS[context.options.verb](context)


def _list(context: CommandContext) -> int:
    found = list(islice(context.millrace.pages("list_imports"), max(0, context.options.most)))
    context.output.give(JOBS, {"jobs": [_as_json(each) for each in found]})
    context.output.write_list(map(_line, found))
    return 0


def _line(row: Mapping[str, Any]) -> str:
    place = f"{row['file']} into {row['table']} of {row['target']}"
    begun = row["created_at"].replace("T", " ")[:16]
    return f"{row['job']}: {row['outcome']}, {place}, {row['rows']:,} rows, {begun} UTC"


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("job", "outcome", "file", "target", "table", "rows")
    return {**{name: row[name] for name in names}, "created": row["created_at"]}


def _show(context: CommandContext) -> int:
    return _tell(context, context.millrace.report(context.options.job))


def _tell(context: CommandContext, report: dict[str, Any]) -> int:
    """Print a report; it is no failure of the command that an import has failed."""
    context.output.give_whole(report)
    for line in lines_of(report, context.prefix):
        context.output.say(line)
    for line in problem_and_ways_out(report, context.prefix):
        context.output.say(line)
    return 0


def _wait(context: CommandContext) -> int:
    job, at_most = context.options.job, context.options.at_most
    try:
        report = watched(context, job) if at_most is None else context.millrace.report_within(job, at_most)
    except KeyboardInterrupt:
        report = context.millrace.report(job)
    if not is_over(report):
        context.output.warn(f"Import {job} continues. {context.prefix} job wait {job} waits for it again.")
        context.output.give_whole(report)
        return UNKNOWN
    return end(context, report)


def _retry(context: CommandContext) -> int:
    job = context.options.job
    context.output.report = context.millrace.call(
        "retry_import", {"leave_out": context.options.on_error is not None}, job=job
    )
    return end(context, follow(context, job))


def _act(operation: str, said: str) -> Command:
    """A verb that does one thing, and prints `said`, as the local command does."""

    def act(context: CommandContext) -> int:
        job = context.options.job
        context.millrace.call(operation, job=job)
        context.output.say(said.format(job=job, prefix=context.prefix))
        return 0

    return act


def _changes(operation: str, body: Callable[[Namespace], dict[str, Any] | None] = lambda _: None) -> Command:
    """A verb that changes an import, and prints its report. `body`: what the request says, from the options."""

    def change(context: CommandContext) -> int:
        return _tell(context, context.millrace.call(operation, body(context.options), job=context.options.job))

    return change


def _plan(context: CommandContext) -> int:
    report = context.millrace.report(context.options.job)
    context.output.give_whole(report)
    for line in plan_lines(report["plan"]):
        context.output.say(line)
    if report["approval"]:
        context.output.say(f"\nDigest: {report['approval']['digest']}")
    return 0


def _why(context: CommandContext) -> int:
    job = context.options.job
    context.millrace.call("causes", job=job)  # The first request lets Millrace look at the target.
    time.sleep(LOOK_AFTER)
    found = context.millrace.call("causes", job=job)
    context.output.give(CAUSES, found)
    for each in found["causes"]:
        context.output.say(" ".join(filter(None, (each[name] for name in ("what", "evidence", "advice", "sql")))))
    if not found["causes"]:
        context.output.say(f"Import {job}: no cause is known that it waits or is slow.")
    return 0


def _priority(context: CommandContext) -> int:
    job, priority = context.options.job, context.options.priority
    context.millrace.call("set_priority", {"priority": priority}, job=job)
    context.output.say(f"Import {job} has the priority {priority} now.")
    return 0


def _rejects(context: CommandContext) -> int:
    options = context.options
    pieces = context.millrace.download("reasons_file" if options.reasons else "reject_file", job=options.job)
    write_rejects(pieces, options.out, as_json=options.as_json)
    return 0


VERBS: Mapping[str, Command] = {
    LIST: _list,
    "show": _show,
    "wait": _wait,
    "retry": _retry,
    "pause": _act(
        "pause_import", "Import {job} is paused: chunks under way finish. To continue: {prefix} job resume {job}"
    ),
    "resume": _act("resume_import", "Import {job} continues."),
    "cancel": _changes("cancel_import"),
    "plan": _plan,
    "why": _why,
    "approve": _changes("approve_import", lambda options: {"digest": options.digest}),
    "refuse": _changes("refuse_import", lambda options: {"reason": options.reason}),
    "delete": _act("delete_import", "Import {job} is deleted. What it loaded stays in its table."),
    "restore-now": _changes("restore_now_import"),
    "end-without": _changes("end_without_import"),
    "priority": _priority,
    "rejects": _rejects,
}
