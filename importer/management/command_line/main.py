"""`millrace`: finds the management command behind the first word, and runs it.

Django is imported only for a word that needs it.
"""

import json
import os
import sys
from typing import NoReturn

from config.contracts.outcomes import CANCELLED, READER_GONE, UNKNOWN, WRONG_USAGE
from config.frames import in_one_piece
from config.streams import OutputLost, guard_streams
from config.version import VERSION
from importer.engine.errors import Problem, WrongUsage
from importer.management.command_line.help.help_page import help_page
from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC
from importer.management.terminal.words import AGENT, PROGRAM, WORDS, Word, asks_for_json, problem_document

SERVER = "--server"  # before the word: it works on another machine's Millrace
DONE_ALL_THE_SAME = f"What the command did stays. Reports of imports: {PROGRAM} job list; {PROGRAM} job show NUMBER"


@in_one_piece
def main() -> None:
    """Run the words in sys.argv. Ends with the exit code of the command, or 2 for wrong usage."""
    guard_streams()
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        os.environ.setdefault("DJANGO_COLORS", "nocolor")  # https://no-color.org; Django itself looks at neither.
    try:
        try:
            _run_words()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _print_no_more()
        sys.exit(READER_GONE)
    except OutputLost as lost:
        _print_no_more()
        print(f"{PROGRAM}: standard output cannot be written: {lost}. {DONE_ALL_THE_SAME}", file=sys.stderr)
        sys.exit(UNKNOWN)
    except ImportError as error:
        _refuse_without_client_library(error)
    except KeyboardInterrupt:  # While a help or a script was printed; a command answers it by itself.
        sys.exit(CANCELLED.exit_code)


def _refuse_without_client_library(error: ImportError) -> NoReturn:
    """Say that the client library, which nearly every word needs, is missing. Raises the error if that is not why."""
    if "MySQLdb" not in f"{error.name} {error.path}":  # the path of a module whose library is missing
        raise error
    what = f"The client library for MySQL cannot be loaded: {error}."
    advice = "Install it: apt-get install libmariadb3, or on Fedora dnf install mariadb-connector-c."
    _end_with(Problem(what, advice=advice), UNKNOWN)


def _print_no_more() -> None:
    """Let what is still to be printed go nowhere: Python would try it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_words() -> None:
    match sys.argv[1:]:
        case [] | ["help" | "--help" | "-h"]:
            print(help_page())
        case ["--version" | "-V" | "version"]:
            print(f"{PROGRAM} {VERSION}")
        case ["completion", *shells]:
            _print_completion(shells)
        case ["help", "exit-codes"]:
            _print_exit_codes()
        case [first, *_] if first == SERVER or first.startswith(f"{SERVER}="):
            held = HeldCtrlC()
            from importer.management.command_line.remote.main import main as elsewhere

            elsewhere(sys.argv[1:], held)
        case ["help", name, *rest]:
            run(_word(name), [*rest, "--help"])
        case [name, *rest]:
            run(_word(name), rest)


def _print_completion(shells: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from importer.management.command_line.help.completion import script
    from importer.management.command_line.help.completion_places import SHELLS
    from importer.management.command_line.start import set_up_or_refuse

    if len(shells) != 1 or shells[0] not in SHELLS:
        _refuse_usage("completion", f"usage: {PROGRAM} completion {'|'.join(SHELLS)}")
    set_up_or_refuse("completion")
    print(script(shells[0]), end="")


def _print_exit_codes() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.light_settings")
    from importer.management.command_line.start import set_up_or_refuse

    set_up_or_refuse("help")
    from importer.models.outcomes.exit_codes import exit_codes_text

    print(exit_codes_text())


def run(word: Word, arguments: list[str]) -> None:
    """Run the word's management command, which ends the process with its exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.light_settings" if word.light else "config.settings")
    held = HeldCtrlC()
    from importer.management.command_line.start import start

    start(word, arguments, held)


def _word(name: str) -> Word:
    """The word of this name. Ends the process with the nearest one if there is none."""
    # The names of management commands have underscores.
    if word := WORDS.get(name.replace("_", "-")):
        return word
    from importer.management.terminal.near_words import near  # Here: most words are right.

    meant = near(name, WORDS, f"{PROGRAM} ")
    if name == AGENT:
        meant = f" Did you mean {PROGRAM} {SERVER} URL {AGENT}?"
    return _refuse_usage("", f"There is no command {name}.{meant}", f"All of them: {PROGRAM} help")


def _refuse_usage(command: str, what: str, advice: str = "") -> NoReturn:
    """End the process for wrong usage."""
    _end_with(WrongUsage(what, PROGRAM, advice), WRONG_USAGE.exit_code, command)


def _end_with(problem: Problem, exit_code: int, command: str = "") -> NoReturn:
    """Say the problem, with --json as a document, too, and end the process."""
    if asks_for_json(sys.argv):
        print(json.dumps(problem_document(problem, exit_code, command), indent=2), flush=True)
    print(problem, file=sys.stderr)
    sys.exit(exit_code)
