"""The decisions about the format of each column's values: proved by the sample, stated, a rule, or a guess."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from importer.engine.mapping.columns import MOST_VALUES, ColumnMapping, ValueList, field_name
from importer.engine.mapping.date_formats import format_words
from importer.engine.mapping.readings import (
    MOST_SHOWN,
    Choice,
    ValueReading,
    choose,
    has_decimal_comma,
    non_null_values,
    trimmed,
    with_thousands,
)
from importer.engine.mapping.transforms import BLANKS, TRANSFORMS
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.profile.profile import Profile
from importer.engine.source.records.null_words import NULL_MARK
from importer.engine.source.records.row_error import shortened

# Evidence about the days of dates, if two formats differ in the order of day and month.
_NO_DAY = "no value of the sample has a day above 12"
_PIVOT = "Years from 70 are 19.., others 20..."
_NO_PROOF = "no value of the sample decides"
_COMMAS_BESIDE = "other fields have a decimal comma"
LONGEST_SHOWN = 40  # characters of a value


def column_decisions(
    profile: Profile,
    table: Table,
    mapping: Sequence[ColumnMapping],
    stated: Collection[int] = (),
    *,
    is_new: bool = False,
) -> tuple[Decision, ...]:
    """For each field that goes into a column, how its values are read, as a Decision with the name "format".

    `stated`: the positions (from 0) of fields whose transforms or date format were given. A guess has an answer for
    each reading that fits, the mapping's own first. `is_new`: the table is made for the file, with a text for numbers
    that may have points between thousands (new_table/suggestion.py).
    """
    commas = not is_new and any(has_decimal_comma(each.transforms) for each in mapping if each.column)
    decisions = []
    for number, each in enumerate(mapping):
        if each.column:
            name = field_name(profile.header, number)
            column = table.column(each.column)
            if each.lookup:
                evidence = f"{name}: the number of the row of {each.lookup.table} with this {each.lookup.column}."
                decisions.append(Decision("format", _in_words(each), Standing.STATED, evidence, name))
                continue
            decisions.append(_decision(profile, number, name, each, column, number in stated, commas))
            if number not in stated and _may_be_null(profile, number, each):
                decisions.append(_null_question(profile, number, name, each, column))
            values = () if number in stated or each.values else _respelled(profile, number, each, column)
            if values:
                decisions.append(_spelling_question(name, each, column, values))
    return tuple(decisions)


def _decision(
    profile: Profile, number: int, name: str, mapping: ColumnMapping, column: Column, stated: bool, commas: bool
) -> Decision:
    value = _in_words(mapping)
    values = trimmed(non_null_values(profile, number, mapping))
    of_bytes = number in profile.of_bytes
    choice = choose(values, column, profile.dialect.delimiter, of_bytes=of_bytes)
    proof = ""
    if commas and not choice.rivals:
        choice, proof = with_thousands(values, column, choice.chosen), _COMMAS_BESIDE
    found = [choice.chosen, *choice.rivals]
    used = next((each for each in found if each.key == _key(mapping)), None)
    if stated:
        return Decision("format", value, Standing.STATED, f"{name}: the format of the values was given.", name)
    if used is None:
        return Decision(
            "format",
            value,
            Standing.RULE,
            f"{name}: the values are read so: {', '.join(map(format_words, mapping.words)) or value}.",
            name,
        )
    if of_bytes and not used.is_plain:
        return Decision("format", value, Standing.PROVED, f"{name}: the file states that the field has bytes.", name)
    if choice.rivals:
        others = [each for each in found if each.key != used.key]
        answers = [answer_of(each, mapping, name, choice.differing) for each in (used, *others)]
        return Decision("format", value, Standing.GUESSED, question_of(name, choice, proof), name, tuple(answers))
    if used.is_plain:
        return Decision("format", value, Standing.RULE, f"{name}: {_rule(profile, number, mapping, column)}", name)
    shown = next((each for each in values if used.fits(each) and used.shown(each) != each), next(iter(values)))
    pivot = f" {_PIVOT}" if "%y" in used.datetime_format else ""
    evidence = (
        f"{name}: only {used.words} fits the values, such as {shortened(shown)}, read as {used.shown(shown)}.{pivot}"
    )
    if pivot:
        # The century is not in the file: another one would be stored as another date.
        answers = [answer_of(used, mapping, name, list(values)[:MOST_SHOWN])]
        return Decision("format", value, Standing.GUESSED, evidence, name, tuple(answers))
    return Decision("format", value, Standing.PROVED, evidence, name)


def _may_be_null(profile: Profile, number: int, mapping: ColumnMapping) -> bool:
    r"""Whether `\N` in the field, which would be stored as a text, may be NULL."""
    return profile.null_mark and NULL_MARK in profile.values_of(number) and NULL_MARK not in mapping.null_markers


def _null_question(profile: Profile, number: int, name: str, mapping: ColumnMapping, column: Column) -> Decision:
    at = next(at for at, row in enumerate(profile.rows) if number < len(row) and row[number] == NULL_MARK)
    shows = (f"line {profile.lines[at]:,}: {NULL_MARK}",)
    why = "other fields have it in quotes, as a text" if column.nullable else "the column takes no NULL"
    evidence = f"{name}: {NULL_MARK} on line {profile.lines[at]:,} means NULL in exports of databases, but {why}."
    flag = f"--map '{name}={mapping.column}:"
    null = "NULL" if column.nullable else "NULL, which makes each such row a bad one"
    answers = (
        Answer(f"the text {NULL_MARK}", f"{flag}plain'", (("null_markers", mapping.null_markers),), shows),
        Answer(null, f"{flag}null={NULL_MARK}'", (("null_markers", (*mapping.null_markers, NULL_MARK)),), shows),
    )
    return Decision("null", "a text", Standing.GUESSED, evidence, name, answers)


def _respelled(profile: Profile, number: int, mapping: ColumnMapping, column: Column) -> ValueList:
    """The values that are in an ENUM's or SET's list but for blanks, each with the member; not those in another case.

    The server takes another case itself, unless the column's collation tells them apart.
    """
    taken = {member.casefold() for member in column.members}
    folded = Counter(map(_folded, column.members))
    members = {fold: member for member in column.members if folded[fold := _folded(member)] == 1}
    pairs = []
    for text in trimmed(non_null_values(profile, number, mapping)) if members else ():
        words = text.split(",") if column.column_type.family is Family.SET else [text]
        found = [members.get(_folded(word)) for word in words]
        if all(found) and not all(word.rstrip(" ").casefold() in taken for word in words):
            pairs.append((text, ",".join(filter(None, found))))
    return tuple(pairs[:MOST_VALUES])


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _spelling_question(name: str, mapping: ColumnMapping, column: Column, values: ValueList) -> Decision:
    old, new = values[0]
    evidence = f"{name}: {shortened(old)} is not in the list of {column.name}, which has {shortened(new)}."
    flag, kept = f"--map '{name}={mapping.column}:", ",".join(mapping.transforms)
    listed = ",".join(filter(None, (kept, *(f"{_escaped(old)}>{_escaped(new)}" for old, new in values[:MOST_SHOWN]))))
    more = ",..." if len(values) > MOST_SHOWN else ""
    shown = tuple(f"{old} → {new}" for old, new in values[:MOST_SHOWN])
    answers = (
        Answer(
            "as they are: bad rows",
            f"{flag}{kept or 'plain'}'",
            (("values", ()),),
            tuple(old for old, _ in values[:MOST_SHOWN]),
        ),
        Answer("as the list has them", f"{flag}{listed}{more}'", (("values", values),), shown),
    )
    return Decision("values", "as they are", Standing.GUESSED, evidence, name, answers)


def _escaped(text: str) -> str:
    """The text as --map takes it in OLD>NEW."""
    return re.sub(r"[\\,>]|(?:null|date)=", r"\\\g<0>", text)


def _key(mapping: ColumnMapping) -> tuple[tuple[str, ...], str]:
    """The mapping's reading as ValueReading.key, without trimming."""
    return tuple(name for name in mapping.transforms if not TRANSFORMS[name].cleans), mapping.datetime_format


def _in_words(mapping: ColumnMapping) -> str:
    return ", ".join(mapping.words) or "as it is"


def _rule(profile: Profile, number: int, mapping: ColumnMapping, column: Column) -> str:
    """The rules that were applied to the values: none is converted, and which become NULL."""
    seen = {value.strip(BLANKS) for value in profile.values_of(number)}
    words = [word or "an empty text" for word in mapping.null_markers if word in seen]
    null = f" {' and '.join(words)} {'is' if len(words) == 1 else 'are'} NULL." if words else ""
    return f"the values are {'read by the server' if column.column_type.is_typed else 'stored'} as they are.{null}"


def question_of(name: str, choice: Choice, proof: str = "") -> str:
    """How a field's values can be read, in a sentence. `proof`: why the sample does not tell, unless as usual."""
    proof = proof or (_NO_DAY if choice.chosen.datetime_format else _NO_PROOF)
    value = choice.differing[0]
    found = [choice.chosen, *(each for each in choice.rivals if each.shown(value) != choice.chosen.shown(value))]
    readings = " or ".join(f"{_brief(each.shown(value))} ({each.words})" for each in found)
    return f"{name}: {shortened(value)} can be {readings}; {proof}."


def answer_of(reading: ValueReading, mapping: ColumnMapping, name: str, values: Sequence[str]) -> Answer:
    """The answer that a field's values are read so. `values`: some that show it."""
    cleaning = tuple(each for each in mapping.transforms if TRANSFORMS[each].cleans)
    transforms = (*cleaning, *reading.transforms)
    words = [*transforms, f"date={reading.datetime_format}" if reading.datetime_format else ""]
    listed = ",".join(filter(None, words)) or "plain"
    return Answer(
        reading.label,
        f"--map '{name}={mapping.column}:{listed}'",
        (("transforms", transforms), ("datetime_format", reading.datetime_format)),
        tuple(f"{_brief(value)} → {_brief(reading.shown(value))}" for value in values[:MOST_SHOWN]),
    )


def _brief(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
