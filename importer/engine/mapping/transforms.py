"""The list of transforms: the conversions of a field's text on its way into a column.

Users choose names from this list and write no SQL. Each reading has a regular expression for the texts that it accepts,
which Python, MySQL (ICU) and MariaDB (PCRE) read alike. For all other texts expressions.py makes a bad value.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from importer.engine.errors import Problem
from importer.engine.mapping import date_formats
from importer.engine.mysql.quoting import quote_text
from importer.engine.schema.column_types import ColumnType, Family
from importer.engine.schema.table import Column

BLANKS = " \t\u00a0"
SPACES = " \u00a0\u202f\u2009"  # as thousands separators: plain, no-break, narrow no-break, thin


@dataclass(frozen=True)
class Transform:
    """One conversion of a text.

    `label` and `example` are for users. `accepted`: whether it suits columns of a type. `takes`: the regular expression
    of the texts that it accepts for a column; None for any text. `expression` renders SQL for the value from SQL for an
    accepted text. `returns_null`: for all other texts the expression is NULL, so that no match is needed first.
    `cleans`: it is applied first, before NULL markers are compared; a reading of the cleaned text may follow.
    `in_python`: the conversion in Python, for code that examines the digits of a value. `separators`, `decimal_mark`:
    the characters that a number's transform removes, and the one that it replaces by a point.
    """

    name: str
    label: str
    example: str
    accepted: Callable[[ColumnType], bool]
    takes: Callable[[Column], str] | None
    expression: Callable[[str, Column], str]
    cleans: bool = False
    returns_null: bool = False
    in_python: Callable[[str], str] | None = None
    separators: str = ""
    decimal_mark: str = ""

    def goes_with(self, column: Column) -> bool:
        return self.accepted(column.column_type)

    def fits(self, text: str, column: Column) -> bool:
        """Whether the transform accepts the text for the column."""
        return self.takes is None or re.fullmatch(self.takes(column), text) is not None


def transforms_for(column: Column) -> list[Transform]:
    """The transforms that suit the column."""
    return [each for each in TRANSFORMS.values() if each.goes_with(column)]


def normalized_number(text: str, names: Sequence[str], column: Column) -> str | None:
    """Convert the text to a number in SQL's notation; None if one of the transforms does not accept the text."""
    for name, each in TRANSFORMS.items():
        if name not in names:
            continue
        if each.in_python is None or not each.fits(text, column):
            return None
        text = each.in_python(text)
    return text


def check_transforms(names: Sequence[str], datetime_format: str, column: Column) -> None:
    """Raise Problem if the transforms and the format do not suit the column or each other."""
    for name in names:
        if name not in TRANSFORMS:
            raise Problem(f"There is no transform {name!r}.", advice=f"Choose from {', '.join(TRANSFORMS)}.")
        if not TRANSFORMS[name].goes_with(column):
            raise Problem(
                f"The transform {name} does not go with {column.name}, which is {column.type}.",
                advice=f"For this column there are: {', '.join(each.name for each in transforms_for(column))}.",
            )
    readings = [name for name in names if not TRANSFORMS[name].cleans]
    if datetime_format:
        date_formats.check_format(datetime_format)
        if not column.column_type.is_temporal:
            raise Problem(
                f"{column.name} is {column.type}, which takes no date and time format.",
                advice="Leave the format out, or choose a column of dates or times.",
            )
        readings.append(datetime_format)
    if len(readings) > 1:
        raise Problem(f"{column.name} is to be read in two ways: {', '.join(readings)}.", advice="Choose one of them.")


def _trimmed(at_start: bool, at_end: bool) -> Callable[[str, Column], str]:
    """SQL that removes spaces, tabs and no-break spaces at the ends; TRIM() removes only one of these characters.

    The end is trimmed on the reversed text: on MySQL a search for `[ ]+$` in a long text fails (3699, a time limit).
    """

    def from_start(text: str) -> str:
        return f"REGEXP_REPLACE({text}, {quote_text(f'^[{BLANKS}]+')}, '')"

    def expression(text: str, _column: Column) -> str:
        text = from_start(text) if at_start else text
        return f"REVERSE({from_start(f'REVERSE({text})')})" if at_end else text

    return expression


def _in_case(function: str) -> Callable[[str, Column], str]:
    return lambda text, _column: f"{function}({text})"


def _fraction(mark: str, column: Column) -> str:
    """The pattern of a number's decimals; only zeros for integer columns, which would round."""
    return (
        f"(?:{re.escape(mark)}0*)?" if column.column_type.family is Family.INTEGER else f"(?:{re.escape(mark)}[0-9]+)?"
    )


def _decimal_comma(column: Column) -> str:
    return f"[+-]?[0-9]+{_fraction(',', column)}"


def _grouped(separators: str, mark: str) -> Callable[[Column], str]:
    """The pattern of a number with a separator before each three digits of its whole part, or without separators.

    With separators it does not begin with 0: 0,125 has a decimal comma.
    """

    def takes(column: Column) -> str:
        return f"[+-]?(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{separators}][0-9]{{3}})+){_fraction(mark, column)}"

    return takes


def _plain_number_in_python(separators: str, mark: str) -> Callable[[str], str]:
    return lambda text: text.translate(dict.fromkeys(map(ord, separators))).replace(mark, ".")


def _plain_number(separators: str, mark: str) -> Callable[[str, Column], str]:
    """SQL that removes the separators and replaces the decimal mark by a point."""

    def expression(text: str, _column: Column) -> str:
        for each in separators:
            text = f"REPLACE({text}, {quote_text(each)}, '')"
        return text if mark == "." else f"REPLACE({text}, {quote_text(mark)}, '.')"

    return expression


def _cased(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for word in words for form in (word, word.upper(), word.capitalize())))


TRUE_WORDS = _cased(("1", "true", "t", "yes", "y", "on", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sì", "sim"))
FALSE_WORDS = _cased(("0", "false", "f", "no", "n", "off", "nein", "falsch", "non", "faux", "não", "nee", "nej"))


def _truth(text: str, column: Column) -> str:
    def among(words: Sequence[str]) -> str:
        return f"CAST({text} AS BINARY) IN ({', '.join(f'_binary{quote_text(word)}' for word in words)})"

    yes, no = ("x'01'", "x'00'") if column.column_type.family is Family.BIT else ("'1'", "'0'")
    return f"CASE WHEN {among(TRUE_WORDS)} THEN {yes} WHEN {among(FALSE_WORDS)} THEN {no} END"


def _bits_of_number(text: str, _column: Column) -> str:
    return f"UNHEX(HEX(CAST({text} AS UNSIGNED)))"


def _bits_of_digits(text: str, _column: Column) -> str:
    return f"UNHEX(CONV({text}, 2, 16))"


def _bytes_of_hex(text: str, _column: Column) -> str:
    """SQL that is NULL for characters other than digits, as UNHEX() is, and for an odd number, which UNHEX() pads."""
    # Compared as bytes, since other characters equal these in many collations. A regular expression would take ten
    # times as long as UNHEX().
    prefixed = f"CAST(LEFT({text}, 2) AS BINARY) IN (_binary'0x', _binary'0X')"
    return f"IF(LENGTH({text}) % 2, NULL, UNHEX(IF({prefixed}, SUBSTR({text}, 3), {text})))"


def _is_any(_type: ColumnType) -> bool:
    return True


def _is_number(type_: ColumnType) -> bool:
    return type_.is_number


def _is_bit(type_: ColumnType) -> bool:
    return type_.family is Family.BIT


def _is_text(type_: ColumnType) -> bool:
    return type_.family is Family.CHARACTER


def _number(name: str, label: str, example: str, separators: str, mark: str) -> Transform:
    takes = _grouped(separators, mark) if separators else _decimal_comma
    sql, in_python = _plain_number(separators, mark), _plain_number_in_python(separators, mark)
    return Transform(
        name, label, example, _is_number, takes, sql, in_python=in_python, separators=separators, decimal_mark=mark
    )


def _trim(name: str, label: str, example: str, strip: Callable[[str, str], str]) -> Transform:
    at_start, at_end = strip(" a ", BLANKS)[0] == "a", strip(" a ", BLANKS)[-1] == "a"
    sql = _trimmed(at_start, at_end)
    return Transform(name, label, example, _is_any, None, sql, cleans=True, in_python=lambda text: strip(text, BLANKS))


_ALL = (
    _trim("trim", "Trim both ends", "“ a ” → “a”", str.strip),
    _trim("trim-left", "Trim the start", "“ a ” → “a ”", str.lstrip),
    _trim("trim-right", "Trim the end", "“ a ” → “ a”", str.rstrip),
    _number("decimal-comma", "Decimal comma", "1234,5 → 1234.5", "", ","),
    _number("thousands-comma", "Thousands comma", "1,234.5 → 1234.5", ",", "."),
    _number("thousands-dot", "Thousands dot, decimal comma", "1.234,5 → 1234.5", ".", ","),
    _number("thousands-space", "Thousands space, decimal comma", "1 234,5 → 1234.5", SPACES, ","),
    _number("thousands-apostrophe", "Thousands apostrophe", "1'234.5 → 1234.5", "'\u2019", "."),
    Transform(
        "yes-no",
        "Yes or no",
        "yes → 1, no → 0",
        lambda type_: type_.is_number or _is_bit(type_),
        lambda _: "|".join(map(re.escape, TRUE_WORDS + FALSE_WORDS)),
        _truth,
    ),
    Transform("number", "Number", "5 → b'101'", _is_bit, lambda _: "[0-9]{1,20}", _bits_of_number),
    Transform("bits", "Binary digits", "101 → b'101'", _is_bit, lambda _: "[01]{1,64}", _bits_of_digits),
    Transform(
        "hex",
        "Hexadecimal",
        "4D → M",
        lambda type_: type_.takes_hex,
        lambda _: "(?:0[xX])?[0-9A-Fa-f]*",
        _bytes_of_hex,
        returns_null=True,
    ),
    Transform("lower", "Lower case", "Ab → ab", _is_text, None, _in_case("LOWER")),
    Transform("upper", "Upper case", "Ab → AB", _is_text, None, _in_case("UPPER")),
)
TRANSFORMS = {each.name: each for each in _ALL}
