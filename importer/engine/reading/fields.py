"""Decides which field goes into which column: by name, by position, or not at all, and how sure that is."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, field_name
from importer.engine.mapping.suggest import BY_POSITION
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.stated import Stated
from importer.engine.schema.table import Column, Table
from importer.engine.source.profile.decisions import Answer, Decision, Standing
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

    @property
    def by_name(self) -> bool:
        """Whether each mapped field has a name of the header, not a number."""
        return self.profile.dialect.header


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
    decisions = [_match_decision(matching, stated), *_unmatched_decisions(matching, stated)]
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
        near = _near(shown, free)
        if near:
            free.remove(near)
        yield Decision(
            "mapping",
            "left out",
            Standing.GUESSED,
            f"The table {matching.table.name} has no column {shown}.{_hint(near)}",
            shown,
            _answers(matching, number, near),
        )


def _is_blank(profile: Profile, number: int) -> bool:
    """Whether the field has no name, and in a file that the sample holds as a whole no value."""
    whole = len(profile.rows) < SAMPLE_ROWS
    return (
        whole and not profile.header[number].strip() and not any(value.strip() for value in profile.values_of(number))
    )


def _hint(near: Column | None) -> str:
    return f" Its column {near.name}, which no field fills, has a name like it." if near else ""


def _answers(matching: Matching, number: int, near: Column | None) -> tuple[Answer, ...]:
    shown = field_name(matching.profile.header, number)
    samples = tuple(list(matching.profile.values_of(number))[:SAMPLES_SHOWN])
    # The first answer is the one of --accept-guesses: a similar name alone brings no value into a column.
    left_out = Answer("it is left out", f"--map '{shown}='", (("column", ""),), samples)
    if not near:
        return (left_out,)
    return left_out, Answer(
        f"it goes into {near.name}", f"--map '{shown}={near.name}'", (("column", near.name),), samples
    )


def _near(name: str, columns: Sequence[Column]) -> Column | None:
    """The column whose name is most like this one; None if none is."""
    by_name = {column.name.lower(): column for column in columns}
    close = difflib.get_close_matches(name.strip().lower(), by_name, n=1, cutoff=NEAR)
    return by_name[close[0]] if close else None
