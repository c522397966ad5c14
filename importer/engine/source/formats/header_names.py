"""Compares names of fields with names of columns: letter case, blanks, accents and invisible marks do not count.

And recognizes the units that may stand below them, and decides whether the first record has names.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from importer.engine.source.decisions import Answer, Decision, Standing

# Blanks, underscores and hyphens separate the words of a name; unitPrice and unit_price are the same name as well.
_SEPARATORS = re.compile(r"[\s_\-.]+")
# Written before the first name by programs that mark the header as a comment: "#id".
_COMMENT_MARK = "#"
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
# A line below the header that SQL*Plus and others draw.
_RULER = re.compile(r"[-=_]{2,}")


def exact_name(name: str) -> str:
    """The name as the servers compare it: without outer blanks and invisible marks, in lower case."""
    return _visible(name).strip().lower()


def loose_name(name: str) -> str:
    """The name without what spreadsheets and programs add or change: case, blanks, underscores, accents, a leading #.

    "" for a name of such characters only, which is like no other name.
    """
    letters = _visible(name).strip().removeprefix(_COMMENT_MARK)
    if not letters.isascii():
        plain = unicodedata.normalize("NFKD", letters)
        letters = "".join(each for each in plain if not unicodedata.combining(each))
    return _SEPARATORS.sub("", letters).casefold()


def match_names(fields: Iterable[str], columns: Iterable[str]) -> list[str]:
    """For each field the column of its name, "" if there is none. A column goes to one field only.

    Exactly equal names come first; then names that are equal without case, blanks, underscores and accents, if only one
    column has that name.
    """
    fields, columns = list(fields), list(columns)
    result = [""] * len(fields)
    free = {exact_name(column): column for column in columns}
    for number, field in enumerate(fields):
        result[number] = free.pop(exact_name(field), "")
    loose: dict[str, list[str]] = {}
    for column in free.values():
        loose.setdefault(loose_name(column), []).append(column)
    for number, field in enumerate(fields):
        name = loose_name(field)
        if not result[number] and name and len(loose.get(name, ())) == 1:
            result[number] = loose.pop(name)[0]
    return result


def are_units(row: Sequence[str]) -> bool:
    """Whether all values of the row are units in brackets, or rulers."""
    given = [value.strip() for value in row if value.strip()]
    return bool(given) and any(all(map(pattern.fullmatch, given)) for pattern in (_IN_BRACKETS, _RULER))


def _visible(name: str) -> str:
    """The name without format characters such as a byte order mark or a zero-width blank, which nobody sees."""
    if name.isascii():
        return name
    return "".join(each for each in name if unicodedata.category(each) != "Cf")


def header_decision(
    first: str, names: Sequence[str], stated: Mapping[str, Any], columns: Sequence[str]
) -> tuple[bool, Decision]:
    """Whether the first record is the header: as stated; yes if it has names of the columns only; else a question.

    `first`: the record as a question shows it. `names`: its values. `columns`: the table's.
    """
    if "header" in stated:
        header = bool(stated["header"])
        return header, Decision("header", "yes" if header else "no", Standing.STATED, "")
    if columns and all(match_names(names, columns)):
        evidence = "The first line has the names of the table's columns."
        return True, Decision("header", "yes", Standing.PROVED, evidence)
    answers = (
        Answer("it has the names of the columns", "--header", (("header", True),), (first,)),
        Answer("it is data", "--no-header", (("header", False),), (first,)),
    )
    return True, Decision("header", "yes", Standing.GUESSED, "The first line may be the header.", answers=answers)


def header_difference(then: Sequence[str], now: Sequence[str]) -> str:
    """The difference of two headers in words, ignoring case and outer spaces; "" if they are equal."""
    if normalized_names(then) == normalized_names(now):
        return ""
    gone = [name for name in then if normalized_names([name])[0] not in normalized_names(now)]
    new = [name for name in now if normalized_names([name])[0] not in normalized_names(then)]
    words = [f"{', '.join(names)} {verb}" for names, verb in ((gone, "missing"), (new, "new")) if names]
    return "; ".join(words) or "the order differs"


def normalized_names(header: Sequence[str]) -> list[str]:
    """The names without outer spaces and in lower case, for comparison."""
    return [name.strip().lower() for name in header]
