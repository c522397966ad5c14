"""Types of command-line options. Each converts a text, or raises ArgumentTypeError with a message for the user."""

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any

from importer.engine.errors import Problem, SourceProblem
from importer.engine.mapping.columns import SOURCES, FieldOverride, GeneratedColumn, Lookup, check_values
from importer.engine.mapping.transforms import LISTED_NAMES, TRANSFORMS
from importer.engine.plan.option_kinds import Number, OptionKind, Percent, Size
from importer.engine.source import encodings
from importer.engine.tuning.grid import TUNABLE, Value
from importer.engine.tuning.value_syntax import read_values

# In a mapping: the values are read as they are.
PLAIN = "plain"
# The words of a mapping after its column, and a value with what replaces it. A NULL marker has no escapes.
_WORDS = re.compile(r"null=[^,]*|(?:\\.|[^,])+", re.DOTALL)
_REPLACEMENT = re.compile(r"((?:\\.|[^>\\])*)>((?:\\.|[^>\\])*)", re.DOTALL)
_LOOKUP = re.compile(r"lookup\(([^()]*)\)")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
WRITTEN = {r"\t": "\t", r"\\": "\\"}


def typed(kind: OptionKind) -> Callable[[str], Any]:
    """The type for values of an option's kind."""

    def read(text: str) -> Any:
        try:
            return kind.read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind.texts}") from None

    return read


@contextmanager
def _as_argument_error() -> Iterator[None]:
    """Raise ArgumentTypeError for a Problem, with its words."""
    try:
        yield
    except Problem as problem:
        raise argparse.ArgumentTypeError(f"{problem.what} {problem.advice}".strip().rstrip(".")) from problem


def checked(read: Callable[[str], Any]) -> Callable[[str], str]:
    """A type for texts that `read` takes, which stay as they are written."""

    def keep(text: str) -> str:
        with _as_argument_error():
            read(text)
        return text

    return keep


def bounded(least: int, most: int) -> Callable[[str], int]:
    """A type for whole numbers from `least` to `most`."""
    return typed(Number(least, most))


size = typed(Size(1, 2**63))
percent = typed(Percent())


def character(text: str) -> str:
    r"""A delimiter, quote or escape; `\t` may stand for a tab."""
    return WRITTEN.get(text, text)


def encoding(text: str) -> str:
    """An encoding's name as Dialect has it, in any of its spellings (UTF8, utf-8)."""
    try:
        return encodings.canonical_name(text)
    except SourceProblem as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem


def rows(text: str) -> int:
    """A number of rows, at least 0."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)


def day(text: str) -> date:
    """A day, as `2026-03-31`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-03-31") from None


def field_mapping(text: str) -> FieldOverride:
    """`FIELD=COLUMN[:TRANSFORM,...]`: the column that a field goes into, and how its values are read.

    FIELD is a name in the header, or #3 for the third field. An empty COLUMN leaves the field out. A TRANSFORM is one
    of transforms.TRANSFORMS, `null=MARKER`, `OLD>NEW`, `lookup(TABLE.COLUMN)`, or at the end `date=FORMAT`; `plain`
    stands for none. OLD>NEW replaces the value OLD by NEW; a backslash before a comma, a > or a backslash in them says
    that it is meant as such. A lookup finds the number of the row of TABLE with that text.
    """
    field, equals, rest = text.partition("=")
    if not equals or not field:
        raise argparse.ArgumentTypeError(f"{text!r} is not written as FIELD=COLUMN or FIELD=COLUMN:TRANSFORM,...")
    column, colon, listed = rest.partition(":")
    if not colon:
        return FieldOverride(field, column)
    before, date, datetime_format = f",{listed}".partition(",date=")
    words = [word for word in _WORDS.findall(before) if word]
    values = tuple(pair for word in words if (pair := _replacement(word)))
    words = [word for word in words if not _replacement(word)]
    lookup = next((match for word in words if (match := _LOOKUP.fullmatch(word))), None)
    words = [word for word in words if not _LOOKUP.fullmatch(word)]
    with _as_argument_error():
        check_values(values, column)
        looked_up = Lookup.of(lookup[1]) if lookup else None
    markers = tuple(word.removeprefix("null=") for word in words if word.startswith("null="))
    plain = PLAIN in words
    names = tuple(word for word in words if not word.startswith("null=") and word != PLAIN)
    if unknown := [name for name in names if name not in TRANSFORMS]:
        known = f"{LISTED_NAMES}, {PLAIN}, null=MARKER, OLD>NEW, lookup(TABLE.COLUMN), date=FORMAT"
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not one of {known}")
    transforms = names if names or plain else None
    chosen_format = datetime_format if date or plain else None
    return FieldOverride(field, column, transforms, markers or None, chosen_format, values or None, looked_up)


def _replacement(word: str) -> tuple[str, str] | None:
    """The two texts of a word OLD>NEW; None if it is another one."""
    if word.startswith("null=") or not (pair := _REPLACEMENT.fullmatch(word)):
        return None
    old, new = (_ESCAPED.sub(r"\1", text) for text in pair.groups())
    return old, new


def generated_column(text: str) -> GeneratedColumn:
    """`COLUMN=VALUE`: a column without a field gets the text, or @file, @row, @line or @time; @@ stands for an @."""
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise argparse.ArgumentTypeError(f"{text!r} is not written as COLUMN=VALUE")
    if not value.startswith("@"):
        return GeneratedColumn(column, "text", value)
    source = value.removeprefix("@")
    if source.startswith("@"):
        return GeneratedColumn(column, "text", source)
    if source == "text" or source not in SOURCES:
        raise argparse.ArgumentTypeError(f"{value!r} is not @file, @row, @line or @time; a text with @ begins with @@")
    return GeneratedColumn(column, source)


def file_name_column(text: str) -> GeneratedColumn:
    """`COLUMN`: it gets the name of each row's file."""
    return GeneratedColumn(text, "file")


def setting_values(text: str) -> tuple[str, tuple[Value, ...]]:
    """`chunk_bytes=1M,4M`: a setting of a lab and the values to try. `none` stands for no value."""
    name, equals, listed = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or name not in TUNABLE:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=V1,V2 with a NAME of {', '.join(TUNABLE)}")
    with _as_argument_error():
        return name, read_values(name, listed)


def column_type(text: str) -> tuple[str, str]:
    """`amount=decimal(12,2)`: the name and type of a column of a new table."""
    name, equals, type_ = text.rpartition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=TYPE")
    return name, type_


def once_each(flag: str, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The values by their names. Raises Problem if `flag` was given twice for a name."""
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(name for name in values if [each for each, _ in pairs].count(name) > 1)
        raise Problem(f"{flag} names {twice} twice.", advice="Give it once.")
    return values


def from_environment(variable: str, holds: str = "secret") -> str:
    """The value of the environment variable that an option names. Raises Problem if there is no such variable.

    `holds`: what its value is, for the advice.
    """
    if variable not in os.environ:
        raise Problem(
            f"There is no environment variable {variable}.", advice=f"Export it first, with the {holds} in it."
        )
    return os.environ[variable]
