"""`millrace --server URL job`: the verbs that follow and steer imports."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from config.contracts.documents import CAUSES, JOBS
from config.contracts.outcomes import UNKNOWN
from importer.management.client.api import is_over
from importer.management.client.commands.load import end, follow, lines_of, watched
from importer.management.client.commands.work import Command, Work
from importer.management.client.report_text import plan_lines, problem_lines
from importer.management.command_line.new_file import write_rejects
from importer.management.command_line.verbs import LIST, add_job_verbs

LOOK_AFTER = 1.0  # seconds, in which what a server does can be seen (docs/waiting.md)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    add_job_verbs(parser, VERBS)


def run(work: Work) -> int:
    """Run one verb."""
    return VERBS[work.options.verb](work)


def _list(work: Work) -> int:
    found = list(islice(work.millrace.pages("list_imports"), max(0, work.options.most)))
    work.output.give(JOBS, {"jobs": [_as_json(each) for each in found]})
    for each in found:
        place = f"{each['file']} into {each['table']} of {each['target']}"
        begun = each["created_at"].replace("T", " ")[:16]
        work.output.say(f"{each['job']}: {each['outcome']}, {place}, {each['rows']:,} rows, {begun} UTC")
    return 0


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("job", "outcome", "file", "target", "table", "rows")
    return {**{name: row[name] for name in names}, "created": row["created_at"]}


def _show(work: Work) -> int:
    return _tell(work, work.millrace.report(work.options.job))


def _tell(work: Work, report: dict[str, Any]) -> int:
    """Print a report; it is no failure of the command that an import has failed."""
    work.output.give_whole(report)
    for line in lines_of(report, work.prefix):
        work.output.say(line)
    for line in problem_lines(report["problem"]) if report["problem"] else ():
        work.output.say(line)
    return 0


def _wait(work: Work) -> int:
    job, at_most = work.options.job, work.options.at_most
    try:
        report = watched(work, job) if at_most is None else work.millrace.report_within(job, at_most)
    except KeyboardInterrupt:
        report = work.millrace.report(job)
    if not is_over(report):
        work.output.warn(f"Import {job} continues. {work.prefix} job wait {job} waits for it again.")
        work.output.give_whole(report)
        return UNKNOWN
    return end(work, report)


def _retry(work: Work) -> int:
    job = work.options.job
    work.output.report = work.millrace.call("retry_import", {"leave_out": work.options.on_error is not None}, job=job)
    return end(work, follow(work, job))


def _act(operation: str, said: str) -> Command:
    """A verb that does one thing, and prints `said`, as the local command does."""

    def act(work: Work) -> int:
        job = work.options.job
        work.millrace.call(operation, job=job)
        work.output.say(said.format(job=job, prefix=work.prefix))
        return 0

    return act


def _changes(operation: str, body: Callable[[Namespace], dict[str, Any] | None] = lambda _: None) -> Command:
    """A verb that changes an import, and prints its report. `body`: what the request says, from the options."""

    def change(work: Work) -> int:
        return _tell(work, work.millrace.call(operation, body(work.options), job=work.options.job))

    return change


def _plan(work: Work) -> int:
    report = work.millrace.report(work.options.job)
    work.output.give_whole(report)
    for line in plan_lines(report["plan"]):
        work.output.say(line)
    if report["approval"]:
        work.output.say(f"\nDigest: {report['approval']['digest']}")
    return 0


def _why(work: Work) -> int:
    job = work.options.job
    work.millrace.call("causes", job=job)  # The first request lets Millrace look at the target.
    time.sleep(LOOK_AFTER)
    found = work.millrace.call("causes", job=job)
    work.output.give(CAUSES, found)
    for each in found["causes"]:
        work.output.say(" ".join(filter(None, (each[name] for name in ("what", "evidence", "advice", "sql")))))
    if not found["causes"]:
        work.output.say(f"Import {job}: no cause is known that it waits or is slow.")
    return 0


def _rejects(work: Work) -> int:
    options = work.options
    pieces = work.millrace.download("reasons_file" if options.reasons else "reject_file", job=options.job)
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
    "rejects": _rejects,
}
