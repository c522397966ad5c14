"""What the parsers of all words have: verbs, and values and files that begin with dashes."""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

END_OF_OPTIONS = "--"


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, and those of its verbs."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                yield from parsers(below)


def let_values_be_dashes(whole: argparse.ArgumentParser) -> None:
    """Let an option's value be `--`, as in `--null=--`. Python 3.11 takes that word out of the values of an option."""
    for parser in parsers(whole):
        parser._get_values = partial(_values, parser, parser._get_values)  # type: ignore[method-assign]


def _values(parser: argparse.ArgumentParser, usual: Any, action: argparse.Action, words: list[str]) -> Any:
    if not (action.option_strings and words == [END_OF_OPTIONS] and action.nargs in (None, argparse.OPTIONAL)):
        return usual(action, words)
    value = parser._get_value(action, END_OF_OPTIONS)
    parser._check_value(action, value)
    return value


def with_files_as_paths(words: Sequence[str]) -> list[str]:
    """The words of a command about files. Behind a lone `--` all are files, so that -a.csv becomes ./-a.csv."""
    if END_OF_OPTIONS not in words:
        return list(words)
    at = words.index(END_OF_OPTIONS) + 1
    # `-` alone is standard input.
    return [*words[:at], *(f"./{each}" if each.startswith("-") and each != "-" else each for each in words[at:])]
