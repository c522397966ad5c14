"""JSON documents: finds what MySQL would refuse or change. native/src/json/json.c reads a document in pieces.

A document of which it is not sure is parsed as a whole.
"""

import ctypes
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from importer.engine.native import loader
from importer.engine.source.arrays import Offsets, np
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.numbers import parse, reads_the_same
from importer.engine.validation.verdict import BAD_JSON, JSON_TOO_DEEP, LONG_JSON_NAME, Verdict, refused, rounded

# Manual, The JSON Data Type; server-behaviour.md. All measured.
DEEPEST = 100  # nested arrays and objects
LONGEST_NAME = 65_535  # bytes of UTF-8
HIGHEST_EXPONENT = 308  # less the digits after the point; also of a zero

INVALID = refused(BAD_JSON, "The value is not valid JSON.")
TOO_DEEP = refused(JSON_TOO_DEEP, f"The JSON is nested deeper than {DEEPEST} levels.")
LONG_NAME = refused(LONG_JSON_NAME, f"A key in the JSON has more than {LONGEST_NAME:,} bytes.")
DUPLICATE_KEY = refused("key", "A key comes twice in a JSON object; the server would keep the last one.")
LOST_DIGITS = rounded("digits", "A number in the JSON has more digits than the server keeps.")

_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')


class NeedsFullParse(Exception):
    """The document must be parsed as a whole."""


@dataclass(frozen=True)
class Json:
    """MySQL's JSON, which is stored as values. MariaDB's JSON is a text with a CHECK constraint."""

    type: str

    def unusual(self, cells: Cells) -> Offsets:
        """All cells: only reading a document shows a duplicate key or a number with too many digits."""
        return np.arange(len(cells))

    def judge(self, text: str) -> Verdict | None:
        try:
            return self.judge_pieces((text,))
        except NeedsFullParse:
            return judge_whole(text)

    def judge_pieces(self, pieces: Iterable[str]) -> Verdict | None:
        """The verdict about a text in pieces, in the memory of one piece. Raises NeedsFullParse."""
        loss = None
        try:
            for number in _long_numbers(pieces):
                loss = _loss(number) or loss
        except ValueError:
            return INVALID
        return loss


class _Result(IntEnum):
    """json.h's `enum doubt`."""

    NONE, NUMBER, WRONG, UNSURE = range(4)


_TAKE = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))


@contextmanager
def _reader() -> Iterator[ctypes.c_void_p]:
    """A new `struct json`. Raises NeedsFullParse without the C library."""
    new, delete = loader.function("json_new", ctypes.c_void_p), loader.function("json_delete", None, ctypes.c_void_p)
    reader = ctypes.c_void_p(new() if new else None)
    if not reader:
        raise NeedsFullParse
    try:
        yield reader
    finally:
        delete(reader)


def _long_numbers(pieces: Iterable[str]) -> Iterator[str]:
    """Every number that may have too many digits. Raises ValueError for invalid JSON, or NeedsFullParse."""
    with _reader() as reader:
        for piece in pieces:
            # json.c does not accept half a surrogate pair, which is invalid UTF-8.
            yield from _numbers_of(reader, piece.encode("utf-8", "surrogatepass"))
        end = loader.function("json_end", int, ctypes.c_void_p)
        if result := end(reader):
            yield _long_number(result, reader)


def _numbers_of(reader: ctypes.c_void_p, piece: bytes) -> Iterator[str]:
    take, taken = loader.function("json_take", int, *_TAKE), ctypes.c_size_t()
    at, left = ctypes.cast(ctypes.c_char_p(piece), ctypes.c_void_p).value or 0, len(piece)
    while left:
        if result := take(reader, at, left, taken):
            yield _long_number(result, reader)
        at, left = at + taken.value, left - taken.value


def _long_number(result: int, reader: ctypes.c_void_p) -> str:
    """The number that stopped json.c. Raises NeedsFullParse or ValueError if something else did."""
    if result == _Result.UNSURE:
        raise NeedsFullParse
    if result == _Result.WRONG:
        raise ValueError
    number: bytes = loader.function("json_number", ctypes.c_char_p, ctypes.c_void_p)(reader)
    return number.decode()


def judge_whole(text: str) -> Verdict | None:
    """The verdict about a document, by Python's parser, which takes several times the document's size."""
    verdicts: list[Verdict] = []
    try:
        json.loads(
            text,
            object_pairs_hook=_key_checker(verdicts),
            parse_float=_number_checker(verdicts),
            parse_int=_number_checker(verdicts),
            parse_constant=_refuse_constant,
        )
        _refuse_half_character(text)
    except ValueError:
        return INVALID
    except RecursionError:
        return TOO_DEEP
    if _is_too_deep(text):
        return TOO_DEEP
    return verdicts[0] if verdicts else None


def _key_checker(verdicts: list[Verdict]) -> Callable[[list[tuple[str, Any]]], None]:
    def check(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) < len(pairs):
            verdicts.insert(0, DUPLICATE_KEY)
        if any(len(name) > LONGEST_NAME // 4 and len(name.encode()) > LONGEST_NAME for name, _ in pairs):
            verdicts.insert(0, LONG_NAME)

    return check


def _number_checker(verdicts: list[Verdict]) -> Callable[[str], None]:
    def check(text: str) -> None:
        if loss := _loss(text):
            verdicts.append(loss)

    return check


def _loss(text: str) -> Verdict | None:
    """The verdict about a JSON number that loses digits, or None. Raises ValueError if the number is too large."""
    if (len(text) <= 15 and "e" not in text.lower()) or (len(text) <= 18 and text.isdigit()):
        return None
    whole = re.fullmatch(r"-?\d+", text)
    if whole and -(2**63) <= int(text) < 2**64:
        return None
    value, number = float(text), parse(text)
    if math.isinf(value) or (number and number.zero and -number.after_point > HIGHEST_EXPONENT):
        raise ValueError(text)
    digits = number.digits.lstrip("0") if number else ""
    if number and digits and not reads_the_same(value, digits, number.after_point):
        return LOST_DIGITS
    return None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _refuse_half_character(text: str) -> None:
    """Raise ValueError for an escaped half of a surrogate pair, which Python would accept."""
    if _HALF.search(_PAIR.sub("", text.replace("\\\\", ""))):
        raise ValueError(text)


def _is_too_deep(text: str) -> bool:
    """Whether a valid JSON text is nested deeper than DEEPEST."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for mark in re.findall(r"[\[{}\]]", _TEXT.sub("", text)):
        depth += 1 if mark in "[{" else -1
        if depth > DEEPEST:
            return True
    return False
