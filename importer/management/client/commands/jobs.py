"""`millrace --server URL job`: the verbs that follow and steer imports."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from config.contracts.documents import CAUSES, JOBS
from config.contracts.outcomes import UNKNOWN
from importer.management.client.api import is_over
from importer.management.client.commands.load import end, follow, lines_of, watched
from importer.management.client.commands.work import Command, Work
from importer.management.client.report_text import plan_lines
from importer.management.command_line.new_file import write_rejects

MOST_LISTED = 20
LOOK_EVERY = 0.5  # seconds, of `job wait --at-most`
LOOK_AFTER = 1.0  # seconds, in which what a server does can be seen (docs/waiting.md)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, (_, about) in VERBS.items():
        verb = verbs.add_parser(name, help=about)
        if name == "list":
            text = f"the latest N (default {MOST_LISTED})"
            verb.add_argument("--most", type=int, default=MOST_LISTED, metavar="N", help=text)
            continue
        verb.add_argument("job", type=int, help="the import's number")
        if name == "wait":
            text = "then exit with 1; default: until its end"
            verb.add_argument("--at-most", type=float, metavar="SECONDS", help=text)
        if name == "retry":
            text = "leave out bad rows from now on, into a file"
            verb.add_argument("--on-error", choices=("reject",), help=text)
        if name == "approve":
            verb.add_argument("--digest", required=True, help="of the plan that you have seen, from `job plan`")
        if name == "refuse":
            text = "for the person who started the import"
            verb.add_argument("--reason", required=True, metavar="TEXT", help=text)
        if name == "rejects":
            text = "line, column, value and reason of each instead"
            verb.add_argument("--reasons", action="store_true", help=text)
            verb.add_argument("--out", type=Path, metavar="FILE", help="write them there instead of to standard output")


def run(work: Work) -> int:
    """Run one verb."""
    return VERBS[work.options.verb][0](work)


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
    if problem := report["problem"]:
        work.output.say(f"{problem['what']} {problem['advice']}".strip())
    return 0


def _wait(work: Work) -> int:
    job, at_most = work.options.job, work.options.at_most
    try:
        report = watched(work, job) if at_most is None else _polled(work, job, at_most)
    except KeyboardInterrupt:
        report = work.millrace.report(job)
    if not is_over(report):
        work.output.warn(f"Import {job} continues. {work.prefix} job wait {job} waits for it again.")
        work.output.give_whole(report)
        return UNKNOWN
    return end(work, report)


def _polled(work: Work, job: int, at_most: float) -> dict[str, Any]:
    """The report once the import is over, or after this number of seconds."""
    until = time.monotonic() + at_most
    while not is_over(report := work.millrace.report(job)) and time.monotonic() < until:
        time.sleep(LOOK_EVERY)
    return report


def _retry(work: Work) -> int:
    job = work.options.job
    work.output.report = work.millrace.call("retry_import", {"leave_out": work.options.on_error is not None}, job=job)
    return end(work, follow(work, job))


def _act(operation: str, said: str) -> Command:
    """A verb that does one thing, and tells it as the local command does."""

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
    work.millrace.call("causes", job=job)  # The first request has the server looked at.
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


VERBS: Mapping[str, tuple[Command, str]] = {
    "list": (_list, "the latest imports, the newest first"),
    "show": (_show, "the state of an import, its rows and its problem"),
    "wait": (_wait, "wait for the end of an import, and exit with its code"),
    "retry": (_retry, "load the missing rows of an import that failed or was cancelled"),
    "pause": (
        _act("pause_import", "Import {job} is paused: chunks under way finish. To continue: {prefix} job resume {job}"),
        "start no more chunks of an import; those under way finish",
    ),
    "resume": (_act("resume_import", "Import {job} continues."), "continue a paused import"),
    "cancel": (_changes("cancel_import"), "end an import; what is committed stays, except in a staging table"),
    "plan": (_plan, "what an import does: its plan as SQL, and the digest that is approved"),
    "why": (_why, "why an import waits or is slow now, with the evidence"),
    "approve": (
        _changes("approve_import", lambda options: {"digest": options.digest}),
        "let an import of somebody else write to a target that needs approvals",
    ),
    "refuse": (
        _changes("refuse_import", lambda options: {"reason": options.reason}),
        "end an import of somebody else that waits for approval",
    ),
    "delete": (
        _act("delete_import", "Import {job} is deleted. What it loaded stays in its table."),
        "delete an ended import with its rejected rows; what it loaded stays",
    ),
    "restore-now": (
        _changes("restore_now_import"),
        "try at once to put back the keys that the server refused to build",
    ),
    "end-without": (
        _changes("end_without_import"),
        "end an import without these keys; it tells the SQL that brings them back",
    ),
    "rejects": (_rejects, "the rejected rows of an import, to correct and load them, or their reasons"),
}
