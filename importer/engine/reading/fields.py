"""Decides which field goes into which column: by name, by position, or not at all, and how sure that is."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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
_POSITION = (("match", BY_POSITION),)


@dataclass(frozen=True)
class Matching:
    """The fields of a file and the columns of a table that they go into.

    `unmatched`: positions (from 0) of fields without a column. `unfilled`: columns that neither a field nor the import
    fills, and that the server does not number or compute.
    """

    profile: Profile
    table: Table
    mapping: Sequence[ColumnMapping]
    unmatched: tuple[int, ...]
    unfilled: tuple[Column, ...]

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

    @property
    def by_name(self) -> bool:
        """Whether each mapped field has a name of the header, not a number."""
        return self.profile.dialect.header


class Rival(NamedTuple):
    """The field, by its position (from 0), that goes into the column whose name another field has, too."""

    number: int
    column: str


def match_fields(
    profile: Profile, table: Table, mapping: Sequence[ColumnMapping], fillings: Sequence[GeneratedColumn]
) -> Matching:
    """Compare the fields with the columns of the table."""
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
    )


def field_decisions(matching: Matching, stated: Stated) -> tuple[Decision, ...]:
    """The decisions about the fields' columns: one for all matched fields, one for each field without a column."""
    if not any(each.column for each in matching.mapping):
        return ()  # check_mapping() refuses that.
    decisions = [
        _match_decision(matching, stated),
        *_chosen_decisions(matching, stated),
        *_unmatched_decisions(matching, stated),
    ]
    if matching.unfilled:
        names = ", ".join(column.name for column in matching.unfilled)
        decisions.append(
            Decision(
                "unfilled_columns",
                f"{names}: {_left(matching.unfilled)}",
                Standing.RULE,
                f"No field of the file goes into {names}: {_left(matching.unfilled)}.",
            )
        )
    return tuple(decisions)


def _left(columns: Sequence[Column]) -> str:
    """What the columns without a field contain afterwards."""
    # MariaDB reports the default NULL as the text "NULL".
    defaults = [column.default not in (None, "NULL") for column in columns]
    return "their default" if all(defaults) else "NULL or their default" if any(defaults) else "NULL"


def _match_decision(matching: Matching, stated: Stated) -> Decision:
    if stated.mapping:
        return Decision("match", "as stated", Standing.STATED, "The column of each field was given.")
    if matching.by_name:
        return Decision("match", "by name", Standing.PROVED, "The fields have the names of the columns.")
    return _by_position(matching)


def _by_position(matching: Matching) -> Decision:
    """By position, a rule if the sample's values fit the types of at least one typed column; otherwise a guess."""
    fits = {each.name.lower(): each.fits for each in expected_columns(matching.table) if each.fits}
    typed = [
        (number, fits[each.column.lower()])
        for number, each in enumerate(matching.mapping)
        if each.column.lower() in fits
    ]
    rows = matching.profile.rows
    good = [number for number, fit in typed if all(number >= len(row) or fit(row[number]) for row in rows)]
    if good and len(good) == len(typed):
        names = ", ".join(matching.mapping[number].column for number in good[:SAMPLES_SHOWN])
        return Decision(
            "match",
            "by position",
            Standing.RULE,
            "The file has no header, and as many fields as the table has columns to fill: they go in by position. All"
            f" values fit {names}.",
        )
    names = ", ".join(matching.mapping[number].column for number, _ in typed if number not in good)
    if not names:
        evidence = "The file has no header: its fields go into the columns of the table by position."
        return Decision("match", "by position", Standing.RULE, evidence)
    pairs = tuple(f"{each.column} = {value}" for each, value in zip(matching.mapping, rows[0], strict=False))
    return Decision(
        "match",
        "by position",
        Standing.GUESSED,
        f"The file has no header, and by position some values do not fit {names}.",
        answers=(
            Answer("by position, in the order of the table", "--match position", _POSITION, pairs[:SAMPLES_SHOWN]),
        ),
    )


def _unmatched_decisions(matching: Matching, stated: Stated) -> Iterator[Decision]:
    """For each field without a column: stated if it was left out on purpose, otherwise guessed."""
    free = list(matching.unfilled)
    for number in matching.unmatched:
        shown = field_name(matching.profile.header, number)
        if stated.leaves_out(number):
            yield Decision("mapping", "left out", Standing.STATED, f"The field {shown} is left out, as stated.", shown)
            continue
        if _is_blank(matching.profile, number):
            yield Decision(
                "mapping", "left out", Standing.PROVED, f"The field {shown} has neither a name nor a value.", shown
            )
            continue
        if rival := _rival(matching, number):
            yield _doubled_decision(matching, number, rival, stated)
            continue
        near = _near(shown, free)
        if near:
            free.remove(near)
        yield Decision(
            "mapping",
            "left out",
            Standing.GUESSED,
            f"{_without_column(matching, number)}{_hint(near)}",
            shown,
            _answers(matching, number, near),
        )


def row_name_decisions(matching: Matching, stated: Stated) -> Iterator[Decision]:
    """The question whether a new table has a column for the first field, if the header has no name for it."""
    named = any(each.name == "row_names" for each in matching.profile.decisions)
    if named and matching.mapping[0].column and 0 not in stated.fields:
        column, shown = matching.mapping[0].column, field_name(matching.profile.header, 0)
        kept = Answer(
            f"it goes into {column}", f"--map '{shown}={column}'", (("column", column),), _samples(matching, 0)
        )
        evidence = "The first field has no name in the header: R, for example, writes the names of rows so."
        yield Decision("mapping", column, Standing.GUESSED, evidence, shown, (kept, _left_out(matching, 0)))


def _rival(matching: Matching, number: int) -> Rival | None:
    """The field that has the column whose name this field has, too; None if there is none."""
    column = matching.namesakes.get(number, "")
    at = next((at for at, each in enumerate(matching.mapping) if column and each.column == column), None)
    return None if at is None else Rival(at, column)


def _doubled_evidence(number: int, rival: Rival) -> str:
    first, second = sorted((number + 1, rival.number + 1))
    return (
        f"Fields {first} and {second} of the file both have the name of the column {rival.column}:"
        f" field {rival.number + 1} goes into it."
    )


def _chosen_decisions(matching: Matching, stated: Stated) -> Iterator[Decision]:
    """For each field that has its column by a rule, because another one has the name of the column, too."""
    if stated.mapping:
        return
    rivals = ((number, _rival(matching, number)) for number in matching.unmatched)
    for at, (number, rival) in {rival.number: (number, rival) for number, rival in rivals if rival}.items():
        if at not in stated.fields:
            standing = Standing.STATED if number in stated.fields else Standing.RULE
            name = field_name(matching.profile.header, at)
            yield Decision("mapping", rival.column, standing, _doubled_evidence(number, rival), name)


def _doubled_decision(matching: Matching, number: int, rival: Rival, stated: Stated) -> Decision:
    """A guess which of two fields the column is for, unless the other one was stated to go into it."""
    shown, evidence = field_name(matching.profile.header, number), _doubled_evidence(number, rival)
    if rival.number in stated.fields:
        return Decision("mapping", "left out", Standing.STATED, evidence, shown)
    answers = (
        _left_out(matching, number),
        Answer(
            f"it goes into {rival.column}, and field {rival.number + 1} is left out",
            f"--map '{shown}={rival.column}'",
            (("column", rival.column),),
            _samples(matching, number),
        ),
    )
    return Decision("mapping", "left out", Standing.GUESSED, f"{evidence} Field {number + 1} has none.", shown, answers)


def _is_blank(profile: Profile, number: int) -> bool:
    """Whether the field has no name, and in a file that the sample holds as a whole no value."""
    whole = len(profile.rows) < SAMPLE_ROWS
    return (
        whole and not profile.header[number].strip() and not any(value.strip() for value in profile.values_of(number))
    )


def _without_column(matching: Matching, number: int) -> str:
    shown = field_name(matching.profile.header, number)
    if not matching.profile.header[number].strip():
        return f"Field {number + 1} has no name in the header, and goes into no column."
    if number in matching.namesakes:
        return f"The field {shown} goes into no column, although the table has the column {matching.namesakes[number]}."
    return f"The table {matching.table.name} has no column {shown}."


def _hint(near: Column | None) -> str:
    return f" Its column {near.name}, which no field fills, has a name like it." if near else ""


def _answers(matching: Matching, number: int, near: Column | None) -> tuple[Answer, ...]:
    # The first answer is the one of --accept-guesses: a similar name alone brings no value into a column.
    left_out = _left_out(matching, number)
    if not near:
        return (left_out,)
    flag = f"--map '{field_name(matching.profile.header, number)}={near.name}'"
    return left_out, Answer(f"it goes into {near.name}", flag, (("column", near.name),), _samples(matching, number))


def _left_out(matching: Matching, number: int) -> Answer:
    flag = f"--map '{field_name(matching.profile.header, number)}='"
    return Answer("it is left out", flag, (("column", ""),), _samples(matching, number))


def _samples(matching: Matching, number: int) -> tuple[str, ...]:
    return tuple(list(matching.profile.values_of(number))[:SAMPLES_SHOWN])


def _near(name: str, columns: Sequence[Column]) -> Column | None:
    """The column whose name is most like this one; None if none is."""
    by_name = {column.name.lower(): column for column in columns}
    close = difflib.get_close_matches(name.strip().lower(), by_name, n=1, cutoff=NEAR)
    return by_name[close[0]] if close else None
