"""Decides the type of a new column and the format of its values from a sample, by the same readings as for a table."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.date_formats import is_date
from importer.engine.mapping.new_table.typed_values import is_few, is_value_of, reader
from importer.engine.mapping.readings import Choice, Fits, choose, trimmed
from importer.engine.mapping.transforms import FALSE_WORDS, TRANSFORMS, TRUE_WORDS
from importer.engine.schema.column_types import column_type
from importer.engine.schema.table import Column
from importer.engine.schema.type_inference import ANY_NUMBER, TypeTracker, is_of_kind
from importer.engine.schema.value_kinds import is_number
from importer.engine.source.profile.remembered import remembered
from importer.engine.source.records.row_error import shortened
from importer.engine.units import count_of

# Columns that hold any number, and any date, to find the readings of values by.
_NUMBER = Column("", ANY_NUMBER, True, None, False, False)
_MOMENT = Column("", "datetime(6)", True, None, False, False)
# Enough values to see that a column holds no dates or numbers, without trying every format on all of them.
_PROBED, _PROBED_SHARE = 20, 0.6
# Numbers among other texts are more often codes than dates are: only in a sample of as many do some not count.
_LEAST_FOR_BAD_NUMBERS = 20
# Hours, minutes and seconds. 9:05 is none: it may be minutes and seconds.
_TIME = re.compile(r"-?[0-9]{1,3}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?")
# A note names a text column of which at least this share are numbers.
_NEARLY_ALL = 0.8


@dataclass(frozen=True)
class FieldNames:
    """A field's name as flags take it, and its column's name."""

    field: str
    column: str

    def mapped(self, words: str) -> str:
        """The flag that reads the field so."""
        return f"--map '{self.field}={self.column}:{words}'"

    def typed(self, type_: str) -> str:
        """The flag that gives the column a type."""
        return f"--type '{self.column}={type_}'"


@dataclass(frozen=True)
class NewField:
    """What the values of a field tell about its column: a type, how they are read, and why it is a text.

    `type` "" is a text that holds all values. `note`: for users, "" if there is nothing to say. `doubt`: the readings
    as numbers or dates of which each would store something else. Such values are a text until somebody chooses.
    """

    type: str = ""
    transforms: tuple[str, ...] = ()
    datetime_format: str = ""
    note: str = ""
    doubt: Choice | None = None


@remembered
def read_field(names: FieldNames, values: Counter[str], delimiter: str) -> NewField:
    """Decide about a field by its values in the sample that are not NULL."""
    tracker = tracked(values)
    if tracker.code:
        flag = f" {names.typed(tracker.type)} makes it a number." if column_type(tracker.type).is_number else ""
        return NewField(note=f"text, since {tracker.code}.{flag}")
    if tracker.is_typed and column_type(tracker.type).is_typed:
        return NewField(tracker.type)
    if tracker.is_typed:
        longest = shortened(max(values, key=len))
        return NewField(
            note=f"text, since no type of numbers keeps all digits ({longest}). {names.typed('double')} rounds them."
        )
    bare = trimmed(values)
    found = _as_dates(bare, delimiter) or _as_numbers(bare, delimiter) or _as_amounts(names, bare, delimiter)
    if not found:
        return NewField(note=_note_on_text(names, values))
    trimming = ("trim",) if found.type and bare != values else ()
    return replace(found, transforms=(*trimming, *found.transforms))


def readings_as_number(values: Counter[str], delimiter: str) -> tuple[str, ...]:
    """The transforms by which all values of a text could be numbers, the likeliest first.

    `values`: those that are not NULL.
    """
    bare = trimmed(values)
    choice = choose(bare, _NUMBER, delimiter)
    fitting = (each for each in (choice.chosen, *choice.rivals) if bare and all(map(each.fits, bare)))
    return tuple(name for each in fitting for name in each.transforms if TRANSFORMS[name].in_python)


def is_date_in_two_ways(values: Counter[str], delimiter: str) -> bool:
    """Whether a text could be dates that can be read in two ways; a stated format makes them dates.

    `values`: those that are not NULL.
    """
    found = _choice_of_dates(trimmed(values), delimiter)
    return found is not None and bool(found[1].rivals)


@remembered
def read_as_stated(values: Counter[str], transforms: tuple[str, ...], datetime_format: str) -> NewField:
    """The type of a field whose format or transforms are given, by the values that have them."""
    mapping = ColumnMapping("", (), datetime_format, transforms)
    column = _MOMENT if mapping.datetime_format else _NUMBER
    read = reader(mapping, column)
    if read is None:
        return NewField()
    converted = {value: read(value) for value in values}
    good = {value: text for value, text in converted.items() if text is not None and is_value_of(column, text)}
    bad = values.total() - sum(values[value] for value in good)
    only_cleaned = not mapping.datetime_format and all(TRANSFORMS[name].cleans for name in mapping.transforms)
    if not good or (only_cleaned and not is_few(bad, values.total())):
        return NewField()
    tracker = tracked(good.values())
    return NewField(tracker.type if tracker.is_typed else "", mapping.transforms, mapping.datetime_format)


@remembered
def text_type(values: Counter[str]) -> str:
    """The type of a text that holds the values, which are not NULL."""
    return tracked(values).text_type


def tracked(values: Iterable[str]) -> TypeTracker:
    """The range of the values, which are not NULL."""
    tracker = TypeTracker()
    tracker.take(list(values), frozenset())
    return tracker


def _choice_of_dates(values: Counter[str], delimiter: str) -> tuple[Counter[str], Choice] | None:
    """The values that are dates, and their formats; None if few of the values are dates."""
    if _probed_share(values, is_date) < _PROBED_SHARE:
        return None
    # Most values have the format of the first ones: the other formats are tried on the rest.
    first = choose(Counter(filter(is_date, islice(values, _PROBED))), _MOMENT, delimiter).chosen
    dates = Counter({value: times for value, times in values.items() if first.fits(value) or is_date(value)})
    return dates, choose(dates, _MOMENT, delimiter)


def _as_dates(values: Counter[str], delimiter: str) -> NewField | None:
    """A column of dates, a few other texts excepted, or the doubt how to read them."""
    found = _choice_of_dates(values, delimiter)
    if found is None:
        return None
    dates, choice = found
    if choice.rivals:
        return NewField(doubt=choice)
    stored = {value: choice.chosen.shown(value) for value in dates}
    real = [value for value in dates if is_of_kind("datetime", stored[value])]
    if not real or not is_few(values.total() - sum(dates[value] for value in real), values.total()):
        return None
    tracker = tracked(stored[value] for value in real)
    return NewField(tracker.type, (), choice.chosen.datetime_format)


def _as_numbers(values: Counter[str], delimiter: str) -> NewField | None:
    """A column of numbers, a few other texts excepted, or the doubt how to read them."""
    if _probed_share(values, _has_digits) < _PROBED_SHARE:
        return None
    choice = choose(values, _NUMBER, delimiter, drops_currency=False)
    chosen = choice.chosen
    if chosen.transforms == ("yes-no",):
        return None
    if choice.rivals:
        return NewField(doubt=choice)
    numbers = [value for value in values if chosen.fits(value)]
    bad = values.total() - sum(values[value] for value in numbers)
    if bad and (values.total() < _LEAST_FOR_BAD_NUMBERS or not is_few(bad, values.total())):
        return None
    tracker = tracked(chosen.shown(value) for value in numbers)
    if not tracker.is_typed or (chosen.is_plain and (tracker.code or (bad and tracker.kind == "whole"))):
        return None
    return NewField(tracker.type, chosen.transforms)


def _probed_share(values: Counter[str], is_one: Fits) -> float:
    probed = list(islice(values, _PROBED))
    return sum(map(is_one, probed)) / len(probed) if probed else 0


def _has_digits(value: str) -> bool:
    return any(map(str.isdigit, value)) and len(value) <= 2 * _PROBED


def _as_amounts(names: FieldNames, values: Counter[str], delimiter: str) -> NewField | None:
    """Why amounts that all have the same currency are a text, and the flag that makes them numbers; None for others."""
    choice = choose(values, _NUMBER, delimiter)
    chosen = choice.chosen
    if not any(TRANSFORMS[name].currency for name in chosen.transforms) or not all(map(chosen.fits, values)):
        return None
    if choice.rivals:
        return NewField(doubt=choice)
    flag = names.mapped(",".join(chosen.transforms))
    return NewField(note=f"text, which keeps the currency ({shortened(next(iter(values)))}). {flag} makes it a number.")


def _note_on_text(names: FieldNames, values: Counter[str]) -> str:
    """Why a column is a text although its values look like numbers, words for yes and no, or times; "" for others."""
    if not values:
        return ""
    if all(value in TRUE_WORDS or value in FALSE_WORDS for value in values):
        return f"text: words for yes and no. {names.typed('tinyint')} and {names.mapped('yes-no')} make them 1 and 0."
    if all(map(_TIME.fullmatch, values)):
        return f"text: times or durations. {names.typed('time')} makes them TIME values, up to 838:59:59."
    numbers = {value: times for value, times in values.items() if is_number(value, fraction=True)}
    many = sum(numbers.values())
    if many < _NEARLY_ALL * values.total():
        return ""
    code = next((each for each in numbers if each[:1] == "+" or _has_leading_zero(each)), "")
    if code:
        why = "a plus sign" if code[:1] == "+" else "a leading zero"
        return f"text, since a number has no place for {why} ({shortened(code)})."
    tracker = tracked(numbers)
    odd = next((value for value in values if value not in numbers), "")
    if tracker.code:
        return f"text, since {tracker.code}."
    if not odd or not column_type(tracker.type).is_number:
        return ""
    return (
        f"text, since {shortened(odd)} is no number, as {many:,} of {count_of(values.total(), 'value')} are."
        f" {names.typed(tracker.type)} makes it a number; {names.mapped(f'null={odd}')} makes this value NULL."
    )


def _has_leading_zero(value: str) -> bool:
    digits = value.lstrip("+-")
    return digits[:1] == "0" and digits[1:2].isdigit()
