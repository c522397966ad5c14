"""Explains the rows that were rejected or skipped: line, column, value and reason of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.load.rejects.duplicate_lookup import RowKey, find_first_records
from importer.engine.load.rejects.reasons import MISMATCHES, error_of, key_of
from importer.engine.load.rejects.reject_files import RejectedRow
from importer.engine.load.rejects.server_warnings import WRONG_COUNT, ServerWarning
from importer.engine.mapping.columns import Lookup
from importer.engine.schema.table import Table
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES
from importer.engine.source.records.fields import LocatedRecord, fields
from importer.engine.source.records.large_values import shown_values
from importer.engine.source.records.row_error import LONGEST_SHOWN, RowError
from importer.engine.validation.unreadable import Conversion

# By row (from 0): the prescreen's error, or the server's warning.
RowProblems = Mapping[int, RowError | ServerWarning]


def _not_found(lookup: Lookup) -> tuple[str, str]:
    """How the reasons begin of a text that no row has, and of one that several rows have."""
    return f"No row of {lookup.table} has the", f"Several rows of {lookup.table} have the"


@dataclass(frozen=True)
class Explanation:
    """Explains rejected and skipped rows of one chunk.

    `columns` are the target's columns in the order of the file's fields, "" for a field that is not loaded. `table` is
    the one that the rows load into. `display_name` replaces its name in messages: for a staging table, the name of the
    table that its rows are for. `conversions`: those of the fields that do not take every text. `key_notes`
    are remarks about duplicate keys, by row (from 0). `lookups`: by column, in lower case.
    """

    source: ChunkSource
    rows: ChunkRows
    columns: tuple[str, ...]
    table: Table
    display_name: str
    conversions: tuple[Conversion, ...] = ()
    key_notes: Mapping[int, str] = field(default_factory=dict)
    lookups: Mapping[str, Lookup] = field(default_factory=dict)

    @property
    def _dialect(self) -> Dialect:
        return self.source.dialect

    def with_earlier_lines(self, start: int, first_line: int, duplicates: Mapping[int, ServerWarning]) -> "Explanation":
        """The explanation with the first lines that have the keys of these rows, searched from offset `start` on."""
        numbers = sorted(duplicates)
        keys: dict[int, tuple[int, RowKey]] = {}
        for number, record in zip(numbers, self.rows.located(numbers), strict=True):
            key = key_of(duplicates[number], self.table)
            # Values are compared as a whole, and those of a large record are not held in memory as a whole.
            if not key or len(record.raw) > BLOCK_BYTES:
                continue
            if values := RowKey.of(key.columns, self.columns, fields(record.raw, self._dialect)):
                keys[self.rows.span(number, number + 1)[0]] = number, values
        records = find_first_records(
            self.source.fd, self._dialect, start, first_line, {offset: key for offset, (_, key) in keys.items()}
        )
        lines = {offset: self.rows.line_in_file(position) for offset, position in records.items()}
        notes = {
            number: key.describe(lines.get(offset), self._dialect.encoding) for offset, (number, key) in keys.items()
        }
        return replace(self, key_notes=notes)

    def rejected_rows(self, refused: RowProblems, skipped: RowProblems) -> Iterator[RejectedRow]:
        """Each of these rows with its explanation, in the order of the file."""
        numbers = sorted({*refused, *skipped})
        for number, record in zip(numbers, self.rows.located(numbers), strict=True):
            rejected = number in refused
            error, value = self._explain(record, refused[number] if rejected else skipped[number])
            note = self.key_notes.get(number, "")
            if error.reason in (
                f"{words} {each.column}" for each in self.lookups.values() for words in _not_found(each)
            ):
                note = f"{value!r}."
            yield RejectedRow(record.line, record.offset, error, value, note, record.raw, rejected)

    def _explain(self, record: LocatedRecord, wrong: RowError | ServerWarning) -> tuple[RowError, str]:
        """The record's error, and the value of its column; without a column, the record or its beginning."""
        if isinstance(wrong, RowError):
            error, values = self._with_column(wrong), None
        else:
            values, count = self._values(record.raw)
            blank = count == 1 and not record.raw[:LONGEST_SHOWN].strip(b"\r\n")
            whole = len(record.raw) <= BLOCK_BYTES
            size = self._size(wrong.column, values) if whole else None
            unread = self._unread(wrong, values) if whole else None
            unread = unread or self._not_looked_up(wrong)
            error = unread or self._with_display_name(
                error_of(wrong, self.table, count, len(self.columns), blank=blank, size=size)
            )
        if not error.column:
            return error, error.value or self._text(record.raw[:LONGEST_SHOWN].rstrip(b"\r\n"))
        return error, error.value or self._value(error.column, values or self._values(record.raw)[0])

    def _unread(self, wrong: ServerWarning, values: list[bytes]) -> RowError | None:
        """That the column's conversion does not take the value, which the server words otherwise; None if it does.

        MySQL names no column if it is a date that does not exist.
        """
        if wrong.code in WRONG_COUNT:
            return None
        for each in self.conversions:
            named = wrong.column.lower() in ("", each.fault.column.lower())
            if named and each.number < len(values) and not each.takes(values[each.number]):
                return replace(each.fault, code=str(wrong.code))
        return None

    def _not_looked_up(self, wrong: ServerWarning) -> RowError | None:
        """That no row of a parent, or more than one, has the value; None if something else is wrong."""
        lookup = self.lookups.get(wrong.column.lower())
        if not lookup or wrong.code not in MISMATCHES:
            return None
        from importer.engine.mapping.lookups import SEVERAL

        none, several = _not_found(lookup)
        words = several if f"'{SEVERAL}'" in wrong.reason else none
        return RowError(str(wrong.code), f"{words} {lookup.column}", wrong.column)

    def _values(self, raw: bytes) -> tuple[list[bytes], int]:
        """A record's values (of a large record, their beginnings) and their number."""
        if len(raw) > BLOCK_BYTES:
            return shown_values(raw, self._dialect, len(self.columns), LONGEST_SHOWN)
        values = fields(raw, self._dialect)
        return values, len(values)

    def _with_column(self, error: RowError) -> RowError:
        known = 0 < error.field <= len(self.columns)
        return replace(error, column=self.columns[error.field - 1]) if known else error

    def _with_display_name(self, error: RowError) -> RowError:
        texts = (error.reason, error.server_message)
        reason, message = (text.replace(self.table.name, self.display_name) for text in texts)
        return replace(error, reason=reason, server_message=message)

    def _value(self, column: str, values: list[bytes]) -> str:
        field = self._field(column, values)
        return "" if field is None else self._text(values[field][:LONGEST_SHOWN])

    def _size(self, column: str, values: list[bytes]) -> int | None:
        """The number of bytes that are sent for the column: its value in UTF-8."""
        field = self._field(column, values)
        return None if field is None else len(self._text(values[field]).encode())

    def _field(self, column: str, values: list[bytes]) -> int | None:
        """The index of the column's value among the values."""
        wanted = column.lower()
        numbers = (number for number, name in enumerate(self.columns) if name.lower() == wanted)
        return next((number for number in numbers if number < len(values)), None)

    def _text(self, value: bytes) -> str:
        return encodings.readable_text(value, self._dialect.encoding)
