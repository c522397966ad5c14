"""`millrace --server URL WORD ...`: finds the word, reads its options, and runs it."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from config.contracts.documents import CHECK, PROBLEM, REPORT, Document
from importer.engine.errors import WrongUsage
from importer.management.command_line.remote import agent, load
from importer.management.command_line.remote.output import RemoteOutput
from importer.management.command_line.remote.there import There
from importer.management.command_line.remote.tokens import VARIABLE, token_from
from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC
from importer.management.terminal.near_words import near_of_error
from importer.management.terminal.parsers import let_values_be_dashes, parsers, with_files_as_paths
from importer.management.terminal.words import AGENT, FLAG, PROGRAM, WORDS, sentence, undecoded_word
from importer.management.verbs import history, jobs, presets, schedules, targets
from importer.management.verbs.verb import Context, Verb, Verbs, add_options, chosen

ABOUT_JSON = "print one document as JSON, also of a problem (docs/contracts.md)"


@dataclass(frozen=True)
class RemoteWord:
    """A word: what it does, and its verbs. `files`: for a word about files, the document that reports its problems."""

    about: str
    verbs: Verbs | Verb
    files: Document | None = None


REMOTE: Mapping[str, RemoteWord] = {
    "load": RemoteWord(WORDS["load"].about, load.LOAD, REPORT),
    "plan": RemoteWord(WORDS["plan"].about, load.PLAN, REPORT),
    "check": RemoteWord(WORDS["check"].about, load.CHECK, CHECK),
    "preview": RemoteWord(WORDS["preview"].about, load.PREVIEW, REPORT),
    "job": RemoteWord(WORDS["job"].about, {**jobs.VERBS, **jobs.followed(load.goes_on)}),
    "target": RemoteWord("list and check targets", targets.VERBS),
    "history": RemoteWord(WORDS["history"].about, history.HISTORY_VERB),
    "preset": RemoteWord("list, show, rename, delete and export presets", presets.VERBS),
    "schedule": RemoteWord("list, show and run schedules", schedules.VERBS),
    AGENT: RemoteWord(agent.ABOUT, agent.VERB),
}


class _Parser(argparse.ArgumentParser):
    """Raises WrongUsage where argparse would print and exit."""

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message + near_of_error(message, [self]), self.prog, f"See {self.prog} --help.")


def main(arguments: Sequence[str], held: HeldCtrlC | None = None) -> NoReturn:
    """Run the arguments, of which the first is --server. Ends with the exit code of the command.

    `held`: Ctrl-C since the process began.
    """
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    asks_json = FLAG in before
    name = next((each for each in arguments if each in REMOTE), "")
    output = RemoteOutput(name, asks_json, of_problems=(REMOTE[name].files if name in REMOTE else None) or PROBLEM)
    sys.exit(output.run(lambda: _run(arguments, output, held)))


def _run(arguments: Sequence[str], output: RemoteOutput, held: HeldCtrlC | None) -> int:
    if held:
        held.release()
    if wrong := undecoded_word(arguments):
        raise wrong
    server = server_parser().parse_args(arguments)
    if server.word not in REMOTE:
        advice = f"These words do: {', '.join(REMOTE)}."
        if server.word in WORDS:
            advice = f"Run it on the machine of Millrace: {PROGRAM} {server.word}. {advice}"
        raise WrongUsage(f"{server.word} does not work with --server.", PROGRAM, advice)
    word = REMOTE[server.word]
    options = options_of(server.word, word, server.rest)
    output.words = " ".join(filter(None, (server.word, getattr(options, "verb", ""))))
    token = token_from(server.token_file)
    there = There(server.server, token, ca_file=server.ca_file, plain_http=server.plain_http)
    return chosen(word.verbs, options).run(Context(there, options, output, there.prefix)) or 0


def parser_of(name: str, word: RemoteWord) -> argparse.ArgumentParser:
    """The parser of what follows the word."""
    parser = _Parser(prog=f"{PROGRAM} --server URL {name}", description=sentence(word.about))
    add_options(parser, word.verbs)
    _add_json(parser)
    let_values_be_dashes(parser)
    return parser


def options_of(name: str, word: RemoteWord, line: Sequence[str]) -> argparse.Namespace:
    """The options of the word in what follows it. Raises WrongUsage."""
    parser = parser_of(name, word)
    if word.files:
        return parser.parse_intermixed_args(with_files_as_paths(line))
    return parser.parse_args(line)


def server_parser() -> argparse.ArgumentParser:
    """The parser of what stands before the word."""
    words = "\n".join(f"  {name:<12}{word.about}" for name, word in REMOTE.items())
    parser = _Parser(
        prog=PROGRAM,
        allow_abbrev=False,
        usage="%(prog)s --server URL [--token-file FILE] WORD ...",
        description=f"Work with the Millrace of another machine, by its API.\n\nWords:\n{words}",
        epilog=f"The token is in {VARIABLE} or in a file, or is asked for.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--server", required=True, metavar="URL", help="such as https://millrace.example.org")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help=f"file with the token (else {VARIABLE})")
    parser.add_argument("--ca-file", default="", metavar="FILE", help="certificate authorities to trust instead")
    parser.add_argument("--plain-http", action="store_true", help="allow http://, where others can read the token")
    parser.add_argument("word", metavar="WORD", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json to the word, unless it has it, and to each of its verbs."""
    if FLAG in parser._option_string_actions:
        return
    for number, each in enumerate(parsers(parser)):
        default = argparse.SUPPRESS if number else False
        each.add_argument(FLAG, dest="as_json", action="store_true", default=default, help=ABOUT_JSON)
