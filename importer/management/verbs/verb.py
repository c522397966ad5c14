"""A verb of the command line: what it does, its options, and the function that does it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from config.contracts.documents import Document
from importer.engine.errors import Problem

Json = dict[str, Any]


class Output(Protocol):
    """Where a verb says what it has to say: lines for people, or with --json exactly one document.

    `report`: that of the import which the verb follows, once it has begun.
    """

    report: Json | None

    def say(self, line: str) -> object:
        """Print a line; with --json it is in the document of a verb without one of its own."""

    def warn(self, line: str) -> object:
        """Print a line to standard error."""

    def write_list(self, lines: Iterable[str]) -> None:
        """Print the lines of the verb `list`; on standard error that there are none, and how to add one."""

    def give(self, document: Document, values: Mapping[str, Any]) -> None:
        """Print this document at the end, if --json asks for it."""

    def give_whole(self, document: Mapping[str, Any]) -> None:
        """The same for a document that names its schema."""

    def give_parts(self, parts: Iterable[str]) -> None:
        """The same for the document that these parts are together. It ends with a line feed."""


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


# Runs one command; returns its exit code. Raises Problem.
Run = Callable[[Context], int]


@dataclass(frozen=True)
class Verb:
    """What the verb does in a line, the function that does it, and the one that adds its options."""

    about: str
    run: Run
    add_options: Callable[[ArgumentParser], object] = lambda _: None


Verbs = Mapping[str, Verb]


def named(kind: str) -> Callable[[ArgumentParser], None]:
    """Adds the name of the thing that a verb is about."""

    def add(parser: ArgumentParser) -> None:
        parser.add_argument("name", help=f"the {kind}'s name")

    return add


def add_options(parser: ArgumentParser, word: Verbs | Verb) -> None:
    """Add the verbs of a word, each with its help and its options; or the options of a word without verbs."""
    if isinstance(word, Verb):
        word.add_options(parser)
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
