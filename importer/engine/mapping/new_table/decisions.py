"""The questions about new columns: numbers or dates with a few values that are none, or with several readings."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from importer.engine.mapping.column_decisions import answer_of, question_of
from importer.engine.mapping.columns import ColumnMapping, field_name
from importer.engine.mapping.new_table.fields import FieldNames, read_field, text_type
from importer.engine.mapping.new_table.typed_values import is_value_of, reader, takes_bad_values
from importer.engine.mapping.readings import non_null_values
from importer.engine.mapping.transforms import BLANKS
from importer.engine.schema.new_table import NewTable
from importer.engine.schema.table import Column
from importer.engine.schema.value_kinds import NULL_WORDS
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.profile.profile import Profile
from importer.engine.source.profile.remembered import remembered
from importer.engine.source.records.row_error import shortened
from importer.engine.units import count_of

MOST_SHOWN = 3


def new_column_decisions(
    profile: Profile, table: NewTable, mapping: Sequence[ColumnMapping], given: Collection[int] = ()
) -> tuple[Decision, ...]:
    """A guess with the name "type" for each new column with such values, unless its type was stated.

    `given`: the positions (from 0) of fields whose format was stated.
    """
    columns = table.as_table()
    decisions = []
    for number, each in enumerate(mapping):
        if not each.column or each.column in table.stated:
            continue
        column = columns.column(each.column)
        if bad := _bad_values(profile, number, each, column):
            decisions.append(_question(profile, number, column, bad))
        elif number not in given and not each.words and not column.column_type.is_typed:
            decisions += _doubts(profile, number, each, column)
    return tuple(decisions)


def _bad_values(profile: Profile, number: int, mapping: ColumnMapping, column: Column) -> list[str]:
    """The values of the sample that are not of the column's type, in the file's order.

    Words such as NA are not asked about: they are NULL unless the mapping was changed.
    """
    return _not_of(non_null_values(profile, number, mapping), mapping, column) if takes_bad_values(column) else []


@remembered
def _not_of(values: Counter[str], mapping: ColumnMapping, column: Column) -> list[str]:
    if not (read := reader(mapping, column)):
        return []
    return [each for each in values if each.strip() not in NULL_WORDS and not is_value_of(column, read(each))]


def _doubts(profile: Profile, number: int, mapping: ColumnMapping, column: Column) -> Iterator[Decision]:
    """The question how to read values that are a text because they could be different numbers or dates."""
    names = FieldNames(field_name(profile.header, number), column.name)
    values = profile.values_of(number)
    known = Counter({text: times for text, times in values.items() if text.strip(BLANKS) not in NULL_WORDS})
    choice = read_field(names, known, profile.dialect.delimiter).doubt
    if choice:
        text = (("type", column.type), ("transforms", ()), ("datetime_format", ""))
        readings = (choice.chosen, *choice.rivals)
        yield Decision(
            "type",
            f"{column.type}, as it is",
            Standing.GUESSED,
            question_of(names.field, choice),
            names.field,
            (
                Answer("a text, as it is", names.typed(column.type), text, choice.differing),
                *(answer_of(each, mapping, names.field, choice.differing) for each in readings),
            ),
        )


def _question(profile: Profile, number: int, column: Column, bad: Sequence[str]) -> Decision:
    names = FieldNames(field_name(profile.header, number), column.name)
    kind = "number" if column.column_type.is_number else "date"
    lines = [
        (line, row[number])
        for line, row in zip(profile.lines, profile.rows, strict=True)
        if number < len(row) and row[number] in bad
    ]
    line, value = lines[0]
    shows = tuple(f"line {line:,}: {value}" for line, value in lines[:MOST_SHOWN])
    text = text_type(profile.values_of(number))
    of_all = f"{len(lines):,} of {count_of(len(profile.rows), 'value')} {'is' if len(lines) == 1 else 'are'}"
    return Decision(
        "type",
        f"{column.type}; {of_all} none",
        Standing.GUESSED,
        f"{names.field}: {shortened(value)} on line {line:,} is no {kind}, as the others are ({of_all} none).",
        names.field,
        (
            Answer(
                f"a column of {kind}s ({column.type}), which takes no such row",
                f"{names.typed(column.type)} --on-error reject",
                (("type", column.type),),
                shows,
            ),
            Answer("a text", names.typed(text), (("type", text), ("transforms", ()), ("datetime_format", "")), shows),
            Answer(
                f"{shortened(value)} means NULL",
                names.mapped(f"null={value}"),
                (("null_markers", ("", value)),),
                shows,
            ),
        ),
    )
