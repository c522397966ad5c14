"""The list of transforms: the conversions of a field's text on its way into a column.

Users choose names from this list and write no SQL. Each reading has a regular expression for the texts that it accepts,
which Python, MySQL (ICU) and MariaDB (PCRE) read alike. For all other texts expressions.py makes a bad value.
"""

import re
from collections.abc import Callable, Sequence

from importer.engine.errors import Problem
from importer.engine.mapping import date_formats
from importer.engine.mapping.number_transforms import NUMBERS
from importer.engine.mapping.time_transforms import TIMES
from importer.engine.mapping.transform import BLANKS, Transform
from importer.engine.mysql.quoting import quote_text
from importer.engine.schema.column_types import ColumnType, Family
from importer.engine.schema.table import Column

__all__ = [
    "BLANKS",
    "FALSE_WORDS",
    "LISTED",
    "LISTED_NAMES",
    "TRANSFORMS",
    "TRUE_WORDS",
    "Transform",
    "check_transforms",
    "number_reader",
    "transforms_for",
    "unwrapped",
]


def transforms_for(column: Column) -> list[Transform]:
    """The transforms that suit the column."""
    return [each for each in LISTED if each.goes_with(column)]


def number_reader(names: Sequence[str], column: Column) -> Callable[[str], str | None]:
    """Converts a text to a number in SQL's notation; gives None if one of the transforms does not accept the text."""
    chosen = [TRANSFORMS[name] for name in sorted(names, key=_ORDER.__getitem__)]
    steps = [(each.matcher(column), each.in_python) for each in chosen]

    def read(text: str) -> str | None:
        for fits, convert in steps:
            if convert is None or not fits(text):
                return None
            text = convert(text)
        return text

    return read


def check_words(names: Sequence[str], datetime_format: str) -> None:
    """Raise Problem for a transform or a format that is none, for any column."""
    for name in names:
        if name not in TRANSFORMS:
            what = f"There is no transform {name!r}."
            raise Problem(what, advice=f"Choose from {LISTED_NAMES}.", option="transforms")
    if datetime_format:
        date_formats.check_format(datetime_format)


def check_transforms(names: Sequence[str], datetime_format: str, column: Column) -> None:
    """Raise Problem if the transforms and the format do not suit the column or each other."""
    check_words(names, datetime_format)
    for name in names:
        if not TRANSFORMS[name].goes_with(column):
            raise Problem(
                f"The transform {name} does not go with {column.name}, which is {column.type}.",
                advice=f"For this column there are: {', '.join(each.name for each in transforms_for(column))}.",
            )
    readings = [name for name in names if not TRANSFORMS[name].cleans]
    if datetime_format:
        if date_formats.OFFSET in datetime_format and column.column_type.family is not Family.MOMENT:
            raise Problem(
                f"{column.name} is {column.type}, and {date_formats.OFFSET} in its format stands for an offset, which"
                " needs a date with a time of day.",
                advice="Leave it out, or choose a DATETIME or TIMESTAMP column.",
            )
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


def _bytes_of_uuid(text: str, _column: Column) -> str:
    for each in "-{}":
        text = f"REPLACE({text}, '{each}', '')"
    return f"UNHEX({text})"


def _bits_of_literal(text: str, column: Column) -> str:
    for each in "b'":
        text = f"REPLACE({text}, {quote_text(each)}, '')"
    return _bits_of_digits(text, column)


def _unwrapped(text: str, _column: Column) -> str:
    """SQL for the text inside ="..."; another text stays."""
    wrapped = f"CAST(LEFT({text}, 2) AS BINARY) = _binary'=\"' AND CAST(RIGHT({text}, 1) AS BINARY) = _binary'\"'"
    inside = f"REPLACE(SUBSTR({text}, 3, CHAR_LENGTH({text}) - 3), '\"\"', '\"')"
    return f"IF(CHAR_LENGTH({text}) > 2 AND {wrapped}, {inside}, {text})"


def unwrapped(text: str) -> str:
    """The text inside ="..."; another text stays."""
    wrapped = len(text) > 2 and text.startswith('="') and text.endswith('"')
    return text[2:-1].replace('""', '"') if wrapped else text


def _is_any(_type: ColumnType) -> bool:
    return True


def _is_bit(type_: ColumnType) -> bool:
    return type_.family is Family.BIT


def _is_text(type_: ColumnType) -> bool:
    return type_.family is Family.CHARACTER


def _trim(name: str, words: str, example: str, strip: Callable[[str, str], str]) -> Transform:
    at_start, at_end = strip(" a ", BLANKS)[0] == "a", strip(" a ", BLANKS)[-1] == "a"
    sql = _trimmed(at_start, at_end)
    return Transform(name, words, example, _is_any, None, sql, cleans=True, in_python=lambda text: strip(text, BLANKS))


_UUID = "-".join(f"[0-9A-Fa-f]{{{digits}}}" for digits in (8, 4, 4, 4, 12))
_BIT_LITERAL = "b'[01]{1,64}'|0b[01]{1,63}"
_ALL = (
    _trim("trim", "trim both ends", "“ a ” → “a”", str.strip),
    _trim("trim-left", "trim the start", "“ a ” → “a ”", str.lstrip),
    _trim("trim-right", "trim the end", "“ a ” → “ a”", str.rstrip),
    *NUMBERS,
    Transform(
        "yes-no",
        "yes or no",
        "yes → 1, no → 0",
        lambda type_: type_.is_number or _is_bit(type_),
        lambda _: "|".join(map(re.escape, TRUE_WORDS + FALSE_WORDS)),
        _truth,
    ),
    Transform("number", "number", "5 → b'101'", _is_bit, lambda _: "[0-9]{1,20}", _bits_of_number),
    Transform("bits", "binary digits", "101 → b'101'", _is_bit, lambda _: "[01]{1,64}", _bits_of_digits),
    Transform(
        "hex",
        "hexadecimal",
        "4D → M",
        lambda type_: type_.takes_hex,
        lambda _: "(?:0[xX])?[0-9A-Fa-f]*",
        _bytes_of_hex,
        returns_null=True,
    ),
    Transform(
        "uuid",
        "UUID",
        "123e4567-e89b-12d3-a456-426614174000 → 16 bytes",
        lambda type_: type_.takes_hex,
        lambda _: f"{_UUID}|[{{]{_UUID}[}}]",
        _bytes_of_uuid,
    ),
    Transform("bit-literal", "bit literal", "b'101' → b'101'", _is_bit, lambda _: _BIT_LITERAL, _bits_of_literal),
    *TIMES,
    Transform(
        "excel-text",
        "text as Excel protects it",
        '="00123" → 00123',
        _is_any,
        None,
        _unwrapped,
        in_python=unwrapped,
    ),
    Transform("lower", "lower case", "Ab → ab", _is_text, None, _in_case("LOWER")),
    Transform("upper", "upper case", "Ab → AB", _is_text, None, _in_case("UPPER")),
)
TRANSFORMS = {each.name: each for each in _ALL}
LISTED = tuple(each for each in _ALL if not each.currency)
LISTED_NAMES = ", ".join(each.name for each in LISTED)
_ORDER = {name: at for at, name in enumerate(TRANSFORMS)}
