"""`millrace --server URL load` and `plan`: the same options and reports as on the machine of Millrace."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from importer.engine.errors import Cancelled, Problem
from importer.engine.plan.previous_imports import EarlierLoad
from importer.engine.source.chunks.skipped_lines import SkippedLines
from importer.engine.stored import from_json
from importer.management.client.commands.body import body_of, keep_written
from importer.management.client.commands.context import CommandContext
from importer.management.client.commands.files import Uploads, named_files
from importer.management.client.problems import PROBLEMS, AnyProblem
from importer.management.import_options import add_flags, usage
from importer.management.terminal.follow.progress import Amounts, Progress
from importer.management.terminal.report_text import (
    equation_of,
    kind_lines,
    plan_lines,
    problem_lines,
    questions,
    reading_lines,
    rejects_line,
    repeated_line,
    skipped_lines,
    ways_out,
)
from millrace_client.api import is_over
from millrace_client.problems import ServerUnreachable, may_be_done

ON_ITS_MACHINE = "Give it on the machine of Millrace."
# Options of the local command that a server refuses, each with what to do instead.
LOCAL_ONLY: Mapping[str, str] = {
    **dict.fromkeys(
        ("--password-env", "--defaults-file", "--socket", "--tls", "--tls-ca"),
        "The server knows how its targets are reached: name one by --to.",
    ),
    "--again": "The server starts an import for each `load`: leave it out.",
    "--in-process": "The server's workers load: leave it out.",
    "--check-only": "Write `check` instead of `load`.",
    "--allow-private": f"Files at private addresses are fetched by a connection: --from. {ON_ITS_MACHINE}",
    "--as": "A token acts on behalf of its person: use one of another person.",
}


def add_arguments(parser: ArgumentParser, word: str) -> None:
    """Add the options of `load`, `plan` or `check`."""
    parser.usage = usage(word, "--to TARGET --table TABLE")
    add_flags(parser, lambda _: None)
    keep_written(parser)
    add_refusals(parser, LOCAL_ONLY)


def add_refusals(parser: ArgumentParser, refused: Mapping[str, str]) -> None:
    """Let the parser refuse options that have no meaning for a server, each with what to do instead."""
    for flag, advice in refused.items():
        if known := parser._option_string_actions.pop(flag, None):
            known.help = SUPPRESS
        parser.add_argument(flag, action=_Refused, nargs="?", help=SUPPRESS, advice=advice)


class _Refused(Action):
    """Refuses its option."""

    def __init__(self, *args: Any, advice: str, **named: Any) -> None:
        super().__init__(*args, **named)
        self._advice = advice

    def __call__(self, parser: ArgumentParser, _space: Any, _values: Any, flag: str | None = None) -> NoReturn:
        parser.error(f"{flag} cannot be used with --server. {self._advice}")


def plan(context: CommandContext) -> int:
    """Print how the files are read, the plan and its SQL."""
    uploads = Uploads(context.millrace, context.output.as_json)
    try:
        report = context.millrace.plan(wanted_of(context, uploads))
    finally:
        uploads.remove()
    context.output.give_whole(report)
    if not report["plan"]:
        for line in questions(report):
            context.output.warn(line)
        return int(report["exit_code"])
    for line in reading_lines(report["reading"]):
        context.output.say(line)
    context.output.say(f"\n{', '.join(context.options.file)}:")
    for line in plan_lines(report["plan"]):
        context.output.say(line)
    return int(report["exit_code"])


def load(context: CommandContext) -> int:
    """Load the files, and print the report. What was uploaded is removed if the import does not begin."""
    if context.options.plan_only:
        return plan(context)
    uploads = Uploads(context.millrace, context.output.as_json)
    wanted = wanted_of(context, uploads)
    try:
        begun = context.millrace.start(wanted)
    except PROBLEMS as problem:
        if not may_be_done(problem):
            uploads.remove()
            raise
        begun = _begun_unheard(context, uploads, problem)
    except KeyboardInterrupt:
        return _end_if_begun(context, uploads)
    context.output.report = begun
    if earlier := begun.get("loaded_before"):
        context.output.warn(repeated_line(from_json(EarlierLoad, earlier).words))
    return end(context, follow(context, begun["job"]))


def _begun_unheard(context: CommandContext, uploads: Uploads, problem: AnyProblem) -> dict[str, Any]:
    """The report of the import that the server has begun although its answer is lost, or is still to come.

    Raises `problem`, with what to do next, if it has begun none, and if nobody knows.
    """
    usual = problem.advice
    problem.advice = f"The import may have begun all the same. Before you try again, look: {context.prefix} job list"
    begun = _taken_back(uploads, problem)
    if not begun:
        problem.advice = f"Nothing was written. {usual}"
        raise problem
    context.output.warn(f"{problem.what} Import {begun[-1]} has begun all the same.")
    return _report(context, begun[-1])


def _end_if_begun(context: CommandContext, uploads: Uploads) -> int:
    """After Ctrl-C while the server plans: without its files it begins nothing; what it has begun, is cancelled.

    Raises Cancelled if nothing has begun, as far as is known.
    """
    advice = f"Look whether the server has begun it all the same: {context.prefix} job list; job cancel ends it."
    unknown = Cancelled("Ctrl-C ended the command while the server planned the import.", advice=advice)
    begun = _taken_back(uploads, unknown)
    if not begun:
        raise Cancelled("Ctrl-C ended the import before it began.", advice="Nothing was written.")
    context.output.report = _report(context, begun[-1])
    return end(context, _cancelled(context, begun[-1]))


def _taken_back(uploads: Uploads, unknown: AnyProblem) -> list[int]:
    """The imports that the server has begun with the uploads; without one it begins none any more.

    Raises `unknown` if the server does not say, and of files that cannot be taken back: those that the server has
    itself, and uploads that others may use.
    """
    if uploads.own:
        with suppress(*PROBLEMS):
            return uploads.take_back()
    raise unknown


def _report(context: CommandContext, job: int) -> dict[str, Any]:
    """The report of an import that has begun."""
    with _continuing(context, job):
        return context.millrace.report(job)


@contextmanager
def _continuing(context: CommandContext, job: int) -> Iterator[None]:
    """Let a lost connection say that the import continues: to try the command again would load the files twice."""
    try:
        yield
    except ServerUnreachable as away:
        again = f"{context.prefix} job wait {job} waits for it again"
        away.advice = f"Import {job} continues. Once the server answers, {again}."
        raise


def wanted_of(context: CommandContext, uploads: Uploads) -> dict[str, Any]:
    """The request for the import of the options, for which the files of this machine are uploaded."""
    options = vars(context.options)
    named = named_files(options["file"], options["from_connection"], options["server_file"])
    body = body_of(options)
    return (named or uploads.send(options["file"])) | body


def follow(context: CommandContext, job: int) -> dict[str, Any]:
    """The report of an import once it is over. Ctrl-C once ends it cleanly, twice ends the command at once."""
    try:
        return watched(context, job)
    except KeyboardInterrupt:
        return _cancelled(context, job)


def _cancelled(context: CommandContext, job: int) -> dict[str, Any]:
    """Cancel an import; its report once it is over."""
    context.output.warn(f"Ending import {job}. Ctrl-C once more ends at once.")
    try:
        context.millrace.call("cancel_import", job=job)
    except PROBLEMS as problem:
        context.output.warn(str(problem))
    try:
        report = watched(context, job)
    except KeyboardInterrupt:
        left = f"{context.prefix} job wait {job}; {context.prefix} job retry {job}"
        raise Problem("Ended at once.", advice=f"What is committed stays. The missing rows: {left}") from None
    context.output.warn(f"To load the missing rows: {context.prefix} job retry {job}")
    return report


def watched(context: CommandContext, job: int) -> dict[str, Any]:
    """The report of an import once it is over, with a progress line until then."""
    progress = Progress(context.output.as_json)

    def look(now: Mapping[str, Any]) -> None:
        done = Amounts(now["committed_bytes"], now["size"], now["rows_in_table"] + now["rejected_rows"])
        progress.show_amounts(f"import {job}", done, now["status"])

    try:
        with _continuing(context, job):
            return context.millrace.wait(job, look)
    finally:
        progress.close()


def end(context: CommandContext, report: dict[str, Any]) -> int:
    """Print the report of an import that is over; its exit code."""
    context.output.report = report
    context.output.give_whole(report)
    for line in lines_of(report, context.prefix):
        context.output.say(line)
    for line in problem_and_ways_out(report, context.prefix):
        context.output.warn(line)
    return int(report["exit_code"] or 0)


def problem_and_ways_out(report: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """The problem of an import with its first bad rows, and the commands that load the missing rows."""
    problem, rows = report["problem"] or {}, report["rows"]
    if problem:
        yield from problem_lines(problem)
    if is_over(report):
        staged = report["debug"].get("plan", {}).get("staged")
        stay = 0 if report["balanced"] or staged else rows["loaded"]
        yield from ways_out(report["job"], problem, stay, prefix)


def lines_of(report: Mapping[str, Any], prefix: str) -> list[str]:
    """The report in words. `prefix`: the beginning of command lines for the same server."""
    job, rows = report["job"], report["rows"]
    if report["approval"] and not report["approval"]["approved_at"]:
        return [
            f"Import {job} waits for approval by another person; nothing is written before.",
            f"Digest: {report['approval']['digest']}. That person approves it on the import's page, or by the API.",
            f"To follow it: {prefix} job wait {job}. To give it up: {prefix} job cancel {job}",
        ]
    lines = [f"Import {job} {report['outcome'] or report['debug']['status']}: {equation_of(rows)}"]
    lines += skipped_lines(SkippedLines.from_json(report["lines"])) if rows["source_is_final"] else ()
    if rate := report["rates"].get("rows_per_second"):
        lines.append(f"{rate:,.0f} rows/s, verified against the ledger on the server")
    lines += kind_lines(report["rejects"].get("reasons") or (), report["notices"])
    if rows["rejected"]:
        lines.append(rejects_line(job, prefix))
    return lines
