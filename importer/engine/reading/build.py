"""Builds the reading of a file from its profile, its table and its mapping."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from importer.engine.mapping.column_decisions import column_decisions
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, field_name, with_listed
from importer.engine.mapping.new_table.decisions import new_column_decisions
from importer.engine.mapping.warnings import mapping_notes
from importer.engine.reading.fields import Matching, field_decisions, match_fields, row_name_decisions
from importer.engine.reading.reading import FieldReading, Reading
from importer.engine.reading.stated import NOTHING, Stated
from importer.engine.schema.new_table import NewTable
from importer.engine.schema.table import Table
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.profile.profile import Profile

# From the surest on.
_SURENESS = (Standing.PROVED, Standing.STATED, Standing.RULE, Standing.GUESSED)
# The decisions whose rule is noted where it was applied.
_NOTED = {
    *("unfilled_columns", "mapping", "statements", "dump_end", "content", "file_end"),
    *("comment", "quote", "escape", "skip_after_header", "skip_footer", "row_names"),
}


def make_reading(
    profile: Profile,
    table: Table,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[GeneratedColumn] = (),
    stated: Stated = NOTHING,
    new_table: NewTable | None = None,
    kept: bool = False,
) -> Reading:
    """The reading of the file for this table, which is `new_table` if the import makes it.

    `stated`: the decisions that a user made, which are not asked for. `kept`: columns that no field goes into stay as
    they are.
    """
    matching = match_fields(profile, table, mapping, fillings, kept)
    given = range(len(mapping)) if stated.mapping else stated.formats
    listed = with_listed(profile, dict(enumerate(mapping)))
    of_values = column_decisions(listed, table, mapping, given, is_new=new_table is not None)
    if new_table and not stated.mapping:
        new = new_column_decisions(listed, new_table, mapping, given)
        of_values = (*of_values, *new, *row_name_decisions(matching, stated))
    decisions = (*_format_decisions(profile, stated), *field_decisions(matching, stated), *of_values)
    decisions = stated.settle(decisions)
    return Reading(
        dialect=profile.dialect,
        decisions=decisions,
        columns=_columns(matching, decisions, stated),
        unmatched_fields=matching.unmatched_names,
        unfilled_columns=tuple(column.name for column in matching.unfilled),
        skipped_lines=profile.skipped,
        notes=(
            *(_notes_of(new_table) if new_table else ()),
            *_rules(decisions, of_new_table=new_table is not None),
            *mapping_notes(listed, table, mapping),
        ),
    )


def _notes_of(table: NewTable) -> Iterable[str]:
    return filter(None, (*table.notes, table.key_note))


def _format_decisions(profile: Profile, stated: Stated) -> Iterable[Decision]:
    if not stated.format:
        return profile.decisions
    differing = {each.name for each in profile.differing}
    others = (each for each in profile.decisions if each.name not in differing)
    return (*profile.differing, *(replace(each, standing=Standing.STATED, answers=()) for each in others))


def _columns(matching: Matching, decisions: Sequence[Decision], stated: Stated) -> tuple[FieldReading, ...]:
    """Each field with its column and format, and the standing of the least sure decision about it."""
    types = {column.name.lower(): column.type for column in matching.table.columns}
    # The last of several decisions counts: the least sure one.
    about: dict[str, Decision] = {each.field: each for each in sorted(decisions, key=_sureness) if each.field}
    whole = next((each for each in decisions if each.name == "match"), None)
    readings = []
    for number, (field, each) in enumerate(zip(matching.profile.header, matching.mapping, strict=False)):
        decision = about.get(field_name(matching.profile.header, number), whole) or _no_column(field, stated)
        readings.append(
            FieldReading(
                field,
                each.column,
                types.get(each.column.lower(), ""),
                ", ".join(each.words),
                each.null_markers,
                decision.standing,
                decision.evidence,
            )
        )
    return tuple(readings)


def _no_column(field: str, stated: Stated) -> Decision:
    """The decision about a field of a file of which no field has the name of a column."""
    standing = Standing.STATED if stated.mapping else Standing.RULE
    return Decision("mapping", "left out", standing, "No field of the file has the name of a column.", field)


def _sureness(decision: Decision) -> tuple[int, bool]:
    """What orders decisions by how sure they are, those about the column of a field last among others."""
    return _SURENESS.index(decision.standing), decision.name == "mapping"


def _rules(decisions: Sequence[Decision], of_new_table: bool) -> Iterator[str]:
    """The rules that were applied and are worth a look although they are not asked about.

    In a new table the fields have columns of their own, whose order needs no note.
    """
    noted = _NOTED if of_new_table else _NOTED | {"match"}
    rules = (each for each in decisions if each.standing is Standing.RULE and each.name in noted)
    return (each.evidence for each in rules if each.evidence)
