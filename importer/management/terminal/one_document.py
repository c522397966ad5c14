"""`--json` of all commands: standard output is exactly one document, on every exit (docs/contracts.md).

A command gives the document with `give()`. One that gives none has what it said as its document, and one that fails
has its problem.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from io import StringIO
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import OperationalError

from config.contracts.documents import DONE
from importer.engine.errors import Cancelled, Problem, WrongUsage, is_of_full_disk
from importer.management.application_tables import unusable
from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC
from importer.management.terminal.output import Output
from importer.management.terminal.parsers import let_values_be_dashes, parsers
from importer.management.terminal.words import FLAG, asks_for_json, problem_document
from importer.models.outcomes import CANCELLED, UNKNOWN, WRONG_USAGE
from importer.sources.room import of_full_disk

DEST = "as_json"
ADVICE = "Please report it with the traceback on standard error."


class DocumentCommand(Output, BaseCommand):
    """A command with `--json`; so has each of its verbs."""

    # Whether the command line asks for JSON, before it is parsed; and whether there is one: not a call by other code.
    _asks_for_json = False
    _is_a_line = False
    # Ctrl-C since the process began, of a command line.
    held: HeldCtrlC | None = None

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """The parser, with --json; wrong usage names what was perhaps meant, and is a document too with --json."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        for number, each in enumerate(parsers(parser)):
            if FLAG not in each._option_string_actions:
                default = argparse.SUPPRESS if number else False
                about = "print one document as JSON, also of a problem (docs/contracts.md)"
                each.add_argument(FLAG, dest=DEST, action="store_true", default=default, help=about)
            if self._is_a_line:
                each.error = _Refusal(self, each, parser)  # type: ignore[method-assign]
        let_values_be_dashes(parser)
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command line; the first two words are the program and the command."""
        self._asks_for_json, self._is_a_line = asks_for_json(argv), True
        self.held = self.held or HeldCtrlC()
        super().run_from_argv(argv)

    @property
    def word(self) -> str:
        """The command."""
        return self.words({})

    def say(self, line: str) -> None:
        """Print a line; with --json it is in the document of a command without one of its own."""
        self.stdout.write(line)

    def write(self, text: str) -> None:
        """Print a part of a text that is no document, as it is."""
        self.stdout.write(text, ending="")

    def warn(self, line: str) -> None:
        """Print a line to standard error."""
        self.stderr.write(line)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command. A command line that fails says why in one line, and ends with its exit code.

        Raises CommandError in a call by other code, with exit code 8 after Ctrl-C.
        """
        try:
            return self._documented(args, options)
        except CommandError as error:
            if not self._is_a_line or options.get("traceback"):
                raise
            self.stderr.write(str(error))
            sys.exit(error.returncode)

    def _documented(self, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
        """Run the command; with --json print its document."""
        self.as_json = bool(options.get(DEST))
        if not self.as_json:
            return self._until_ctrl_c(args, options)
        printed = _wrapped(options.get("stdout") or self.stdout)
        options["stdout"] = said = StringIO()
        self._given, code = None, 0
        try:
            self._until_ctrl_c(args, options)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            raise
        except CommandError as error:
            if self._given is None:
                self._give_problem(_problem_of(error), error.returncode, options)
            raise
        except Exception as error:
            problem = Problem(f"An unexpected error: {type(error).__name__}: {error}.", advice=ADVICE)
            self._give_problem(problem, UNKNOWN, options)
            raise
        finally:
            lines = said.getvalue().splitlines()
            if self._given is None:
                self.give(DONE, {"command": self.words(options), "exit_code": code, "said": lines})
            self.print_given(lambda line: printed.write(line, ending=""))
            printed.flush()
        return None

    def run_checked(self, *args: Any, **options: Any) -> str | None:
        """Run the command after all checks of Django and of subclasses."""
        return super().execute(*args, **options)

    def words(self, options: Mapping[str, Any]) -> str:
        """The command with its verb, such as `target add`."""
        name = type(self).__module__.rpartition(".")[2]
        return " ".join(filter(None, (name, options.get("verb"))))

    def document_of_problem(self, problem: Problem, exit_code: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """The document of a problem that ended the command."""
        return problem_document(problem, exit_code, self.words(options))

    def _until_ctrl_c(self, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
        cancelled = Cancelled("Ctrl-C ended the command before it began.", advice="Nothing was written.")
        try:
            if self.held:
                self.held.release()
            cancelled = Cancelled("Ctrl-C ended the command.", advice="What it had done until then stays.")
            return self.run_checked(*args, **options)
        except KeyboardInterrupt:
            raise CommandError(str(cancelled), returncode=CANCELLED.exit_code) from cancelled
        except OperationalError as error:
            if (problem := unusable(error)) is None:
                raise
            raise CommandError(str(problem), returncode=UNKNOWN) from problem
        except OSError as error:
            if not is_of_full_disk(error):
                raise
            problem = of_full_disk(error)
            raise CommandError(str(problem), returncode=UNKNOWN) from problem

    def _give_problem(self, problem: Problem, exit_code: int, options: Mapping[str, Any]) -> None:
        self.give_whole(self.document_of_problem(problem, exit_code, options))


class _Refusal:
    """argparse's error() of a command line: says what was perhaps meant, and ends; with --json by the document."""

    def __init__(self, command: DocumentCommand, parser: argparse.ArgumentParser, whole: CommandParser) -> None:
        self._command, self._parser, self._whole = command, parser, whole

    def __call__(self, message: str) -> NoReturn:
        parser = self._parser
        from importer.management.terminal.near_words import near_of_error  # Here: most command lines are right.

        message += near_of_error(message, parsers(self._whole))
        if self._command._asks_for_json:
            problem = WrongUsage(message, parser.prog, f"See {parser.prog} --help.")
            document = self._command.document_of_problem(problem, WRONG_USAGE.exit_code, {})
            print(json.dumps(document, indent=2), flush=True)
        parser.print_usage(sys.stderr)
        parser.exit(WRONG_USAGE.exit_code, f"{parser.prog}: error: {message}\n")


def _problem_of(error: CommandError) -> Problem:
    """The problem that made the command fail."""
    if isinstance(error.__cause__, Problem):
        return error.__cause__
    kind = WrongUsage if error.returncode == WRONG_USAGE.exit_code else Problem
    return kind(str(error))


def _wrapped(stream: Any) -> OutputWrapper:
    return stream if isinstance(stream, OutputWrapper) else OutputWrapper(stream)
