"""Decides whether the first record names the fields."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from importer.engine.source.decisions import Decision, Standing, answer, asked
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_position, may_be_row

NUMBER = re.compile(r"[-+(]?[$€£]?\.?\d[\d.,'  ]*(?:[eE][-+]?\d+)?\s?(?:%|\)|[$€£]|-)?")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
# A word, or a few, as names of columns are: "First name", "unit_price", "Größe (cm)", "%".
_NAME = re.compile(r"#?[^\W\d][\w \-./()%#:&+°²³'*?]{0,50}")
_EMPTY = ("", "NA", "N/A", "n/a", "NULL", "null", r"\N", "-", "nan", "NaN")

Rows = Sequence[Sequence[str]]


class _Found(NamedTuple):
    """Whether there is a header, and why; `proved`, or by how many records that speak for it, of how many."""

    header: bool
    evidence: str
    proved: bool = False
    records: int = 0
    of: int = 0


def header_decision(rows: Rows, expected: Sequence[ExpectedColumn] = ()) -> Decision:
    """Whether the first row names the columns: the decision's value is yes or no. `expected`: those of the table."""
    if not rows:
        return Decision("header", "yes", Standing.RULE, "")
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    names = [column.name for column in expected]
    given = [name for name in first if name.strip()]
    if names and given and sum(map(bool, match_names(first, names))) >= max(1, len(given) / 2):
        return Decision("header", "yes", Standing.PROVED, "The first record is the header: it has the table's names.")
    may_be_years = _are_years(first, below)
    if expected and not may_be_years and _fits_by_position(rows, expected):
        evidence = "No header: all records, the first one too, fit the types of the table's columns."
        return Decision("header", "no", Standing.RULE, evidence)
    found = _by_content(first, below, may_be_years=may_be_years)
    question = header_question(found.header, found.evidence, rows, proved=found.proved)
    decision = question.weighed(found.records, found.of)
    if found.header and decision.guessed and not may_be_years and columns_by_position(expected, len(first)):
        # Names of a header would be those of the table's columns.
        return header_question(False, "No header: no field of the first record has the name of a column.", rows)
    return decision


def _by_content(first: Sequence[str], below: Rows, *, may_be_years: bool) -> _Found:
    values = [name for name in first if kind(name)]
    if may_be_years:
        return _Found(True, f"The first record is taken for the header: {values[0]} and others may be years as names.")
    if _are_labels(first, below):
        labels = ", ".join(values)
        return _Found(True, f"The first record is taken for the header: {labels} may be the labels of pandas.")
    if values:
        like_the_others = all(_agrees(name, _kinds(below, number)) for number, name in enumerate(first))
        evidence = f"No header: the first record has the value {values[0]!r} where a name would be."
        return _Found(False, evidence, proved=like_the_others)
    if not below:
        return _Found(True, "The first record is taken for the header: it holds no numbers.")
    for number, name in enumerate(first):
        kinds = _kinds(below, number)
        typed = sum(map(bool, kinds))
        if typed > len(kinds) / 2:
            evidence = f"The first record is the header: {name!r} stands above numbers or dates."
            return _Found(True, evidence, proved=True, records=typed, of=len(kinds))
    return _of_texts(first, below)


def _of_texts(first: Sequence[str], below: Rows) -> _Found:
    """What is found where all values are texts."""
    if len(set(first)) < len(first) or not all(name.strip() for name in first):
        return _Found(False, "No header: the first record has no name, or one twice.")
    repeated = [name for number, name in enumerate(first) if any(row[number] == name for row in below)]
    # One value may have the name of its column: "ID" is a country's code, too.
    if 2 * len(repeated) >= len(first):
        return _Found(False, f"No header: {repeated[0]!r} of the first record comes again below it.")
    taken = "The first record is taken for the header"
    if repeated:
        return _Found(True, f"{taken}, although {repeated[0]!r} comes again below it.")
    which, count = _unlike_the_others(first, below)
    if which and all(_NAME.fullmatch(name.strip()) for name in first):
        return _Found(True, f"{taken}: {which!r} is unlike all values below it.", records=count, of=count)
    return _Found(True, f"{taken}, but all fields are text.")


def _unlike_the_others(first: Sequence[str], below: Rows) -> tuple[str, int]:
    """The name above most values that share a form which it has not, and their number; "" and 0 if there is none.

    A form: digits in the text, one length, capitals only, an @, several words.
    """
    found = [("", 0)]
    for number, name in enumerate(first):
        values = [row[number].strip() for row in below if row[number].strip() not in _EMPTY]
        forms = (*_FORMS, _length_of(values[0])) if len(values) > 1 else ()
        if any(all(map(form, values)) and not form(name.strip()) for form in forms):
            found.append((name, len(values)))
    return max(found, key=lambda each: each[1])


_FORMS: tuple[Callable[[str], bool], ...] = (
    lambda text: any(map(str.isdigit, text)),
    lambda text: text.isupper(),
    lambda text: "@" in text,
    lambda text: text[:1].isupper(),
    lambda text: text.startswith(("{", "[", "<", "http", "/")),
)


def _length_of(text: str) -> Callable[[str], bool]:
    return lambda other: len(other) == len(text) and len(text) < 10


def _fits_by_position(rows: Rows, expected: Sequence[ExpectedColumn]) -> bool:
    """Whether each row has as many fields as the table takes values, and all values fit, with a typed column."""
    columns = columns_by_position(expected, len(rows[0]))
    usual = (row for row in rows if len(row) == len(columns))
    return any(column.fits for column in columns) and all(may_be_row(row, columns) for row in usual)


def _are_years(first: Sequence[str], below: Rows) -> bool:
    """Whether the numbers of the first row are different years above other values, as in country, 2019, 2020."""
    years = [number for number, name in enumerate(first) if kind(name) == "number"]
    if not 2 <= len(years) < len(first) or any(kind(name) == "date" for name in first):
        return False
    texts = [first[number].strip() for number in years]
    if not all(map(_YEAR.fullmatch, texts)) or len(set(texts)) < len(texts):
        return False
    return any(not _YEAR.fullmatch(row[number].strip()) for row in below for number in years)


def _are_labels(first: Sequence[str], below: Rows) -> bool:
    """Whether the first row has 0, 1, 2 and so on, as pandas labels columns that have no names.

    An index has no name, and values below it. Without an index, fewer than three labels may well be values.
    """
    labels = [name.strip() for name in first]
    has_index = labels[0] == "" and all(row[0].strip() for row in below)
    if has_index:
        del labels[0]
    few = 1 if has_index else 3
    return bool(below) and len(labels) >= few and labels == [str(number) for number in range(len(labels))]


def kind(value: str) -> str:
    """ "date" or "number" for text that looks like one, "" otherwise."""
    value = value.strip()
    if DATE.fullmatch(value):
        return "date"
    return "number" if NUMBER.fullmatch(value) else ""


def _kinds(rows: Rows, number: int) -> list[str]:
    """The kinds of the values of a column, without empty ones."""
    return [kind(row[number]) for row in rows if number < len(row) and row[number].strip() not in _EMPTY]


def _agrees(value: str, kinds: Sequence[str]) -> bool:
    """Whether a value is of the kind of most others."""
    return not kinds or value.strip() in _EMPTY or kinds.count(kind(value)) >= len(kinds) / 2


def agrees(row: Sequence[str], rows: Rows) -> bool:
    """Whether the row has a number, or a date, wherever all values of `rows` are such."""
    columns = ((value, set(_kinds(rows, number))) for number, value in enumerate(row))
    return all(value.strip() in _EMPTY or len(kinds) != 1 or kinds <= {"", kind(value)} for value, kinds in columns)


def is_like(row: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both rows have numbers and dates, and have them in the same places."""
    kinds = [kind(value) for value in row]
    return any(kinds) and kinds == [kind(value) for value in other]


def header_question(header: bool, evidence: str, rows: Rows, *, proved: bool = False) -> Decision:
    """The question whether the first row is the header, which is taken for `header`, unless that is proved."""
    first = "".join(f"[{value}]" for value in rows[0])
    names = answer("the first record is the header", [f"names: {first}"], header=True)
    data = answer("the first record is data", [f"row 1: {first}"], header=False)
    return asked("header", evidence, *((names, data) if header else (data, names)), proved=proved)
