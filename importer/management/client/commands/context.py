"""The context of one command of `millrace --server`."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from importer.engine.errors import Problem
from importer.management.client.commands.output import Output
from millrace_client.api import Millrace


@dataclass(frozen=True)
class CommandContext:
    """The server's API, the options of the command, and its output.

    `prefix`: the beginning of a command line for the same server, for advice.
    """

    millrace: Millrace
    options: Namespace
    output: Output
    prefix: str

    def named(self, operation: str, kind: str) -> Mapping[str, Any]:
        """The thing of the name in the options. Raises Problem, with the names that there are."""
        things = {each["name"]: each for each in self.millrace.pages(operation)}
        if self.options.name in things:
            return things[self.options.name]
        known = ", ".join(sorted(things)) or "none yet"
        raise Problem(f"There is no {kind} named {self.options.name}.", advice=f"Known: {known}.")


# Runs one command; returns its exit code. Raises Problem.
Command = Callable[[CommandContext], int]
