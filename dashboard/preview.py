"""What is known of one uploaded file before its import: its first rows, where they would go, and the plan."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from dashboard.choices import Choices, show_markers
from importer import sources
from importer.engine.connection import Connection, connect
from importer.engine.dialect import RFC4180, Dialect
from importer.engine.encodings import UTF8
from importer.engine.errors import Problem
from importer.engine.mapping import ColumnMapping
from importer.engine.plan import MIB
from importer.engine.profile import Profile, profile_file
from importer.engine.sample import SAMPLE_BYTES
from importer.engine.suggestions import mapping_notes, suggest_mapping
from importer.engine.table import Column, Table, list_tables, read_table
from importer.models import SourceFile, Target
from importer.preparation import Prepared, prepare

ROWS_SHOWN = 20
SAMPLES_SHOWN = 3
MOST_COLUMNS_IN_SELECTS = 100
TEMPORAL = ("date", "datetime", "timestamp", "time")


@dataclass(frozen=True)
class Field:
    """One field of the file as the form shows it: its name, some of its values, and what becomes of it."""

    number: int
    name: str
    samples: tuple[str, ...]
    mapping: ColumnMapping
    column: Column | None

    @property
    def markers(self) -> str:
        return show_markers(self.mapping.null_markers)

    @property
    def temporal(self) -> bool:
        return bool(self.mapping.datetime_format) or (self.column is not None and self.column.kind in TEMPORAL)


@dataclass(frozen=True)
class Cell:
    """A value of the preview; `null` if it is one of its column's NULL markers, `left_out` if it goes nowhere."""

    text: str
    null: bool
    left_out: bool


@dataclass
class Preview:
    """What is known of one file so far: everything up to the first problem."""

    source: SourceFile
    choices: Choices
    dialect: Dialect = RFC4180
    profile: Profile | None = None
    tables: list[str] = field(default_factory=list)
    table: Table | None = None
    mapping: tuple[ColumnMapping, ...] = ()
    basis: str = ""
    prepared: Prepared | None = None
    problem: Problem | None = None

    @property
    def encoding(self) -> str:
        """As it was written, though it may be the name of none; else what was found, which a mark may have decided."""
        return self.dialect.encoding if self.profile else self.choices.values.get("encoding", self.dialect.encoding)

    @property
    def target(self) -> Target | None:
        return self.choices.target

    @property
    def table_name(self) -> str:
        return self.choices.table or (self.table.name if self.table else "")

    @property
    def planned_chunk_mib(self) -> float | None:
        return self.prepared.plan.chunk_bytes / MIB if self.prepared else None

    @property
    def fields(self) -> list[Field]:
        assert self.profile
        names = self.profile.header
        mapping = self.mapping or tuple(ColumnMapping("") for _ in names)
        columns = {column.name: column for column in self.table.columns} if self.table else {}
        return [
            Field(number, name, _samples(self.profile, number), mapping[number], columns.get(mapping[number].column))
            for number, name in enumerate(names)
        ]

    @property
    def without_field(self) -> list[Column]:
        """Columns of the table that no field goes into."""
        taken = {each.column for each in self.mapping}
        return [column for column in self.table.columns if column.name not in taken] if self.table else []

    @property
    def wide(self) -> bool:
        """Whether a select of all columns for each field would make the page too heavy."""
        return self.table is not None and len(self.table.columns) > MOST_COLUMNS_IN_SELECTS

    @property
    def doubts(self) -> tuple[str, ...]:
        """What to look at in the mapping before it is used."""
        return mapping_notes(self.profile, self.table, self.mapping) if self.profile and self.table else ()

    @property
    def rows(self) -> Iterator[tuple[int, list[Cell]]]:
        """The first rows, each with its line in the file."""
        assert self.profile
        for line, row in zip(self.profile.lines, self.profile.rows[:ROWS_SHOWN], strict=False):
            yield line, [self._cell(number, text) for number, text in enumerate(row)]

    def _cell(self, number: int, text: str) -> Cell:
        if number >= len(self.mapping):
            return Cell(text, null=False, left_out=bool(self.mapping))
        mapping = self.mapping[number]
        return Cell(text, null=text in mapping.null_markers, left_out=not mapping.column)


def _samples(profile: Profile, number: int) -> tuple[str, ...]:
    values = dict.fromkeys(row[number] for row in profile.rows if number < len(row))
    return tuple(values)[:SAMPLES_SHOWN]


def look(source: SourceFile, choices: Choices) -> Preview:
    """Sniff the file, read the table, map and plan; a Problem ends it there and is kept in the preview."""
    preview = Preview(source, choices)
    try:
        asked = choices.dialect or _dialect_before(source, choices)
        preview.dialect = asked or RFC4180
        preview.profile = profile_file(source.file, asked)
        preview.dialect = preview.profile.dialect
        _read_table(preview)
        if preview.table and preview.target:
            _map_and_plan(preview, preview.table, preview.target)
    except Problem as problem:
        preview.problem = sources.named(problem, source)
    return preview


def _dialect_before(source: SourceFile, choices: Choices) -> Dialect | None:
    """That of the import whose rejected rows these are.

    But UTF-8 if the file is that beyond doubt: whoever mends a file often saves it so.
    """
    if not choices.again:
        return None
    dialect = choices.again.file_dialect
    with source.file.open("rb") as file:
        start = file.read(SAMPLE_BYTES)
    try:
        text = codecs.getincrementaldecoder(UTF8)().decode(start)
    except UnicodeDecodeError:
        return dialect
    return dialect if text.isascii() else replace(dialect, encoding=UTF8)


def _read_table(preview: Preview) -> None:
    target = preview.target
    if target is None:
        return
    with connect(target.address) as connection:
        preview.tables = list_tables(connection, target.database)
        asked = preview.choices.table or _named_alike(connection, target.database, preview.source.name)
        schema, _, name = asked.rpartition(".")
        if name:
            preview.table = read_table(connection, schema or target.database, name)


def _named_alike(connection: Connection, schema: str, file_name: str) -> str:
    """The table that is called like the file, or ""."""
    stem = _stem(file_name)
    return next((name for name in list_tables(connection, schema, stem) if name.lower() == stem.lower()), "")


def _stem(file_name: str) -> str:
    """`orders` of orders.csv and of orders.csv.gz."""
    path = PurePath(file_name)
    if path.suffix.lower() not in (".gz", ".zst", ".zip"):
        return path.stem
    inside = PurePath(path.stem)
    return inside.stem if inside.suffix.lower() in (".csv", ".tsv", ".txt") else inside.name


def _as_before(preview: Preview, table: Table) -> tuple[ColumnMapping, ...] | None:
    """The mapping of the import whose rejected rows these are, if file and table still fit it."""
    again = preview.choices.again
    if not again or not preview.profile or preview.choices.null_markers is not None:
        return None
    mapping = again.mapping
    known = {*table.column_names, ""}
    fits = len(mapping) == len(preview.profile.header) and all(each.column in known for each in mapping)
    return mapping if fits and again.table == f"{table.schema}.{table.name}" else None


def _map_and_plan(preview: Preview, table: Table, target: Target) -> None:
    profile, choices = preview.profile, preview.choices
    assert profile
    preview.basis = choices.basis(profile.dialect, profile.header, table)
    first = _as_before(preview, table) or suggest_mapping(profile, table, choices.null_markers)
    preview.mapping = choices.mapping(len(profile.header), preview.basis) or first
    preview.prepared = prepare(
        preview.source,
        target,
        f"{table.schema}.{table.name}",
        dialect=profile.dialect,
        mapping=preview.mapping,
        options=choices.options,
    )
