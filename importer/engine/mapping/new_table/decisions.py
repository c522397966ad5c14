"""The question about a new column of numbers or dates, of which the sample has a few values that are none."""

from collections import Counter
from collections.abc import Sequence

from importer.engine.mapping.columns import ColumnMapping, field_name
from importer.engine.mapping.new_table.fields import FieldNames, text_type
from importer.engine.mapping.new_table.typed_values import is_value_of, reader, takes_bad_values
from importer.engine.mapping.readings import non_null_values
from importer.engine.schema.new_table import NewTable
from importer.engine.schema.table import Column
from importer.engine.schema.value_kinds import NULL_WORDS
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.profile.profile import Profile
from importer.engine.source.profile.remembered import remembered
from importer.engine.source.records.row_error import shortened
from importer.engine.units import count_of

MOST_SHOWN = 3


def new_column_decisions(profile: Profile, table: NewTable, mapping: Sequence[ColumnMapping]) -> tuple[Decision, ...]:
    """A guess with the name "type" for each new column with such values, unless its type was stated."""
    columns = table.as_table()
    decisions = []
    for number, each in enumerate(mapping):
        if not each.column or each.column in table.stated:
            continue
        column = columns.column(each.column)
        if bad := _bad_values(profile, number, each, column):
            decisions.append(_question(profile, number, column, bad))
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
