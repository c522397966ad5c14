"""The ways to read the values of a column, and the choice between them by a sample.

A reading is chosen if it fits the sample, a few values excepted. If another one fits as well, and would store other
values, the choice is a guess: nothing in the sample decides.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TypeVar

from importer.engine.mapping import date_formats
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.date_formats import format_names, stored_text, stored_time
from importer.engine.mapping.expressions import most_bytes
from importer.engine.mapping.number_transforms import amount_names, currency_of
from importer.engine.mapping.transforms import BLANKS, FALSE_WORDS, TRANSFORMS, TRUE_WORDS, unwrapped
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.schema.value_kinds import is_number
from importer.engine.source.profile.profile import Profile
from importer.engine.source.profile.remembered import remembered

# The order of preference. An ambiguous comma is a decimal comma, except in files with the comma as their delimiter.
_OTHERS = ("thousands-apostrophe", "thousands-space-point", "thousands-indian", "yes-no", "local-digits")
DECIMAL_COMMA_FIRST = (
    *("decimal-comma", "thousands-dot", "thousands-space", "thousands-comma"),
    *_OTHERS,
)
THOUSANDS_COMMA_FIRST = (
    *("thousands-comma", "decimal-comma", "thousands-dot", "thousands-space"),
    *_OTHERS,
)
_PERCENT = ("percent", "percent-number", "percent-comma", "percent-number-comma")
# Numbers that are read as days or seconds are of the years from about 1970 to 2100.
_PLAUSIBLE = {
    "excel-date": (25_000, 75_000),
    "excel-date-1904": (23_500, 73_500),
    "unix-seconds": (100_000_000, 4_200_000_000),
    "unix-milliseconds": (100_000_000_000, 4_200_000_000_000),
}
# Hexadecimal digits of at least four bytes; at least one of the values has a letter.
_HEX = re.compile("(?:[0-9A-Fa-f]{2}){4,}")
_HEX_LETTER = re.compile("[A-Fa-f]")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
# A reading is not suggested if more than this share of the values that need one does not fit it.
MOST_MISMATCHES = 0.05

T = TypeVar("T")
Fits = Callable[[str], bool]
MOST_SHOWN = 3


def trimmed(values: Counter[str]) -> Counter[str]:
    """The values without blanks around them, each with its count."""
    bare: Counter[str] = Counter()
    for value, times in values.items():
        bare[value.strip(BLANKS)] += times
    return bare


def count_mismatches(counts: Counter[str], fits: Fits, most: int | None = None) -> int:
    """The number of values that do not fit; counting stops once it exceeds `most`."""
    mismatches = 0
    for value, times in counts.items():
        if not fits(value):
            mismatches += times
            if most is not None and mismatches > most:
                break
    return mismatches


def fitting(counts: Counter[str], plainly: Fits, readings: Mapping[T, Fits]) -> list[T]:
    """The readings with few mismatches, the fewest first, otherwise in their order.

    Values that fit `plainly` need no reading. If all values fit `plainly`, the result is empty.
    """
    needing = count_mismatches(counts, plainly)
    most = int(MOST_MISMATCHES * needing)
    mismatches = {name: count_mismatches(counts, fits, most) for name, fits in readings.items()} if needing else {}
    return sorted((name for name, count in mismatches.items() if count <= most), key=mismatches.__getitem__)


@dataclass(frozen=True)
class ValueReading:
    """One way to read the values of a column; as they are if it has neither transforms nor a format.

    `label`: for users. `fits`: whether the column takes the value. `means`: whether the value can be meant so, even if
    the column does not take it (1.5 for an INT). `shown`: the value as it is stored.
    """

    label: str
    transforms: tuple[str, ...]
    datetime_format: str
    fits: Fits
    means: Fits
    shown: Callable[[str], str]

    @property
    def words(self) -> str:
        """The reading in a sentence for people, who need not know how a format is written."""
        return format_names(self.label)

    @property
    def is_plain(self) -> bool:
        return not (self.transforms or self.datetime_format)

    @property
    def key(self) -> tuple[tuple[str, ...], str]:
        return self.transforms, self.datetime_format


@dataclass(frozen=True)
class Choice:
    """The reading that is chosen for a column, and those that the sample allows as well.

    `rivals`: each would store another value for one of the values `differing`, at most MOST_SHOWN.
    """

    chosen: ValueReading
    rivals: tuple[ValueReading, ...] = ()
    differing: tuple[str, ...] = ()


@remembered
def choose(
    values: Counter[str], column: Column, delimiter: str, *, drops_currency: bool = True, of_bytes: bool = False
) -> Choice:
    """Choose how to read these values, without blanks around them and without NULL, for the column.

    `drops_currency`: amounts that all have the same currency may be read as numbers. `of_bytes`: the file states that
    its values are hexadecimal digits after 0x, also where the sample has none.
    """
    if of_bytes and column.column_type.takes_hex:
        return Choice(_transformed("hex", column))
    plain = _plain(column)
    if all(map(plain.fits, values)):
        return _digits_or_bytes(values, column, plain)
    currency = common_currency(values) if drops_currency and column.column_type.is_number else ""
    readings = {each.key: each for each in _readings(column, delimiter, currency)}
    found = fitting(values, plain.fits, {key: each.fits for key, each in readings.items()})
    if not found:
        return Choice(plain)
    chosen = readings[found[0]]
    if column.column_type.family in (Family.INTEGER, Family.CHARACTER):
        readings = {plain.key: plain, **readings}
    rivals: list[ValueReading] = []
    for key in fitting(values, plain.fits, {key: each.means for key, each in readings.items()}):
        rival = readings[key]
        if not _is_ruled_out(values, chosen, rival) and all(
            _differing(values, each, rival) for each in (chosen, *rivals)
        ):
            rivals.append(rival)
    differing = (value for rival in rivals for value in _differing(values, chosen, rival))
    return Choice(chosen, tuple(rivals), tuple(dict.fromkeys(differing))[:MOST_SHOWN])


def _digits_or_bytes(values: Counter[str], column: Column, plain: ValueReading) -> Choice:
    """The plain reading of values that all fit; a guess if all look like hexadecimal digits, which stand for bytes.

    The length of BINARY(n) decides: the plain text would fill it, or be padded.
    """
    type_ = column.column_type
    digits = type_.takes_hex and not type_.fixed and values and all(map(_HEX.fullmatch, values))
    if not digits or not any(map(_HEX_LETTER.search, values)):
        return Choice(plain)
    return Choice(_transformed("hex", column), (plain,), tuple(islice(values, MOST_SHOWN)))


def has_decimal_comma(transforms: Iterable[str]) -> bool:
    """Whether one of the transforms reads numbers with a decimal comma."""
    return any(
        TRANSFORMS[name].decimal_mark == ","
        or name in ("percent-comma", "percent-number-comma", amount_names(TRANSFORMS[name].currency)[1])
        for name in transforms
    )


def is_grouped_only(values: Iterable[str]) -> bool:
    """Whether each number with a point could have it between thousands: 1.234 may be 1234 where others have a comma."""
    pointed = [value for value in values if "." in value]
    return bool(pointed) and all(map(_GROUPED.fullmatch, pointed))


def with_thousands(values: Counter[str], column: Column, chosen: ValueReading) -> Choice:
    """The choice for numbers with a point if another field has decimal commas: 1.234 as it is, or as 1234."""
    type_ = column.column_type
    if not (chosen.is_plain and type_.is_number and type_.has_fraction and is_grouped_only(values)):
        return Choice(chosen)
    grouped = _transformed("thousands-dot", column)
    differing = tuple(_differing(values, chosen, grouped))
    return Choice(chosen, (grouped,), differing) if differing else Choice(chosen)


def common_currency(values: Iterable[str]) -> str:
    """The sign of a currency that each of the values has, "" if there is none."""
    found: set[str] = set()
    for value in values:
        found.add(currency_of(value))
        if len(found) > 1 or "" in found:
            return ""
    return found.pop() if found else ""


def _differing(values: Counter[str], one: ValueReading, other: ValueReading) -> list[str]:
    """The first values that the two readings would store differently."""
    if one.key == other.key:
        return []
    both = (value for value in values if one.means(value) and other.means(value))
    return list(islice((each for each in both if one.shown(each) != other.shown(each)), MOST_SHOWN))


def _is_ruled_out(values: Counter[str], chosen: ValueReading, other: ValueReading) -> bool:
    """Whether some value fits only the chosen reading, and none fits only the other."""
    only_chosen = any(chosen.fits(value) and not other.means(value) for value in values)
    only_other = any(other.means(value) and not chosen.fits(value) for value in values)
    return only_chosen and not only_other


def _plain(column: Column) -> ValueReading:
    type_ = column.column_type
    fits: Fits = _is_any
    means: Fits = _is_any
    if type_.has_date:
        fits = means = date_formats.is_native
    elif type_.is_number:
        fits, means = partial(is_number, fraction=type_.has_fraction), partial(is_number, fraction=True)
    elif type_.family is Family.BIT:
        fits = means = _is_raw_bits
    elif type_.family is Family.TIME:
        fits = means = date_formats.is_native_time
    elif type_.takes_hex:
        fits = means = partial(_is_raw_bytes, most_bytes(column))
    elif type_.family is Family.CHARACTER:
        fits = _is_unprotected
    return ValueReading("as it is", (), "", fits, means, str)


def _is_any(_text: str) -> bool:
    return True


def _is_raw_bits(text: str) -> bool:
    """Whether the text is no number and no word for yes or no, so that its bytes can only be bits."""
    return not text.isascii() or not (text.isdigit() or text in TRUE_WORDS or text in FALSE_WORDS)


def _is_raw_bytes(most: int, text: str) -> bool:
    """Whether the text fits into `most` bytes, and has not the prefix 0x and an even number of hexadecimal digits."""
    digits = len(text) % 2 == 0 and re.fullmatch("0[xX][0-9A-Fa-f]+", text) is not None
    return len(text.encode()) <= most and not digits


def _is_unprotected(text: str) -> bool:
    return unwrapped(text) == text


def _readings(column: Column, delimiter: str, currency: str) -> Iterator[ValueReading]:
    """The readings other than the plain one, the likeliest first. `currency`: the one that all values have."""
    if column.column_type.has_date:
        for each in date_formats.formats(delimiter):
            if date_formats.OFFSET in each and column.column_type.family is not Family.MOMENT:
                continue
            fits = partial(date_formats.matches, each)
            yield ValueReading(each, (), each, fits, fits, partial(stored_text, each))
    if column.column_type.family is Family.TIME:
        for each in date_formats.TIME_FORMATS:
            fits = partial(date_formats.matches, each)
            yield ValueReading(each, (), each, fits, fits, partial(stored_time, each))
    for name in _names(column, delimiter, currency):
        if TRANSFORMS[name].goes_with(column):
            yield _transformed(name, column)


def _names(column: Column, delimiter: str, currency: str) -> tuple[str, ...]:
    """The transforms that may be suggested for the column, the likeliest first."""
    type_ = column.column_type
    if type_.has_date:
        return tuple(_PLAUSIBLE)
    if type_.is_number:
        point_first = delimiter == ","
        order = THOUSANDS_COMMA_FIRST if point_first else DECIMAL_COMMA_FIRST
        amounts = amount_names(currency)
        return (*order, *(amounts if point_first else reversed(amounts)), *_PERCENT, "excel-text")
    if type_.family is Family.BIT:
        return ("number", "bits", "yes-no", "bit-literal")
    if type_.takes_hex:
        return ("hex", "uuid")
    return ("excel-text",) if type_.family is Family.CHARACTER else ()


def _transformed(name: str, column: Column) -> ValueReading:
    transform = TRANSFORMS[name]
    fits = means = transform.matcher(column)
    if column.column_type.family is Family.INTEGER:
        means = transform.matcher(replace(column, type="decimal(65,30)"))
    if name in _PLAUSIBLE:
        fits = means = partial(_is_plausible, name)
    elif name in amount_names(""):
        fits = means = partial(_is_amount, fits)
    elif name == "excel-text":
        fits = means = partial(_is_protected, column)
    shown = transform.in_python or _SHOWN.get(name, str)
    return ValueReading(transform.words, (name,), "", fits, means, shown)


def _is_plausible(name: str, text: str) -> bool:
    least, most = _PLAUSIBLE[name]
    number = re.fullmatch(r"[0-9]{1,13}(?:\.[0-9]{1,12})?" if name.startswith("excel") else "[0-9]{1,13}", text)
    return number is not None and least <= float(text) <= most


def _is_amount(fits: Fits, text: str) -> bool:
    """Whether the text is an amount without a currency, which a column of numbers would not keep."""
    return fits(text) and not currency_of(text)


def _is_protected(column: Column, text: str) -> bool:
    """Whether the text is ="..." of what the column takes."""
    inside = unwrapped(text)
    number = is_number(inside, fraction=True) and not re.match("[+-]?0[0-9]", inside)
    return inside != text and (not column.column_type.is_number or number)


def _truth(text: str) -> str:
    return "1" if text in TRUE_WORDS else "0" if text in FALSE_WORDS else text


def _bits_of_digits(text: str) -> str:
    return f"{int(text, 2)}" if re.fullmatch("[01]+", text) else text


def _as_literal(text: str) -> str:
    """Hexadecimal digits as SQL writes the bytes for which they stand."""
    return f"x'{text[2:] if text[:2] in ('0x', '0X') else text}'"


_SHOWN: dict[str, Callable[[str], str]] = {"yes-no": _truth, "bits": _bits_of_digits, "hex": _as_literal}


def non_null_values(profile: Profile, number: int, mapping: ColumnMapping) -> Counter[str]:
    """The values of the sample's field that are not NULL, each with its count."""
    values = profile.values_of(number)
    return Counter({value: n for value, n in values.items() if value.strip(BLANKS) not in mapping.null_markers})
