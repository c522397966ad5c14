"""The option, value or word that somebody may have meant who mistyped it."""

import argparse
import difflib
import re
from collections.abc import Iterable

UNKNOWN = re.compile(r"unrecognized arguments:(.*)", re.DOTALL)
NO_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)
NO_VALUE = re.compile(r"argument .*?(--[\w-]+): expected one argument")


def near(word: str, known: Iterable[str], before: str = "") -> str:
    """A sentence that names the nearest known word, after `before`; "" if none is near."""
    found = difflib.get_close_matches(word, list(known), 1)
    return f" Did you mean {before}{found[0]}?" if found else ""


def near_of_error(message: str, parsers: Iterable[argparse.ArgumentParser]) -> str:
    """What follows a message of argparse about a wrong word or no value. `parsers`: of a command and its verbs."""
    meant = ""
    if refused := NO_CHOICE.search(message):
        meant = near(refused[1], re.findall(r"'(.*?)'", refused[2]))
    elif unknown := UNKNOWN.search(message):
        options = [each for parser in parsers for each in parser._option_string_actions]
        written = (word.partition("=")[0] for word in unknown[1].split() if word.startswith("--"))
        meant = next(filter(None, (near(word, options) for word in written)), "")
    elif lacking := NO_VALUE.match(message):
        meant = f" A value that begins with a dash is written {lacking[1]}=VALUE."
    return f".{meant}"
