"""Column mappings, generated columns and a user's overrides, with the checks of a mapping against the table."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from zlib import crc32

from importer.engine.errors import Problem
from importer.engine.mapping.transforms import BLANKS, TRANSFORMS, check_transforms
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table
from importer.engine.schema.value_kinds import is_number
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.profile import Profile

# A value list: texts of a field, each with the text that stands for it in the table.
ValueList = tuple[tuple[str, str], ...]
# Texts of a list; each is compared with each value.
MOST_VALUES = 1000
MOST_NAMED = 3


@dataclass(frozen=True)
class Lookup:
    """Where the number for a column is found: in the row of `table` whose `column` equals the field's text.

    The rest is known once the target was asked (preflight/lookups.py): `key`, the column with the number; the
    `database` of the table, which is the `schema` if one was named; collation and character set of `column`; whether
    blanks at the end do not count (`pads`); and how many variables of a session hold the parent (lookups.py).
    """

    table: str
    column: str
    schema: str = ""
    key: str = ""
    collation: str = ""
    charset: str = ""
    pads: bool = False
    buckets: int = 0
    database: str = ""

    @classmethod
    def of(cls, text: str) -> "Lookup":
        """The lookup that is written as `team.name` or `schema.team.name`. Raises Problem for another text."""
        *schema, table, column = ["", *text.strip().split(".")]
        if not (table and column) or len(schema) > 2:
            raise Problem(f"{text!r} is not TABLE.COLUMN.", advice="Name a table and its column, such as team.name.")
        return cls(table, column, schema[-1])

    @property
    def text(self) -> str:
        """What of() reads."""
        return ".".join(filter(None, (self.schema, self.table, self.column)))

    @property
    def words(self) -> str:
        return f"lookup({self.text})"

    @property
    def digest(self) -> str:
        return f"{crc32(f'{self.database}.{self.text}.{self.key}'.encode()):08x}"


@dataclass(frozen=True)
class NewParents:
    """The texts of a field for which the table of its lookup gets rows, if it has none with them.

    `field` is the field's position (from 0), `column` the one that it goes into. `text` is SQL for the text that is
    looked up, which refers to the field as `raw.text`.
    """

    field: int
    column: str
    text: str
    lookup: Lookup


@dataclass(frozen=True)
class ColumnMapping:
    """The mapping of one field of the file, by position.

    `column` "" leaves the field out. `transforms` are names from transforms.TRANSFORMS. A value that equals one of
    `null_markers`, byte for byte after trimming, becomes NULL. `datetime_format` consists of date_formats.PARTS, such
    as `%Y-%m-%dT%H:%i:%sZ`; with "" the server reads the text itself. A text of `values`, equal byte for byte after
    trimming, is replaced before anything else reads it. With a `lookup` the column gets the number of a row that has
    the text.
    """

    column: str
    null_markers: tuple[str, ...] = ()
    datetime_format: str = ""
    transforms: tuple[str, ...] = ()
    values: ValueList = ()
    lookup: Lookup | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """How the values are read, in a few words each; () for as they are."""
        lookup = self.lookup.words if self.lookup else ""
        return tuple(filter(None, (*self.transforms, self.datetime_format, described_values(self.values), lookup)))

    @property
    def replacements(self) -> dict[str, str]:
        """What each text of the value list is read as: the new text, trimmed as the field is."""
        cleans = [clean for name in self.transforms if (clean := TRANSFORMS[name].clean)]
        replaced = dict(self.values)
        for clean in cleans:
            replaced = {old: clean(new) for old, new in replaced.items()}
        return replaced


@dataclass(frozen=True)
class GeneratedColumn:
    """A column that no field of the file fills, with the source of its values.

    `source` is one of SOURCES: "text" is the constant `text`, "file" the file's name, "row" the number of the record
    among the file's data, "line" the physical line on which the record begins (both from 1), and "time" the start of
    the job (UTC), equal for all its rows.
    """

    column: str
    source: str
    text: str = ""


SOURCES = ("text", "file", "row", "line", "time")


@dataclass(frozen=True)
class FieldOverride:
    """A user's choices for one field, which is given by its name in the header or as `#3`.

    `column` "" leaves the field out. None keeps the suggestion.
    """

    field: str
    column: str
    transforms: tuple[str, ...] | None = None
    null_markers: tuple[str, ...] | None = None
    datetime_format: str | None = None
    values: ValueList | None = None
    lookup: Lookup | None = None


def field_name(header: Sequence[str], number: int) -> str:
    """The name of the field at the position (from 0) as flags take it: #3 without a name, or with one that is taken."""
    return _field_names(tuple(header))[number]


@lru_cache(maxsize=16)
def _field_names(header: tuple[str, ...]) -> tuple[str, ...]:
    first: dict[str, int] = {}
    for number, name in enumerate(header):
        first.setdefault(name.strip().lower(), number)
    return tuple(
        name.strip() if name.strip() and first[name.strip().lower()] == number else f"#{number + 1}"
        for number, name in enumerate(header)
    )


def _positions(header: Sequence[str]) -> dict[str, int]:
    """The position of the first field of each name."""
    return {name.strip().lower(): number for number, name in reversed(list(enumerate(header)))}


def position_of(field: str, header: Sequence[str]) -> int:
    """The position, from 0, of the field with this name in the header, or of `#3`. Raises Problem without one."""
    return _position(field, header, _positions(header))


def _position(field: str, header: Sequence[str], positions: Mapping[str, int]) -> int:
    if (found := positions.get(field.strip().lower())) is not None:
        return found
    numbered = re.fullmatch("#([0-9]{1,9})", field)
    if numbered and 1 <= int(numbered[1]) <= len(header):
        return int(numbered[1]) - 1
    raise Problem(f"The file has no field {field}.", advice=f"It has {', '.join(header)}.")


def overrides_by_position(overrides: Sequence[FieldOverride], header: Sequence[str]) -> dict[int, FieldOverride]:
    """Overrides by the position of their field, from 0. Raises Problem for a field that is unknown or given twice."""
    by_position: dict[int, FieldOverride] = {}
    positions = _positions(header) if overrides else {}
    for each in overrides:
        position = _position(each.field, header, positions)
        if position in by_position:
            raise Problem(f"The field {each.field} is mapped twice.", advice="Map it once.")
        by_position[position] = each
    return by_position


def described_values(values: Iterable[Sequence[str]]) -> str:
    """The value list in words: its first pairs, and how many more there are; "" for none."""
    pairs = [f"{old or '(empty)'} → {new or '(empty)'}" for old, new in values]
    more = [f"{len(pairs) - MOST_NAMED} more replaced"] if len(pairs) > MOST_NAMED else []
    return ", ".join(pairs[:MOST_NAMED] + more)


def with_listed(profile: Profile, mapping: Mapping[int, ColumnMapping | FieldOverride]) -> Profile:
    """The profile of a file that has the new texts of the value lists itself.

    `mapping`: what has the lists, by the position of the field, from 0. Blanks around a text stay.
    """
    lists = {number: dict(each.values) for number, each in mapping.items() if each.values}
    if not lists:
        return profile
    rows = (
        tuple(_listed(value, lists[at], profile) if at in lists else value for at, value in enumerate(row))
        for row in profile.rows
    )
    return replace(profile, rows=tuple(rows))


def _listed(value: str, values: Mapping[str, str], profile: Profile) -> str:
    bare = value.strip(BLANKS)
    if bare not in values or (value and value == profile.dialect.null):
        return value
    before, after = (value[: value.index(bare)], value[value.index(bare) + len(bare) :]) if bare else ("", "")
    return f"{before}{values[bare]}{after}"


def check_values(values: ValueList, column: str) -> None:
    """Raise Problem for a text that is listed twice, and for a list that is too long."""
    given: set[str] = set()
    for old, _ in values:
        if old in given:
            raise Problem(f"The values of {column} have {old!r} twice.", advice="Replace each text once.")
        given.add(old)
    if len(values) > MOST_VALUES:
        what = f"{len(values):,} values of {column} are to be replaced; {MOST_VALUES:,} can be."
        raise Problem(what, advice="Load the texts, and replace them with a table of them on the server.")


def map_by_name(header: Sequence[str], table: Table) -> tuple[ColumnMapping, ...]:
    """Map each field of the header to the column of its name (source/formats/header_names.py)."""
    columns = [column.name for column in table.fillable_columns]
    return tuple(ColumnMapping(column) for column in match_names(header, columns))


def check_mapping(mapping: Sequence[ColumnMapping], table: Table, fillings: Sequence[GeneratedColumn] = ()) -> None:
    """Raise Problem as check_given() does, and if a column that must have a value is not given."""
    check_given(mapping, table, fillings)
    given = {each.column.lower() for each in mapping} | {each.column.lower() for each in fillings}
    missing = [column.name for column in table.columns if column.required and column.name.lower() not in given]
    if missing:
        raise Problem(
            f"No field of the file goes into {', '.join(missing)}, which must have a value.",
            advice="Choose a field for it, or what fills it, or give the column a default in the table.",
        )


def check_given(
    mapping: Sequence[ColumnMapping],
    table: Table,
    fillings: Sequence[GeneratedColumn] = (),
    of_bytes: Collection[int] = (),
) -> None:
    """Raise Problem if no column is given, or one that is unknown, computed by the server, or given twice.

    Also if the transforms, formats and sources do not suit their columns. `fillings`: the generated columns.
    `of_bytes`: the fields that have bytes (Profile), whose digits no column of bytes may store as text.
    """
    given = [each.column.lower() for each in mapping if each.column]
    if not given:
        each_field = "choose one for each field, or match them by position: --match position."
        if len(mapping) == 1:
            each_field = (
                "choose one for the only field. If a line has several fields, state their --delimiter; if they touch,"
                " state their --widths."
            )
        columns = ", ".join(table.column_names)
        raise Problem(
            "No field of the file goes into a column of the table.",
            advice=f"The table has the columns {columns}; {each_field}",
        )
    known = {column.name.lower(): column for column in table.columns}
    given += [each.column.lower() for each in fillings]
    for name in given:
        _check_column(name, given, known, table)
    for each in mapping:
        if each.column:
            check_transforms(each.transforms, each.datetime_format, known[each.column.lower()])
            check_values(each.values, each.column)
            _check_lookup(each)
    for number in of_bytes:
        if mapping[number].column:
            _check_bytes(number, mapping[number], known[mapping[number].column.lower()])
    for filling in fillings:
        _check_filling(filling, known[filling.column.lower()])


def _check_lookup(mapping: ColumnMapping) -> None:
    read = [name for name in mapping.transforms if not TRANSFORMS[name].cleans] + [mapping.datetime_format]
    if mapping.lookup and any(read):
        what = f"{mapping.column} is to be looked up, and read in another way: {', '.join(filter(None, read))}."
        raise Problem(what, advice="Choose one of them.")


def _check_column(name: str, given: list[str], known: dict[str, Column], table: Table) -> None:
    if name not in known:
        raise Problem(
            f"The table {table.name} has no column {name}.", advice=f"It has {', '.join(table.column_names)}."
        )
    if known[name].generated:
        raise Problem(f"The server computes the column {name} itself.", advice="Leave the field out.")
    if given.count(name) > 1:
        raise Problem(f"The column {name} is given twice.", advice="Leave one of its fields or values out.")


def _check_bytes(number: int, mapping: ColumnMapping, column: Column) -> None:
    type_ = column.column_type
    if not type_.shown_as_bytes or any(not TRANSFORMS[name].cleans for name in mapping.transforms):
        return
    raise Problem(
        f"The field for {column.name} has bytes, read as hexadecimal digits, and {column.type} would store the digits.",
        advice=f"Read it with the transform hex: --map '#{number + 1}={column.name}:hex'."
        if type_.takes_hex
        else "Change the column to BLOB, or leave the field out.",
    )


def _check_filling(filling: GeneratedColumn, column: Column) -> None:
    if filling.source not in SOURCES:
        raise Problem(
            f"{column.name} is to be filled from {filling.source!r}.", advice=f"Choose one of {', '.join(SOURCES)}."
        )
    type_ = column.column_type
    numeric = type_.is_number or type_.family is Family.YEAR
    if filling.source == "text" and numeric and not is_number(filling.text, fraction=type_.has_fraction):
        raise Problem(
            f"{filling.text!r} is not a number that {column.name} ({column.type}) takes.",
            advice="Write it with digits, and a point where decimals are allowed.",
        )
