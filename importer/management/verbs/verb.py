"""A verb of the command line: what it does, its options, and the function that does it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from importer.engine.errors import Problem
from importer.management.terminal.output import Output

Json = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """The API that a verb works by, the options of its line, and its output.

    `api`: a client of the API, or Here, which has its methods `call`, `pages` and `download`. `prefix`: the beginning
    of a command line for the same installation, for advice.
    """

    api: Any
    options: Namespace
    output: Output
    prefix: str

    def named(self, operation: str, kind: str) -> Mapping[str, Any]:
        """The thing of the name in the options. Raises Problem, with the names that there are."""
        name = self.options.name
        things: Mapping[str, Json] = {each["name"]: each for each in self.api.pages(operation)}
        if name in things:
            return things[name]
        known = ", ".join(sorted(things)) or "none yet"
        raise Problem(f"There is no {kind} named {name}.", advice=f"Known: {known}.")


# Runs one verb; returns its exit code, or nothing for 0. Raises Problem.
Run = Callable[[Context], int | None]


AddOption = Callable[[ArgumentParser], object]


@dataclass(frozen=True)
class Verb:
    """What the verb does in a line, the function that does it, and those that add its options to a parser."""

    about: str
    run: Run
    options: tuple[AddOption, ...] = ()

    def add_options(self, parser: ArgumentParser) -> None:
        """Add its options."""
        for add in self.options:
            add(parser)


Verbs = Mapping[str, Verb]


def option(*names: str, **how: Any) -> AddOption:
    """Adds an argument to a parser, as its add_argument() does."""
    return lambda parser: parser.add_argument(*names, **how)


def named(kind: str) -> AddOption:
    """Adds the name of the thing that a verb is about."""
    return option("name", help=f"the {kind}'s name")


def add_options(parser: ArgumentParser, word: Verbs | Verb) -> None:
    """Add the verbs of a word, each with its help and its options; or the options of a word without verbs."""
    if isinstance(word, Verb):
        word.add_options(parser)
    if isinstance(word, Verb) or not word:
        return
    added = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in word.items():
        verb.add_options(added.add_parser(name, help=verb.about))


def chosen(word: Verbs | Verb, options: Namespace) -> Verb:
    """The verb that the options name, or the word itself if it has none."""
    return word if isinstance(word, Verb) else word[options.verb]


class Here:
    """The API's operations on the records of this installation, as its client has them, without HTTP.

    Each takes the body and the parameters of the address as its arguments, and returns what the API answers.
    """

    def __init__(self, operations: Mapping[str, Callable[..., Any]]) -> None:
        self._operations = operations

    def call(self, operation: str, body: Mapping[str, Any] | None = None, **values: Any) -> Any:
        """The answer of an operation."""
        return self._operations[operation](**values, **(body or {}))

    def pages(self, operation: str, limit: int = 0, **values: Any) -> Iterator[Json]:  # noqa: ARG002 -- of a page
        """The rows of a list, which has one page here."""
        yield from self.call(operation, **values)

    def download(self, operation: str, **values: Any) -> Iterator[bytes]:
        """The pieces of a file."""
        yield from self.call(operation, **values)
