"""Decides which field goes into which column: by name, by position, or not at all, and how sure that is."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, field_name
from importer.engine.mapping.suggest import BY_POSITION
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.stated import Stated
from importer.engine.schema.table import Column, Table
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.formats.header_names import exact_name, loose_name
from importer.engine.source.profile.profile import SAMPLE_ROWS, Profile

SAMPLES_SHOWN = 3
# The least similarity (0 to 1, difflib) of two names of which one may be the other, misspelt.
NEAR = 0.6


@dataclass(frozen=True)
class Matching:
    """The fields of a file and the columns of a table that they go into.

    `unmatched`: positions (from 0) of fields without a column. `unfilled`: columns that neither a field nor the import
    fills, and that the server does not number or compute; `kept`: they stay as they are.
    """

    profile: Profile
    table: Table
    mapping: Sequence[ColumnMapping]
    unmatched: tuple[int, ...]
    unfilled: tuple[Column, ...]
    kept: bool = False

    @property
    def unmatched_names(self) -> tuple[str, ...]:
        return tuple(self.profile.header[number] for number in self.unmatched)

    @cached_property
    def namesakes(self) -> dict[int, str]:
        """For fields without a column, by position (from 0), the column of the table that has their name."""
        exact = {exact_name(name): name for name in self.table.column_names}
        loose = {loose_name(name): name for name in self.table.column_names} | {"": ""}
        names = ((number, self.profile.header[number]) for number in self.unmatched)
        found = {number: exact.get(exact_name(name)) or loose.get(loose_name(name), "") for number, name in names}
        return {number: column for number, column in found.items() if column}

    def shown(self, number: int) -> str:
        """The name of a field, by position (from 0), as messages and flags have it."""
        return field_name(self.profile.header, number)

    def rival(self, number: int) -> int | None:
        """The field that has the column whose name this field has, too, by position (from 0); None if there is none."""
        column = self.namesakes.get(number, "")
        return next((at for at, each in enumerate(self.mapping) if column and each.column == column), None)

    def goes_into(self, number: int, column: str, more: str = "") -> Answer:
        """The answer that a field goes into this column, or into none."""
        label = f"put it into {column}{more}" if column else "leave it out"
        samples = tuple(list(self.profile.values_of(number))[:SAMPLES_SHOWN])
        return Answer(label, f"--map '{self.shown(number)}={column}'", (("column", column),), samples)


def match_fields(
    profile: Profile,
    table: Table,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[GeneratedColumn],
    kept: bool = False,
) -> Matching:
    """Compare the fields with the columns of the table. `kept`: those that no field goes into stay as they are."""
    filled = {each.column.lower() for each in mapping} | {each.column.lower() for each in fillings}
    return Matching(
        profile,
        table,
        mapping,
        tuple(number for number, each in enumerate(mapping) if not each.column),
        tuple(
            column
            for column in table.fillable_columns
            if column.name.lower() not in filled and not column.auto_increment
        ),
        kept,
    )


def field_decisions(matching: Matching, stated: Stated) -> tuple[Decision, ...]:
    """The decisions about the fields' columns: one for all matched fields, one for each field without a column."""
    if not any(each.column for each in matching.mapping):
        return ()  # check_mapping() refuses that.
    matched = [_match_decision(matching, stated), *_chosen_decisions(matching, stated)]
    free = list(matching.unfilled)
    unmatched = [_unmatched_decision(matching, number, free, stated) for number in matching.unmatched]
    if not matching.unfilled:
        return (*matched, *unmatched)
    names = ", ".join(column.name for column in matching.unfilled)
    # MariaDB reports the default NULL as the text "NULL".
    defaults = [column.default not in (None, "NULL") for column in matching.unfilled]
    if matching.kept:
        left = "as they are"
    else:
        left = "their default" if all(defaults) else "NULL or their default" if any(defaults) else "NULL"
    evidence = f"No field of the file goes into {names}: {left}."
    return (*matched, *unmatched, Decision("unfilled_columns", f"{names}: {left}", Standing.RULE, evidence))


def _match_decision(matching: Matching, stated: Stated) -> Decision:
    """By name, or by position: a rule if the sample's values fit the types of all typed columns; otherwise a guess."""
    if stated.mapping:
        return Decision("match", "as stated", Standing.STATED, "The column of each field was given.")
    if matching.profile.dialect.header:
        return Decision("match", "by name", Standing.PROVED, "The fields have the names of the columns.")
    types = {each.name.lower(): each.fits for each in expected_columns(matching.table)}
    rows = matching.profile.rows
    good, bad = list[str](), list[str]()
    for number, each in enumerate(matching.mapping):
        if fits := types.get(each.column.lower()):
            fit = all(number >= len(row) or fits(row[number]) for row in rows)
            (good if fit else bad).append(each.column)
    if bad:
        pairs = tuple(f"{each.column} = {value}" for each, value in zip(matching.mapping, rows[0], strict=False))
        label, states = "by position, in the order of the table", (("match", BY_POSITION),)
        return Decision(
            "match",
            "by position",
            Standing.GUESSED,
            f"The file has no header, and by position some values do not fit {', '.join(bad)}.",
            answers=(Answer(label, "--match position", states, pairs[:SAMPLES_SHOWN]),),
        )
    evidence = "The file has no header: its fields go into the columns of the table by position."
    if good:
        evidence = (
            "The file has no header, and as many fields as the table has columns to fill: they go in by position. All"
            f" values fit {', '.join(good[:SAMPLES_SHOWN])}."
        )
    return Decision("match", "by position", Standing.RULE, evidence)


def _unmatched_decision(matching: Matching, number: int, free: list[Column], stated: Stated) -> Decision:
    """For a field without a column: stated if it was left out on purpose, otherwise guessed.

    `free`: the columns that no field fills; the one of the nearest name is taken off. The first answer is the one of
    --accept-guesses: a similar name alone brings no value into a column.
    """
    shown = matching.shown(number)
    left_out = partial(Decision, "mapping", "left out", field=shown)
    if stated.leaves_out(number):
        return left_out(Standing.STATED, f"The field {shown} is left out, as stated.")
    if _is_blank(matching.profile, number):
        return left_out(Standing.PROVED, f"The field {shown} has neither a name nor a value.")
    answers = [matching.goes_into(number, "")]
    rival = matching.rival(number)
    if rival is not None:
        evidence = _doubled_evidence(matching, number, rival)
        if rival in stated.fields:
            return left_out(Standing.STATED, evidence)
        evidence += f" Field {number + 1} has none."
        other = f", and field {rival + 1} is left out"
        answers.append(matching.goes_into(number, matching.mapping[rival].column, other))
    else:
        evidence = _without_column(matching, number)
        by_name = {column.name.lower(): column for column in free}
        for name in difflib.get_close_matches(shown.strip().lower(), by_name, n=1, cutoff=NEAR):
            near = by_name[name]
            free.remove(near)
            evidence += f" Its column {near.name}, which no field fills, has a name like it."
            answers.append(matching.goes_into(number, near.name))
    return left_out(Standing.GUESSED, evidence, answers=tuple(answers))


def row_name_decisions(matching: Matching, stated: Stated) -> Iterator[Decision]:
    """The question whether a new table has a column for the first field, if the header has no name for it."""
    named = any(each.name == "row_names" for each in matching.profile.decisions)
    column = matching.mapping[0].column
    if named and column and 0 not in stated.fields:
        evidence = "The first field has no name in the header: R, for example, writes the names of rows so."
        answers = matching.goes_into(0, column), matching.goes_into(0, "")
        yield Decision("mapping", column, Standing.GUESSED, evidence, matching.shown(0), answers)


def _doubled_evidence(matching: Matching, number: int, rival: int) -> str:
    first, second = sorted((number + 1, rival + 1))
    return (
        f"Fields {first} and {second} of the file both have the name of the column {matching.mapping[rival].column}:"
        f" field {rival + 1} goes into it."
    )


def _chosen_decisions(matching: Matching, stated: Stated) -> Iterator[Decision]:
    """For each field that has its column by a rule, because another one has the name of the column, too."""
    rivals = {matching.rival(number): number for number in matching.unmatched if not stated.mapping}
    for at, number in rivals.items():
        if at is not None and at not in stated.fields:
            standing = Standing.STATED if number in stated.fields else Standing.RULE
            evidence = _doubled_evidence(matching, number, at)
            yield Decision("mapping", matching.mapping[at].column, standing, evidence, matching.shown(at))


def _is_blank(profile: Profile, number: int) -> bool:
    """Whether the field has no name, and in a file that the sample holds as a whole no value."""
    whole = len(profile.rows) < SAMPLE_ROWS
    return whole and not profile.header[number].strip() and not any(map(str.strip, profile.values_of(number)))


def _without_column(matching: Matching, number: int) -> str:
    shown = matching.shown(number)
    if not matching.profile.header[number].strip():
        return f"Field {number + 1} has no name in the header, and goes into no column."
    if number in matching.namesakes:
        return f"The field {shown} goes into no column, although the table has the column {matching.namesakes[number]}."
    return f"The table {matching.table.name} has no column {shown}."
