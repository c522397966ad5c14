"""Checks a new table's column types against the whole file; widens a type that is too narrow, or reports it.

Blocks whose values are all usual for the types (validation/fast_path.py) are skipped. Python reads the other blocks. It
reads all values of a column that is too narrow, and gives the column the narrowest type for all of them. A few values
that are no number or no date do not make a text of a column of numbers or dates: they are reported as bad values.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from importer.engine.errors import BadRow, Problem, RowsRefused
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.new_table.typed_values import Reader, is_few, is_value_of, reader, takes_bad_values
from importer.engine.mapping.new_table.usual_values import usual_values
from importer.engine.mapping.transforms import BLANKS
from importer.engine.schema.column_types import Family, column_type
from importer.engine.schema.new_table import NewColumn, NewTable, check_keys
from importer.engine.schema.row_size import fit_row_size
from importer.engine.schema.table import Column
from importer.engine.schema.type_inference import TypeTracker, scale_of
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.null_words import NULL_MARK
from importer.engine.source.records.row_error import shortened
from importer.engine.units import count_of
from importer.engine.validation.converted_rules import FieldCheck
from importer.engine.validation.fast_path import FastPath
from importer.engine.validation.field_check import CellRule
from importer.engine.validation.file_scan import FileScan, Row

# Bad values of a column whose lines are known.
MOST_NAMED = 20


@dataclass(frozen=True)
class TypeMismatch:
    """A column that is too narrow for the file: the `type` that is wide enough, and the first value that needs it.

    If `bad`, the number of values that are no values of the type at all, is not 0, the column keeps its kind: the type
    is wide enough for the others, and `line` and `value` are those of the first bad one. `text` is the type that holds
    all values. `total`: the number of values that are not NULL. `places`: lines and values of the first bad ones.
    """

    type: str
    line: int
    value: str
    bad: int = 0
    total: int = 0
    text: str = ""
    places: tuple[tuple[int, str], ...] = field(default=(), compare=False)


@dataclass
class _Field:
    """A field whose column may be too narrow. `first`: line and text of the first value that does not fit.

    `values`: the range of the values as `read` gives them, without those that the pattern `usual` matches: they fit.
    """

    number: int
    column: Column
    read: Reader
    direct: bool  # without a format and transforms
    markers: frozenset[str]
    trims: bool = False
    stated: bool = False
    replacements: Mapping[str, str] = field(default_factory=dict)
    usual: re.Pattern[str] | None = None
    values: TypeTracker = field(default_factory=TypeTracker)
    first: tuple[int, str] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether `read` changes no value."""
        return self.direct and not (self.stated and self.column.column_type.is_number)

    def has_unusual(self, rows: Sequence[Row]) -> bool:
        """Whether a value of the rows is neither NULL nor usual."""
        if not self.usual:
            return True
        distinct = {None if value is None else self.replaced(value) for value in {row[self.number] for row in rows}}
        return not all(value is None or self.usual.fullmatch(value) for value in distinct - self.markers)

    def present(self, rows: Sequence[Row]) -> Counter[str]:
        """The values of the rows that are not NULL."""
        counts: Counter[str] = Counter()
        for value, count in Counter([row[self.number] for row in rows]).items():
            if value is not None and not self._is_null(replaced := self.replaced(value)):
                counts[replaced] += count
        return counts

    def replaced(self, value: str) -> str:
        """What the value list makes of the value."""
        return self.replacements.get(value.strip(BLANKS) if self.trims else value, value)

    def take(self, values: Iterable[str]) -> bool:
        """Add values. Returns whether the column's type stores all values so far."""
        converted = [value if self.is_plain else self.read(value) for value in values]
        self.values.take([value for value in converted if value is not None], frozenset())
        return None not in converted and self.values.fits(self.column.type, stated=self.stated)

    def is_too_narrow_for(self, value: str) -> bool:
        value = self.replaced(value)
        return not self._is_null(value) and not replace(self, values=TypeTracker()).take([value])

    def _is_null(self, value: str) -> bool:
        return (value.strip(BLANKS) if self.trims else value) in self.markers


@dataclass
class _Survey:
    """All values of a field whose column is too narrow. `good` has the range of those that are of the column's type."""

    of: _Field
    good: TypeTracker = field(default_factory=TypeTracker)
    texts: TypeTracker = field(default_factory=TypeTracker)
    bad: int = 0
    total: int = 0
    places: list[tuple[int, str]] = field(default_factory=list)

    def take(self, values: Counter[str]) -> list[str]:
        """Add the values of a block; returns the bad ones."""
        self.total += values.total()
        self.texts.take(list(values), frozenset())
        read = {value: self.of.read(value) for value in values}
        bad = [value for value, each in read.items() if not is_value_of(self.of.column, each)]
        self.bad += sum(values[value] for value in bad)
        self.good.take([each for value, each in read.items() if each is not None and value not in bad], frozenset())
        return bad

    @property
    def mismatch(self) -> TypeMismatch:
        assert self.of.first
        text = self.texts.text_type
        keeps = self.places and takes_bad_values(self.of.column) and self._has_few_bad
        if self.bad and not keeps:
            return TypeMismatch(self.texts.type if self.of.is_plain else text, *self.of.first)
        type_ = self._wide_enough()
        if self.places and column_type(type_).is_typed:
            return TypeMismatch(type_, *self.places[0], self.bad, self.total, text, tuple(self.places))
        return TypeMismatch(type_, *self.of.first)

    @property
    def _has_few_bad(self) -> bool:
        return self.of.stated or is_few(self.bad, self.total)

    def _wide_enough(self) -> str:
        """The narrowest type for all good values: the column's own if it is, a text for what may be codes."""
        own = self.of.column
        if self.good.fits(own.type, stated=self.of.stated):
            return own.type
        codes = self.good.bare_exponent or max(self.good.padded_scales, default=0) > scale_of(own.type)
        if self.of.is_plain and not self.of.stated and own.column_type.is_number and codes:
            return self.texts.text_type
        return self.good.type if column_type(self.good.type).is_typed else self.texts.text_type


def find_mismatches(file: FileScan, table: NewTable, mapping: Sequence[ColumnMapping]) -> dict[str, TypeMismatch]:
    """The columns of the table that are too narrow for the file's values, by name.

    Records with another number of fields are skipped: the load reports them. Raises as blocks() does.
    """
    checked = _fields(table, mapping)
    fast_path = _fast_path(file.dialect, checked, len(mapping))
    formatted = [each for each in checked if not each.direct or each.replacements]
    for block in file.blocks():
        plain_fit = fast_path and block.data and fast_path.are_all_usual(file.only_rows(block))
        if plain_fit and not formatted:
            continue
        rows = file.rows(block, len(mapping))
        for each in formatted if plain_fit else checked:
            if not each.first and each.has_unusual(rows) and not each.take(each.present(rows)):
                each.first = file.first_value(block, each.number, each.is_too_narrow_for)
    return _required_types(file, [each for each in checked if each.first], len(mapping))


def _fields(table: NewTable, mapping: Sequence[ColumnMapping]) -> list[_Field]:
    """The fields to check. Those that Python cannot read as the server does are left to the load."""
    columns = {column.name: column for column in table.as_table().columns}
    checked = []
    for number, each in enumerate(mapping):
        if each.column not in columns:
            continue
        stated = each.column in table.stated
        column = columns[each.column]
        if read := reader(each, column, stated=stated):
            direct = not (each.transforms or each.datetime_format)
            markers = frozenset(each.null_markers)
            trims = any(name.startswith("trim") for name in each.transforms)
            usual = usual_values(each, column)
            checked.append(_Field(number, column, read, direct, markers, trims, stated, each.replacements, usual))
    return checked


def _fast_path(dialect: Dialect, checked: Sequence[_Field], count: int) -> FastPath | None:
    """The fast path for values that certainly fit, of the fields whose values need no conversion.

    Numbers with leading zeros or a plus are taken for identifiers, and do not fit.
    """
    checks = [FieldCheck("")] * count
    null = (dialect.null,) if dialect.null else ()
    for each in (each for each in checked if each.direct and not each.replacements):
        checks[each.number] = FieldCheck(each.column.name, each.column.type, null_markers=(*each.markers, *null))
    rules = [CellRule.of(check, mariadb=False, encoding=dialect.encoding) for check in checks]
    return FastPath.of(dialect, rules, plain=True)


def _required_types(file: FileScan, narrow: Sequence[_Field], width: int) -> dict[str, TypeMismatch]:
    """The mismatches with the types that fit the whole file, which is read a second time for that."""
    if not narrow:
        return {}
    surveys = [_Survey(each) for each in narrow]
    for block in file.blocks():
        rows = file.rows(block, width)
        for each in surveys:
            bad = each.take(each.of.present(rows))
            if bad and len(each.places) < MOST_NAMED:
                is_bad = partial(_is_one_of, each.of, frozenset(bad))
                each.places += file.values_at(block, each.of.number, is_bad, MOST_NAMED - len(each.places))
    return {each.of.column.name: each.mismatch for each in surveys}


def _is_one_of(of: _Field, bad: frozenset[str], value: str) -> bool:
    return of.replaced(value) in bad


def widen_types(table: NewTable, mismatches: dict[str, TypeMismatch], *, rejects: bool = False) -> NewTable:
    """The table with types that fit the whole file.

    Raises RowsRefused, with the rows, for bad values unless the import `rejects` bad rows, and Problem, with the line,
    for a type that is too narrow if table.widen forbids another one, or that no key takes.
    """
    columns = []
    if not rejects and (bad := {name: each for name, each in mismatches.items() if each.bad}):
        raise _bad_values([column for column in table.columns if column.name in bad], bad)
    for column in table.columns:
        mismatch = mismatches.get(column.name)
        if mismatch and not table.widen and mismatch.type != column.type:
            raise Problem(
                f"{shortened(mismatch.value)} does not fit {column.name} {column.type};"
                f" the whole file needs {mismatch.type}.",
                where=f"line {mismatch.line:,}, column {column.name}",
                advice=f"Make the column {mismatch.type}, let types be widened, or correct the file.",
            )
        columns.append(replace(column, type=mismatch.type) if mismatch else column)
    types = fit_row_size([column.type for column in columns])
    fitted = (replace(column, type=type_) for column, type_ in zip(columns, types, strict=True))
    widened = replace(table, columns=tuple(fitted))
    check_keys(widened)
    return widened


def _bad_values(columns: Sequence[NewColumn], mismatches: Mapping[str, TypeMismatch]) -> RowsRefused:
    """The problem of all bad values, with the first rows at fault; it is about the first column."""
    column, *others = columns
    mismatch, kind = mismatches[column.name], _kind(column)
    total = (
        f"1 of {count_of(mismatch.total, 'value')} is"
        if mismatch.bad == 1
        else (f"{mismatch.bad:,} of {count_of(mismatch.total, 'value')} are")
    )
    more = f" Nor do all values fit {', '.join(each.name for each in others)}." if others else ""
    rows = sorted(
        (
            BadRow(line, each.name, value, f"no {_kind(each)}")
            for each in columns
            for line, value in mismatches[each.name].places
        ),
        key=lambda row: row.line,
    )
    count = sum(mismatches[each.name].bad for each in columns)
    return RowsRefused(
        f"{shortened(mismatch.value)} does not fit {column.name} {column.type}: {total} no {kind}.{more}",
        rows=tuple(rows[:MOST_NAMED]),
        bad_rows=len({row.line for row in rows}) if len(rows) == count else count,
        where=f"line {mismatch.line:,}, column {column.name}",
        advice=f"Leave such rows out (--on-error reject), make the column a text (--type '{column.name}="
        f"{mismatch.text}'), or name the value as NULL (--null).",
    )


def _kind(column: NewColumn) -> str:
    return "number" if column_type(column.type).is_number else "date"


def map_widened(mapping: Sequence[ColumnMapping], before: NewTable, after: NewTable) -> tuple[ColumnMapping, ...]:
    """The mapping without formats, transforms and suggested NULL markers for columns that had to become texts."""
    pairs = zip(before.columns, after.columns, strict=True)
    texts = {
        new.name
        for old, new in pairs
        if column_type(old.type).is_typed and column_type(new.type).family is Family.CHARACTER
    }
    return tuple(
        ColumnMapping(
            each.column,
            _of_text(each) if each.column in before.suggested_null else each.null_markers,
            values=each.values,
        )
        if each.column in texts
        else each
        for each in mapping
    )


def _of_text(suggested: ColumnMapping) -> tuple[str, ...]:
    """Those of the suggested NULL markers that are suggested for texts, too."""
    return tuple(each for each in suggested.null_markers if each == NULL_MARK)


def describe_changes(
    before: NewTable, after: NewTable, mismatches: dict[str, TypeMismatch]
) -> Iterator[tuple[str, str]]:
    """Each change in words, with its reason, and each column that keeps its type although it has bad values."""
    for old, new in zip(before.columns, after.columns, strict=True):
        mismatch = mismatches.get(new.name)
        if mismatch and mismatch.bad:
            yield (
                f"{new.name} is {new.type}, and rows with another value are rejected",
                f"{mismatch.bad:,} of {count_of(mismatch.total, 'value')} do not fit, such as"
                f" {mismatch.value[:60]!r} on line"
                f" {mismatch.line:,}",
            )
        elif old != new:
            why = (
                f"line {mismatch.line:,} has {mismatch.value[:60]!r}"
                if mismatch
                else "rows could be too large otherwise"
            )
            yield f"{new.name} is {new.type}, not {old.type}", why
