"""Decides whether the first record names the fields."""

import re
from collections.abc import Sequence
from dataclasses import replace

from importer.engine.source.decisions import Decision, Standing, answer, asked
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_position

NUMBER = re.compile(r"[-+(]?[$€£]?\.?\d[\d.,'  ]*(?:[eE][-+]?\d+)?\s?(?:%|\)|[$€£]|-)?")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
# A word, or a few, as names of columns are: "First name", "unit_price", "Größe (cm)", "%".
_NAME = re.compile(r"#?[^\W\d][\w \-./()%#:&+°²³'*?]{0,50}")
_EMPTY = ("", "NA", "N/A", "n/a", "NULL", "null", r"\N", "-", "nan", "NaN")

Rows = Sequence[Sequence[str]]


def header_decision(rows: Rows, expected: Sequence[ExpectedColumn] = ()) -> tuple[bool, Decision]:
    """Whether the first row names the columns, with the decision. `expected`: the columns of the table."""
    if not rows:
        return True, _decided(True, Standing.RULE, "")
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    names = [column.name for column in expected]
    given = [name for name in first if name.strip()]
    if names and given and sum(map(bool, match_names(first, names))) >= max(1, len(given) / 2):
        return True, _decided(True, Standing.PROVED, "The first record is the header: it has the table's names.")
    may_be_years = _are_years(first, below)
    if expected and not may_be_years and _fits_by_position(rows, expected):
        evidence = "No header: all records, the first one too, fit the types of the table's columns."
        return False, _decided(False, Standing.RULE, evidence)
    header, decision = _by_content(first, below, rows)
    if header and decision.guessed and not may_be_years and columns_by_position(expected, len(first)):
        # Names of a header would be those of the table's columns.
        return False, header_question(False, "No header: no field of the first record has the name of a column.", rows)
    return header, decision


def _by_content(first: Sequence[str], below: Rows, rows: Rows) -> tuple[bool, Decision]:
    values = [name for name in first if kind(name)]
    if values and _are_years(first, below):
        evidence = f"The first record is taken for the header: {values[0]} and others may be years as names."
        return True, header_question(True, evidence, rows)
    if values:
        evidence = f"No header: the first record has the value {values[0]!r} where a name would be."
        like_the_others = not below or all(_kinds_agree(name, number, below) for number, name in enumerate(first))
        if like_the_others:
            return False, _decided(False, Standing.PROVED, evidence)
        return False, header_question(False, evidence, rows)
    if not below:
        return True, header_question(True, "The first record is taken for the header: it holds no numbers.", rows)
    for number, name in enumerate(first):
        kinds = [kind(row[number]) for row in below if row[number].strip() not in _EMPTY]
        if kinds and sum(map(bool, kinds)) > len(kinds) / 2:
            evidence = f"The first record is the header: {name!r} stands above numbers or dates."
            return True, replace(
                _decided(True, Standing.PROVED, evidence), records=sum(map(bool, kinds)), of=len(kinds)
            )
    return _of_texts(first, below, rows)


def _of_texts(first: Sequence[str], below: Rows, rows: Rows) -> tuple[bool, Decision]:
    """The decision where all values are texts."""
    if len(set(first)) < len(first) or not all(name.strip() for name in first):
        return False, header_question(False, "No header: the first record has no name, or one twice.", rows)
    repeated = [name for number, name in enumerate(first) if any(row[number] == name for row in below)]
    # One value may have the name of its column: "ID" is a country's code, too.
    if 2 * len(repeated) >= len(first):
        evidence = f"No header: {repeated[0]!r} of the first record comes again below it."
        return False, header_question(False, evidence, rows)
    if repeated:
        evidence = f"The first record is taken for the header, although {repeated[0]!r} comes again below it."
        return True, header_question(True, evidence, rows)
    which, count = _unlike_the_others(first, below)
    if all(_NAME.fullmatch(name.strip()) for name in first) and which:
        evidence = f"The first record is taken for the header: {which!r} is unlike all values below it."
        return True, header_question(True, evidence, rows).weighed(count, count)
    return True, header_question(True, "The first record is taken for the header, but all fields are text.", rows)


def _unlike_the_others(first: Sequence[str], below: Rows) -> tuple[str, int]:
    """The name above most values that share a form which it has not, and their number; "" and 0 if there is none.

    A form: digits in the text, one length, capitals only, an @, several words.
    """
    found = [("", 0)]
    for number, name in enumerate(first):
        values = [row[number].strip() for row in below if row[number].strip() not in _EMPTY]
        if len(values) > 1 and any(
            all(form(value) for value in values) and not form(name.strip()) for form in (*_FORMS, _length_of(values[0]))
        ):
            found.append((name, len(values)))
    return max(found, key=lambda each: each[1])


_FORMS = (
    lambda text: any(map(str.isdigit, text)),
    lambda text: text.isupper(),
    lambda text: "@" in text,
    lambda text: text[:1].isupper(),
    lambda text: text.startswith(("{", "[", "<", "http", "/")),
)


def _length_of(text: str):  # type: ignore[no-untyped-def]
    return lambda other: len(other) == len(text) and len(text) < 10


def _fits_by_position(rows: Rows, expected: Sequence[ExpectedColumn]) -> bool:
    """Whether each row has as many fields as the table takes values, and all values fit, with a typed column."""
    width = len(rows[0])
    columns = columns_by_position(expected, width)
    if not any(column.fits for column in columns):
        return False
    return all(
        column.fits is None or column.fits(value)
        for row in rows
        if len(row) == width
        for column, value in zip(columns, row, strict=True)
    )


def _are_years(first: Sequence[str], below: Rows) -> bool:
    """Whether the numbers of the first row are different years above other values, as in country, 2019, 2020."""
    years = [number for number, name in enumerate(first) if kind(name) == "number"]
    if len(years) < 2 or len(years) == len(first) or any(kind(name) not in ("", "number") for name in first):
        return False
    texts = [first[number].strip() for number in years]
    if not all(_YEAR.fullmatch(text) for text in texts) or len(set(texts)) < len(texts):
        return False
    return any(not _YEAR.fullmatch(row[number].strip()) for row in below for number in years)


def _kinds_agree(name: str, number: int, below: Rows) -> bool:
    """Whether most values below the first one are of its kind."""
    values = [row[number] for row in below if row[number].strip() not in _EMPTY]
    return not values or name.strip() in _EMPTY or sum(kind(each) == kind(name) for each in values) >= len(values) / 2


def kind(value: str) -> str:
    """ "date" or "number" for text that looks like one, "" otherwise."""
    value = value.strip()
    if DATE.fullmatch(value):
        return "date"
    return "number" if NUMBER.fullmatch(value) else ""


def agrees(row: Sequence[str], rows: Rows) -> bool:
    """Whether the row has a number, or a date, wherever all values of `rows` are such."""
    for number, value in enumerate(row):
        kinds = [kind(each[number]) for each in rows if number < len(each) and each[number].strip() not in _EMPTY]
        typed = bool(kinds) and kinds[0] != "" and len(set(kinds)) == 1
        if typed and value.strip() not in _EMPTY and kind(value) != kinds[0]:
            return False
    return True


def is_like(row: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both rows have numbers and dates, and have them in the same places."""
    kinds = [kind(value) for value in row]
    return any(kinds) and kinds == [kind(value) for value in other]


def stated_header(header: bool) -> Decision:
    return _decided(header, Standing.STATED, "")


def _decided(header: bool, standing: Standing, evidence: str) -> Decision:
    return Decision("header", "yes" if header else "no", standing, evidence)


def header_question(header: bool, evidence: str, rows: Rows) -> Decision:
    """The question whether the first row is the header, which is taken for `header`."""
    first = "".join(f"[{value}]" for value in rows[0])
    names = answer("the first record is the header", [f"names: {first}"], header=True)
    data = answer("the first record is data", [f"row 1: {first}"], header=False)
    return asked("header", evidence, *((names, data) if header else (data, names)))
