"""`millrace --server URL load`, `plan` and `check`: the same options and reports as on the machine of Millrace."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from importer.engine.errors import Cancelled, Problem
from importer.engine.plan.previous_imports import EarlierLoad
from importer.engine.stored import from_json
from importer.management.command_line.remote.files import Uploads, named_files
from importer.management.command_line.remote.problems import PROBLEMS, AnyProblem
from importer.management.import_options import add_flags, usage, wish_of
from importer.management.terminal.report_text import questions, repeated_line
from importer.management.terminal.words import WORDS
from importer.management.verbs.files import show_check, show_plan
from importer.management.verbs.jobs import Body, end, watched
from importer.management.verbs.verb import Context, Json, Run, Verb
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


def plan(context: Context) -> int:
    """Print how the files are read, the plan and its SQL."""
    uploads = Uploads(context.api, context.options.as_json)
    try:
        report = context.api.plan(wanted_of(context, uploads))
    finally:
        uploads.remove()
    if not report["plan"]:
        return _ask(context, report)
    return show_plan(context, report, ", ".join(context.options.file))


def _ask(context: Context, document: Json) -> int:
    """Print the questions about a file that a document has."""
    context.output.give_whole(document)
    for line in questions(document):
        context.output.warn(line)
    return int(document["exit_code"])


def check(context: Context) -> int:
    """Print the rows of the whole file that could not be loaded, or the questions about it."""
    uploads = Uploads(context.api, context.options.as_json)
    try:
        found = context.api.call("check", wanted_of(context, uploads))
    finally:
        uploads.remove()
    return _ask(context, found) if found["problem"] else show_check(context, found)


def goes_on(operation: str, body: Body) -> Run:
    """Let an ended import go on by an operation of the API, and print its report."""

    def run(context: Context) -> int:
        options = context.options
        context.output.report = context.api.call(operation, body(options), job=options.job)
        return end(context, follow(context, options.job))

    return run


def load(context: Context) -> int:
    """Load the files, and print the report. What was uploaded is removed if the import does not begin."""
    if context.options.plan_only:
        return plan(context)
    uploads = Uploads(context.api, context.options.as_json)
    wanted = wanted_of(context, uploads)
    try:
        begun = context.api.start(wanted)
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


def preview(context: Context) -> int:
    """Compare the files with their table, and print the report: what they would change."""
    context.options.preview = True
    return load(context)


def _begun_unheard(context: Context, uploads: Uploads, problem: AnyProblem) -> dict[str, Any]:
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


def _end_if_begun(context: Context, uploads: Uploads) -> int:
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


def _report(context: Context, job: int) -> dict[str, Any]:
    """The report of an import that has begun."""
    try:
        report: Json = context.api.report(job)
    except ServerUnreachable as away:
        raise context.api.continuing(away, job) from None
    return report


def wanted_of(context: Context, uploads: Uploads) -> dict[str, Any]:
    """The request for the import of the options, for which the files of this machine are uploaded."""
    options = vars(context.options)
    named = named_files(options["file"], options["from_connection"], options["server_file"])
    body = wish_of(options)
    return (named or uploads.send(options["file"])) | body


def follow(context: Context, job: int) -> dict[str, Any]:
    """The report of an import once it is over. Ctrl-C once ends it cleanly, twice ends the command at once."""
    try:
        return watched(context, job)
    except KeyboardInterrupt:
        return _cancelled(context, job)


def _cancelled(context: Context, job: int) -> dict[str, Any]:
    """Cancel an import; its report once it is over."""
    context.output.warn(f"Ending import {job}. Ctrl-C once more ends at once.")
    try:
        context.api.call("cancel_import", job=job)
    except PROBLEMS as problem:
        context.output.warn(str(problem))
    try:
        report = watched(context, job)
    except KeyboardInterrupt:
        left = f"{context.prefix} job wait {job}; {context.prefix} job retry {job}"
        raise Problem("Ended at once.", advice=f"What is committed stays. The missing rows: {left}") from None
    context.output.warn(f"To load the missing rows: {context.prefix} job retry {job}")
    return report


def _word(name: str, run: Run) -> Verb:
    return Verb(WORDS[name].about, run, (partial(add_arguments, word=name),))


LOAD, PLAN, CHECK, PREVIEW = (
    _word(name, run) for name, run in (("load", load), ("plan", plan), ("check", check), ("preview", preview))
)
