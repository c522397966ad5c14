"""The verbs of `job` with their options, which are the same here and with --server."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path

LIST = "list"
MOST_LISTED = 20
JOB_VERBS: Mapping[str, str] = {
    LIST: "the latest imports, the newest first",
    "show": "the state of an import, its rows and its problem",
    "wait": "wait for the end of an import, and exit with its code",
    "retry": "load the missing rows of an import that failed or was cancelled",
    "pause": "start no more chunks of an import; those under way finish",
    "resume": "continue a paused import",
    "rejects": "the rejected rows of an import, to correct and load them, or their reasons",
    "plan": "what an import does, with its SQL, and the digest that is approved",
    "why": "why an import waits or is slow now, with the evidence",
    "approve": "let an import of somebody else write to a target that needs approvals",
    "refuse": "end an import of somebody else that waits for approval",
    "run": "run an import to its end in this process; for one that no worker takes",
    "cancel": "end an import; what is committed stays, except in a staging table",
    "delete": "delete an ended import with its rejected rows; what it loaded stays",
    "restore-now": "try at once to put back the keys that the server refused to build",
    "end-without": "end an import without these keys; it shows the SQL that brings them back",
}


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
    text = "of the plan that you have seen, from `job plan`"
    verbs["approve"].add_argument("--digest", required=True, help=text)
    text = "for the person who started the import"
    verbs["refuse"].add_argument("--reason", required=True, metavar="TEXT", help=text)
    text = "line, column, value and reason of each instead"
    verbs["rejects"].add_argument("--reasons", action="store_true", help=text)
    text = "write them there instead of to standard output"
    verbs["rejects"].add_argument("--out", type=Path, metavar="FILE", help=text)
    return verbs
