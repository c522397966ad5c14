"""What a command says: lines for people, or with --json exactly one document, on every exit (docs/contracts.md)."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from config.contracts.check import check_document
from config.contracts.documents import CHECK, DONE, PROBLEM, REPORT, Document
from config.contracts.outcomes import CANCELLED, REFUSED, UNKNOWN, UNREACHABLE, WRONG_USAGE
from config.contracts.report import complete
from importer.engine.errors import Cancelled, Problem, TargetUnreachable, WrongUsage
from importer.management.command_line.remote.problems import PROBLEMS, AnyProblem, in_words, values_of
from importer.management.terminal.output import Output
from millrace_client.problems import FORBIDDEN, UNAUTHORIZED, ServerProblem, may_be_done

FLAG = "--json"
WITHOUT_IMPORT = (REFUSED, CANCELLED, WRONG_USAGE)


class RemoteOutput(Output):
    """Says what one command of `millrace --server` has to say."""

    def __init__(self, words: str, as_json: bool, of_problems: Document = PROBLEM) -> None:
        """`words`: the command with its verb. `of_problems`: what has its problems: REPORT, CHECK or PROBLEM."""
        self.words, self.as_json, self._of_problems = words, as_json, of_problems
        self._said: list[str] = []

    @property
    def word(self) -> str:
        """The command."""
        return self.words.partition(" ")[0]

    def say(self, line: str) -> None:
        """Print a line; with --json it is in the document of a command without one of its own."""
        if self.as_json:
            self._said += line.splitlines()
        else:
            print(line)

    def write(self, text: str) -> None:
        """Print a part of a text that is no document, as it is."""
        sys.stdout.write(text)

    def warn(self, line: str) -> None:
        """Print a line to standard error."""
        print(line, file=sys.stderr, flush=True)

    def run(self, command: Callable[[], int]) -> int:
        """Run a command, and print what it gave, or its problem. Returns the exit code."""
        code = UNKNOWN
        try:
            code = command()
        except PROBLEMS as problem:
            code = self._fail(problem)
        except KeyboardInterrupt:
            code = self._fail(Cancelled("Ctrl-C ended the command.", advice="What it had done until then stays."))
        except SystemExit as end:  # argparse has printed a help.
            return int(end.code or 0)
        except BrokenPipeError:  # Nobody reads the output any more: main() ends the command.
            raise
        except Exception as error:
            advice = "Please report it with the traceback on standard error."
            self._fail(Problem(f"An unexpected error: {type(error).__name__}: {error}.", advice=advice))
            self._print(code)
            raise
        self._print(code)
        return code

    def _fail(self, problem: AnyProblem) -> int:
        code = self._code_of(problem)
        self.warn(in_words(problem))
        if self._of_problems is REPORT:
            self.give_whole(self._report_of(problem, code))
        elif self._of_problems is CHECK:
            self.give_whole(_check_of(problem) or check_document({"exit_code": code, "problem": values_of(problem)}))
        else:
            self.give(PROBLEM, {"command": self.words, "exit_code": code, "problem": values_of(problem)})
        return code

    def _code_of(self, problem: AnyProblem) -> int:
        """The exit code that the local command would have after this problem."""
        if isinstance(problem, WrongUsage):
            return WRONG_USAGE.exit_code
        if isinstance(problem, Cancelled):
            return CANCELLED.exit_code
        if isinstance(problem, ServerProblem):
            if known := problem.report or _check_of(problem):
                return int(known["exit_code"])
            if problem.kind == TargetUnreachable.__name__:
                return UNREACHABLE.exit_code
            if problem.status in (UNAUTHORIZED, FORBIDDEN):
                return REFUSED.exit_code
        return REFUSED.exit_code if self.report is None and not may_be_done(problem) else UNKNOWN

    def _report_of(self, problem: AnyProblem, code: int) -> Mapping[str, Any]:
        if self.report:
            return {**self.report, "problem": self.report["problem"] or values_of(problem), "exit_code": code}
        if isinstance(problem, ServerProblem) and problem.report:
            return problem.report
        ended = next((each for each in WITHOUT_IMPORT if each.exit_code == code), None)
        return complete(ended, {"problem": values_of(problem), **({} if ended else {"exit_code": code})})

    def _print(self, code: int) -> None:
        if not self.as_json:
            return
        if self._given is None:
            self.give(DONE, {"command": self.words, "exit_code": code, "said": self._said})
        self.print_given(sys.stdout.write)


def _check_of(problem: AnyProblem) -> Mapping[str, Any] | None:
    """The document of a check that came to no result because of the problem."""
    return problem.details.get("check") if isinstance(problem, ServerProblem) else None
