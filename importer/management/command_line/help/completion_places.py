"""The places in a line of `millrace`, and what may stand at each, as the parsers say."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from importer.management.command_line.remote.main import REMOTE, parser_of, server_parser
from importer.management.command_line.start import command_of
from importer.management.terminal.words import PROGRAM, WORDS

SHELLS = ("bash", "zsh", "fish")
OWN = ("help", "completion", "--help", "--version")
EXIT_CODES = "exit-codes"

Choices = tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An option. `values`: those it can have, () if any text may follow; None if no value follows it."""

    flag: str
    about: str
    values: Choices | None


@dataclass(frozen=True)
class Place:
    """A place in a line, behind the given words.

    `words`: what may follow at once, with the help of each. `arguments`: the choices of later arguments, by their
    position, 1 for the first. `remote`: whether it stands behind --server.
    """

    behind: Choices
    words: tuple[tuple[str, str], ...] = ()
    options: tuple[Option, ...] = ()
    arguments: Mapping[int, Choices] = field(default_factory=dict)
    remote: bool = False


def places() -> Iterator[Place]:
    """All places. Needs Django to be set up."""
    words = tuple((word.name, word.about) for word in WORDS.values())
    yield Place(
        (),
        (*words, *((name, "") for name in OWN if not name.startswith("--"))),
        (*(Option(flag, "", None) for flag in OWN if flag.startswith("--")), Option("--server", "", ())),
    )
    yield Place(("help",), (*words, (EXIT_CODES, "")))
    yield Place(("completion",), tuple((name, "") for name in SHELLS))
    for name, word in WORDS.items():
        yield from _places((name,), command_of(word).create_parser(PROGRAM, name), remote=False)
    yield Place((), tuple((name, word.about) for name, word in REMOTE.items()), _options(server_parser()), remote=True)
    for name, there in REMOTE.items():
        yield from _places((name,), parser_of(name, there), remote=True)


def _places(behind: Choices, parser: argparse.ArgumentParser, *, remote: bool) -> Iterator[Place]:
    words: list[tuple[str, str]] = []
    arguments: dict[int, Choices] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {each.dest: each.help or "" for each in action._choices_actions}
            words += [(name, about.get(name, "")) for name in action.choices]
            for name, below in action.choices.items():
                yield from _places((*behind, name), below, remote=remote)
        elif not action.option_strings:
            arguments[len(arguments) + 1] = _choices(action)
    yield Place(behind, tuple(words), _options(parser), arguments, remote)


def _options(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    shown = (each for each in parser._actions if each.help != argparse.SUPPRESS)
    return tuple(
        Option(flag, (each.help or "").replace("%%", "%"), None if each.nargs == 0 else _choices(each))
        for each in shown
        for flag in each.option_strings
        if flag.startswith("--")
    )


def _choices(action: argparse.Action) -> Choices:
    return tuple(map(str, action.choices or ()))
