"""`millrace job`: lists, follows and steers imports, and what people decide about one that waits for them."""

import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from config.contracts.documents import CAUSES, JOBS
from config.contracts.outcomes import UNKNOWN
from config.contracts.report import is_over
from importer.engine.plan.option_specs import named as option_named
from importer.engine.units import count_of
from importer.management.terminal.follow.progress import Amounts, Progress
from importer.management.terminal.report_text import cause_line, plan_lines, problem_and_ways_out, report_lines
from importer.management.verbs.verb import AddOption, Context, Json, Run, Verb, Verbs, option

PRIORITY = option_named("priority")
MOST_LISTED = 20
LOOK_EVERY = 0.5  # seconds
JOB = option("job", type=int, help="the import's number")


def _list(context: Context) -> None:
    found = list(islice(context.api.pages("list_imports"), max(0, context.options.most)))
    names = ("job", "outcome", "file", "target", "table", "rows")
    rows = [{**{name: each[name] for name in names}, "created": each["created_at"]} for each in found]
    context.output.give(JOBS, {"jobs": rows})
    silent = [each["job"] for each in found if each.get("is_silent")]
    context.output.write_list(_line(row, is_silent=row["job"] in silent) for row in rows)


def _line(row: Mapping[str, Any], *, is_silent: bool) -> str:
    outcome = f"{row['outcome']}, but by no process" if is_silent else row["outcome"]
    place = f"{row['file']} into {row['table']} of {row['target']}"
    begun = row["created"].replace("T", " ")[:16]
    return f"{row['job']}: {outcome}, {place}, {count_of(row['rows'], 'row')}, {begun} UTC"


def _show(context: Context) -> None:
    tell(context, context.api.call("show_import", job=context.options.job))


def tell(context: Context, report: Json) -> None:
    """Print a report; it is no failure of the command that an import has failed."""
    context.output.give_whole(report)
    for line in (*report_lines(report, context.prefix), *problem_and_ways_out(report, context.prefix)):
        context.output.say(line)


def end(context: Context, report: Json) -> int:
    """Print the report of an import that is over; its exit code."""
    context.output.report = report
    context.output.give_whole(report)
    for line in report_lines(report, context.prefix):
        context.output.say(line)
    for line in problem_and_ways_out(report, context.prefix):
        context.output.warn(line)
    return int(report["exit_code"] or 0)


def _wait(context: Context) -> int:
    job, at_most = context.options.job, context.options.at_most
    try:
        report = watched(context, job) if at_most is None else context.api.report_within(job, at_most)
    except KeyboardInterrupt:
        report = context.api.call("show_import", job=job)
    if is_over(report):
        return end(context, report)
    context.output.warn(f"Import {job} continues. {context.prefix} job wait {job} waits for it again.")
    context.output.give_whole(report)
    return UNKNOWN


def watched(context: Context, job: int) -> Json:
    """The report of an import once it is over, with a progress line until then."""
    progress = Progress(context.options.as_json)

    def look(now: Mapping[str, Any]) -> None:
        done = Amounts(now["committed_bytes"], now["size"], now["rows_in_table"] + now["rejected_rows"])
        progress.show_amounts(f"import {job}", done, now["status"])

    try:
        report: Json = context.api.wait(job, look)
    finally:
        progress.close()
    return report


def _no_body(_options: Namespace) -> Json | None:
    return None


def _act(operation: str, said: str, body: Callable[[Namespace], Json | None] = _no_body) -> Run:
    """A verb that does one thing, and prints `said`, or with --json what the operation answers: the report.

    `body`: what the request says, from the options.
    """

    def act(context: Context) -> None:
        options = context.options
        report = context.api.call(operation, body(options), job=options.job)
        if report:
            context.output.give_whole(report)
        context.output.say(said.format(**vars(options), prefix=context.prefix))

    return act


def _changes(operation: str, body: Callable[[Namespace], Json | None] = _no_body) -> Run:
    """A verb that changes an import, and prints its report."""
    return lambda context: tell(context, context.api.call(operation, body(context.options), job=context.options.job))


def _undo(context: Context) -> int:
    job, overwrite = context.options.job, context.options.overwrite
    report = context.api.call("restore_import", {"overwrite": overwrite}, job=job)
    while report["undo"] and report["undo"]["asked"]:
        time.sleep(LOOK_EVERY)
        report = context.api.call("show_import", job=job)
    return undone(context, report)


def undone(context: Context, report: Json) -> int:
    """Print the report of an import that was to be taken back; the exit code."""
    tell(context, report)
    return UNKNOWN if report["undo"] and not report["undo"]["taken_back_at"] else 0


def _plan(context: Context) -> None:
    report = context.api.call("show_import", job=context.options.job)
    context.output.give_whole(report)
    for line in plan_lines(report["plan"]):
        context.output.say(line)
    if report["approval"] and not report["approval"]["approved_at"]:
        asked = context.api.call("import_approval", job=report["job"])
        context.output.say(f"\n{asked['sentence']}\nDigest: {asked['digest']}")
    else:
        state = report["outcome"] or report["debug"]["status"]
        context.output.say(f"\nIt does not wait for an approval: it is {state}.")


def _why(context: Context) -> None:
    job = context.options.job
    found = context.api.causes(job)
    context.output.give(CAUSES, found)
    for each in found["causes"]:
        context.output.say(" ".join(filter(None, (cause_line(each), each["sql"]))))
    if not found["causes"]:
        context.output.say(f"Import {job}: no cause is known that it waits or is slow.")
    # A server of the release before does not tell.
    if unseen := found.get("unseen"):
        grants = " ".join(f"{each};" for each in unseen)
        context.output.say(
            f"The target's account sees only a part of what others do on its server. To see more: {grants}"
        )


def _rejects(context: Context) -> None:
    from importer.management.terminal.new_file import write_rejects  # Here: a load needs none of it.

    options = context.options
    pieces = context.api.download("reasons_file" if options.reasons else "reject_file", job=options.job)
    write_rejects(pieces, options.out, as_json=options.as_json)


Body = Callable[[Namespace], Json | None]


def followed(run: Callable[[str, Body], Run], *more: AddOption) -> Verbs:
    """The verbs by which an ended import goes on. `more`: further options.

    `run`: the function that calls an operation, with what the request says, and follows the import to its end.
    """
    leave_out = option("--on-error", choices=("reject",), help="leave out bad rows from now on, into a file")
    all_the_same = option("--all-the-same", action="store_true", help="also beyond its limits (--stop-if)")
    return {
        "retry": Verb(
            "load the missing rows of an import that failed or was cancelled",
            run("retry_import", lambda it: {"leave_out": it.on_error is not None}),
            (JOB, leave_out, *more),
        ),
        "apply": Verb(
            "change the table as a preview has shown it, from the rows that are staged",
            run("apply_import", lambda it: {"all_the_same": it.all_the_same}),
            (JOB, all_the_same, *more),
        ),
        "compare": Verb(
            "compare the staged rows of an import with its table once more, and change nothing",
            run("compare_import", _no_body),
            (JOB, *more),
        ),
    }


def undo(run: Run, *more: AddOption) -> Verb:
    """The verb `undo`, by the function that follows it to its end. `more`: further options."""
    overwrite = option("--overwrite", action="store_true", help="also rows that others have changed since")
    return Verb(
        "take back what an import has changed, if it ran with --undo keep or --mode replace",
        run,
        (JOB, overwrite, *more),
    )


PAUSED = "Import {job} is paused: chunks under way finish. To continue: {prefix} job resume {job}"
APPROVED = "Import {job} is approved: the workers load it."
VERBS: Verbs = {
    "list": Verb(
        "the latest imports, the newest first",
        _list,
        (option("--most", type=int, default=MOST_LISTED, metavar="N", help=f"the latest N (default {MOST_LISTED})"),),
    ),
    "show": Verb("the state of an import, its rows and its problem", _show, (JOB,)),
    "wait": Verb(
        "wait for the end of an import, and exit with its code",
        _wait,
        (JOB, option("--at-most", type=float, metavar="SECONDS", help="then exit with 1; default: until its end")),
    ),
    "pause": Verb("start no more chunks of an import; those under way finish", _act("pause_import", PAUSED), (JOB,)),
    "resume": Verb("continue a paused import", _act("resume_import", "Import {job} continues."), (JOB,)),
    "priority": Verb(
        "let an import go before the person's others, or after all others",
        _act("set_priority", "Import {job} has the priority {priority} now.", lambda it: {"priority": it.priority}),
        (JOB, option("priority", help=PRIORITY.about, **PRIORITY.kind.flag)),
    ),
    "rejects": Verb(
        "the rejected rows of an import, to correct and load them, or their reasons",
        _rejects,
        (
            JOB,
            option("--reasons", action="store_true", help="line, column, value and reason of each instead"),
            option("--out", type=Path, metavar="FILE", help="write them there instead of to standard output"),
        ),
    ),
    "plan": Verb("what an import does, with its SQL, and the digest that is approved", _plan, (JOB,)),
    "why": Verb("why an import waits or is slow now, with the evidence", _why, (JOB,)),
    "approve": Verb(
        "let an import of somebody else write to a target that needs approvals",
        _act("approve_import", APPROVED, lambda it: {"digest": it.digest}),
        (JOB, option("--digest", required=True, help="of the plan that you have seen, from `job plan`")),
    ),
    "refuse": Verb(
        "end an import of somebody else that waits for approval",
        _changes("refuse_import", lambda it: {"reason": it.reason}),
        (JOB, option("--reason", required=True, metavar="TEXT", help="for the person who started the import")),
    ),
    "cancel": Verb(
        "end an import; what is committed stays, except in a staging table", _changes("cancel_import"), (JOB,)
    ),
    "drop": Verb(
        "drop the rows that an import has staged and not applied, and end one that waits for a decision",
        _changes("drop_import"),
        (JOB,),
    ),
    "delete": Verb(
        "delete an ended import with its rejected rows; what it loaded stays",
        _act("delete_import", "Import {job} is deleted. What it loaded stays in its table."),
        (JOB,),
    ),
    "undo": undo(_undo),
    "restore-now": Verb(
        "try at once to put back keys and server variables that an import has changed",
        _changes("restore_now_import"),
        (JOB,),
    ),
    "end-without": Verb(
        "end an import although keys or server variables are not put back; shows the SQL for it",
        _changes("end_without_import"),
        (JOB,),
    ),
}
