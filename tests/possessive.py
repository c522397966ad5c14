"""Refuses regular expressions that Python before 3.11.5 matches wrongly; a plugin of pytest (pyproject.toml).

A pass over a group that is repeated possessively, as in `(?:...)*+`, may fail after it has moved the position of the
whole match: an assertion, a branch or a repetition behind the first character does that. Those Pythons then continue
from there (github.com/python/cpython/issues/100061 and 106052). A last alternative that never matches, `(?!)`, puts the
position back. A group that captures fails before 3.12.8 and 3.13.1 (github.com/python/cpython/issues/101955).
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

# The parser of re is not public: nothing else tells how a pattern is read.
from re import _compiler, _constants, _parser
from typing import Any

_OURS = tuple(f"{Path(__file__).parents[1] / folder}/" for folder in ("importer", "dashboard", "config"))
_POSSESSIVE = re.compile(r"[*+?}]\+")
_ONE_CHARACTER = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY}
_REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}


class Misread(AssertionError):
    """A pattern that some supported Python matches wrongly."""


def check(pattern: str | bytes, flags: int = 0) -> None:
    """Raises Misread for a pattern that some supported Python matches wrongly."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    if not _POSSESSIVE.search(text):
        return
    for body in _possessive_groups(_parser.parse(pattern, flags)):
        if any(op is _constants.SUBPATTERN and av[0] is not None for op, av in _all_items(body)):
            raise Misread(f"Python 3.12.7 fails on a possessive group that captures: {text}")
        if fails_ahead(list(body)):
            raise Misread(
                f"Python 3.11.2 misreads a possessive group here, unless its last alternative is (?!): {text}\n{body}"
            )


def fails_ahead(items: list[Any], *, advanced: bool = False, ahead: bool = False) -> bool:
    """Whether these parsed items may fail with the position of the whole match behind the start of the first one.

    `advanced`: characters were read before them. `ahead`: the position has moved already.
    """
    for at, (op, av) in enumerate(items):
        if op in _ONE_CHARACTER:
            if ahead:
                return True
            advanced = True
        elif op is _constants.AT:
            if ahead:
                return True
        elif op is _constants.SUBPATTERN:
            return fails_ahead([*av[3], *items[at + 1 :]], advanced=advanced, ahead=ahead)
        elif op is _constants.BRANCH:
            alternatives = [list(each) for each in av[1]]
            if not advanced and _never_matches(alternatives[-1]):
                return False
            if not alternatives[-1] and not items[at + 1 :]:
                return False  # The last alternative is empty, so something matches always.
            ahead |= advanced
            return any(fails_ahead([*each, *items[at + 1 :]], advanced=advanced, ahead=ahead) for each in alternatives)
        elif op is _constants.POSSESSIVE_REPEAT:
            least, _, body = av
            one = len(body) == 1 and body[0][0] in _ONE_CHARACTER
            ahead = (ahead and not one) or advanced
            if ahead and least:
                return True
            ahead, advanced = ahead or not one, True
        elif _never_matches(items[at : at + 1]):
            return advanced or ahead
        else:
            # Assertions, atomic groups, repetitions that give back: after any of them the position may have moved.
            return True
    return False


def _never_matches(items: list[Any]) -> bool:
    return len(items) == 1 and (
        items[0][0] is _constants.FAILURE or (items[0][0] is _constants.ASSERT_NOT and not items[0][1][1])
    )


def _possessive_groups(items: Iterable[Any]) -> Iterable[Any]:
    for op, av in _all_items(items):
        if op is _constants.POSSESSIVE_REPEAT and not (len(av[2]) == 1 and av[2][0][0] in _ONE_CHARACTER):
            yield av[2]


def _all_items(items: Iterable[Any]) -> Iterable[Any]:
    """All parsed items, at any depth."""
    for op, av in items:
        yield op, av
        inner = av[1] if op is _constants.BRANCH else av if isinstance(av, list | tuple) else [av]
        for each in inner:
            if isinstance(each, _parser.SubPattern):
                yield from _all_items(each)


def _checked(compile_: Any) -> Any:
    def compile_checked(pattern: Any, flags: int = 0) -> Any:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals["__name__"].split(".")[0] == "re":
            frame = frame.f_back
        if isinstance(pattern, str | bytes) and frame.f_code.co_filename.startswith(_OURS):
            check(pattern, flags)
        return compile_(pattern, flags)

    return compile_checked


_compiler.compile = _checked(_compiler.compile)
