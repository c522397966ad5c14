"""The verbs of `job`, `preset` and `schedule` with their options, which are the same here and with --server."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from importer.engine.plan.option_specs import named

PRIORITY = named("priority")
LIST = "list"
MOST_LISTED = 20
JOB_VERBS: Mapping[str, str] = {
    LIST: "the latest imports, the newest first",
    "show": "the state of an import, its rows and its problem",
    "wait": "wait for the end of an import, and exit with its code",
    "retry": "load the missing rows of an import that failed or was cancelled",
    "pause": "start no more chunks of an import; those under way finish",
    "resume": "continue a paused import",
    "priority": "let an import go before the person's others, or after all others",
    "rejects": "the rejected rows of an import, to correct and load them, or their reasons",
    "plan": "what an import does, with its SQL, and the digest that is approved",
    "why": "why an import waits or is slow now, with the evidence",
    "approve": "let an import of somebody else write to a target that needs approvals",
    "refuse": "end an import of somebody else that waits for approval",
    "run": "run an import to its end in this process; for one that no worker takes",
    "cancel": "end an import; what is committed stays, except in a staging table",
    "delete": "delete an ended import with its rejected rows; what it loaded stays",
    "restore-now": "try at once to put back keys and server variables that an import has changed",
    "end-without": "end an import although keys or server variables are not put back; shows the SQL for it",
}
PRESET_VERBS: Mapping[str, str] = {
    LIST: "all presets, by name",
    "show": "what a preset sets",
    "rename": "give a preset another name",
    "delete": "delete a preset; schedules keep their settings",
    "export": "write a preset as JSON, for `import` in another installation",
    "import": "make a preset of what `export` has written",
}
SCHEDULE_VERBS: Mapping[str, str] = {
    LIST: "all schedules",
    "show": "one schedule, its next due times and its last runs",
    "create-from-job": "import files like that of a past import regularly",
    "run": "run it now and wait for the end; exit code 0 only if it succeeds, or with --no-wait once it is queued",
    "pause": "begin no more runs",
    "resume": "run again from now on",
    "run-again": "start an ended or a missed run again, for its moment",
    "backfill": "start a run for each due time of some past days",
    "forget": "let the next run load a file that failed as a new one; first take its rows out of the table",
}
# What these verbs print.
PRESET_SAID: Mapping[str, str] = {
    "rename": "{name} is called {new} now.",
    "delete": "The preset {name} is deleted. Schedules that were made with it keep their settings.",
    "export": "The preset {name} is in {out}.",
}


# What `list` says instead of nothing.
NONE_TO_LIST: Mapping[str, str] = {
    "channel": "There are no channels to list. To add one: millrace channel add NAME --mail ADDRESS",
    "connection": "There are no connections to list. To add one: millrace connection add NAME PLACE",
    "group": "There are no groups to list. To add one: millrace group add NAME",
    "job": "There are no imports to list. To begin one: millrace load FILE --to TARGET --table TABLE",
    "lab": "There are no labs to list. To begin one: millrace lab --help",
    "preset": "There are no presets to list. The page of a new import saves its settings as one.",
    "schedule": "There are no schedules to list. To make one: millrace schedule create-from-job --help",
    "target": "There are no targets to list. To add one: millrace target add NAME mysql://USER@HOST/DATABASE",
    "user": "There are no people to list. To add one: millrace user add NAME --role ROLE",
}


def write_list(command: str, lines: Iterable[str], say: Callable[[str], object], warn: Callable[[str], object]) -> None:
    """Write the lines of `list` of this command by `say`; by `warn` that there are none, and how to add one."""
    empty = True
    for line in lines:
        empty = False
        say(line)
    if empty:
        warn(NONE_TO_LIST[command])


def add_verbs(parser: ArgumentParser, verbs: Mapping[str, str]) -> dict[str, ArgumentParser]:
    """Add the verbs, each with its help; the parser of each, by its name."""
    added = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    return {name: added.add_parser(name, help=about) for name, about in verbs.items()}


def add_job_verbs(parser: ArgumentParser, names: Iterable[str]) -> dict[str, ArgumentParser]:
    """Add these verbs of `job` with their options; the parser of each, by its name."""
    verbs = add_verbs(parser, {name: JOB_VERBS[name] for name in names})
    for name, verb in verbs.items():
        if name != LIST:
            verb.add_argument("job", type=int, help="the import's number")
    text = f"the latest N (default {MOST_LISTED})"
    verbs[LIST].add_argument("--most", type=int, default=MOST_LISTED, metavar="N", help=text)
    text = "then exit with 1; default: until its end"
    verbs["wait"].add_argument("--at-most", type=float, metavar="SECONDS", help=text)
    text = "leave out bad rows from now on, into a file"
    verbs["retry"].add_argument("--on-error", choices=("reject",), help=text)
    verbs["priority"].add_argument("priority", help=PRIORITY.about, **PRIORITY.kind.flag)
    text = "of the plan that you have seen, from `job plan`"
    verbs["approve"].add_argument("--digest", required=True, help=text)
    text = "for the person who started the import"
    verbs["refuse"].add_argument("--reason", required=True, metavar="TEXT", help=text)
    text = "line, column, value and reason of each instead"
    verbs["rejects"].add_argument("--reasons", action="store_true", help=text)
    text = "write them there instead of to standard output"
    verbs["rejects"].add_argument("--out", type=Path, metavar="FILE", help=text)
    return verbs


def add_preset_verbs(parser: ArgumentParser, names: Iterable[str]) -> None:
    """Add these verbs of `preset` with their options."""
    for name, verb in add_verbs(parser, {name: PRESET_VERBS[name] for name in names}).items():
        if name == "import":
            _add_preset_import(verb)
        elif name != LIST:
            verb.add_argument("name", help="the preset's name")
        if name == "rename":
            verb.add_argument("new", metavar="NEW_NAME", help="its new name")
        if name == "export":
            verb.add_argument("--out", type=Path, metavar="FILE", help="write it there, not to standard output")


def add_schedule_verbs(parser: ArgumentParser, names: Iterable[str]) -> dict[str, ArgumentParser]:
    """Add these verbs of `schedule` with the options that they have everywhere; the parser of each, by its name."""
    from importer.management.argument_types import day  # Here: no other command needs it.

    verbs = add_verbs(parser, {name: SCHEDULE_VERBS[name] for name in names})
    for name, verb in verbs.items():
        if name not in (LIST, "create-from-job"):
            verb.add_argument("name", help="the schedule's name")
    verbs["run"].add_argument("--date", type=day, metavar="YYYY-MM-DD", help="run as if it were that day")
    verbs["run"].add_argument("--no-wait", action="store_true", help="leave it to the workers, and do not wait")
    return verbs


def _add_preset_import(verb: ArgumentParser) -> None:
    verb.add_argument("file", help="the file, or - for standard input")
    verb.add_argument("--new-name", metavar="NAME", default="", help="instead of the name in the file")
    verb.add_argument("--to", "--target", dest="target", metavar="TARGET", help="a target other than the file's")
    verb.add_argument("--table", default="", metavar="TABLE", help="TABLE or SCHEMA.TABLE, other than the file's")
