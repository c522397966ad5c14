"""The rows of a file that its table would not take, as the page of a new import shows them before the import."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from importer.engine.errors import RecordUnreadable, SourceChanged, in_file
from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.load.rejects.prescreen import prescreen
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.plan.options import Options
from importer.engine.schema.new_table import NewTable
from importer.engine.sorting.original_positions import LINE
from importer.engine.source import encodings
from importer.engine.source.arrays import Offsets
from importer.engine.source.arriving import ArrivingBytes, NotArrived
from importer.engine.source.byte_source import Readable, SourceLocation, open_source
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.decoding import needs_copy, open_sample, read_head
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile
from importer.engine.source.profile.sample import SAMPLE_BYTES
from importer.engine.source.records.blocks import BLOCK_BYTES, Block, blocks, end_of_records
from importer.engine.source.records.fields import LocatedRecord, fields
from importer.engine.source.records.row_error import RowError
from importer.engine.validation import ValidationRules
from importer.engine.validation.unreadable import conversions, find_unreadable
from importer.models import SourceFile

# Bytes of the file that are read while the page waits, and rows of which the values are kept.
SCANNED_BYTES = 4 * BLOCK_BYTES
MOST_KEPT = 20


@dataclass(frozen=True)
class ProblemRow:
    """A row that the table would not take: its physical line, its values, and the reason.

    `field`: the position (from 0) of the value at fault; None if the row as a whole is wrong. `file`: the name of its
    file, of several that are read as one; "" for the first of them.
    """

    line: int
    values: tuple[str, ...]
    field: int | None
    reason: str
    file: str = ""


@dataclass(frozen=True)
class RowProblems:
    """The rows with problems among the `scanned` first rows of a file: their `count`, and the first MOST_KEPT of them.

    `whole`: the file has no other rows.
    """

    scanned: int = 0
    whole: bool = False
    count: int = 0
    rows: tuple[ProblemRow, ...] = ()

    @property
    def others(self) -> int:
        """The rows without a problem."""
        return self.scanned - self.count


def find_row_problems(
    location: SourceLocation,
    profile: Profile,
    rules: ValidationRules,
    mapping: Sequence[ColumnMapping],
    new_table: NewTable | None = None,
) -> RowProblems:
    """Examine the rows in the first SCANNED_BYTES of the file by the rules of its plan.

    `new_table`: the table that the import makes. Its types are widened as the import does it: the values for which a
    type is not widened are bad. Duplicate keys and others that only the server finds are not among them. Raises
    SourceProblem if the file cannot be read.
    """
    if not profile.rows:
        return RowProblems(whole=True)
    with open_source(location) as fd:
        if not (needs_copy(profile.packing, profile.dialect) or isinstance(fd, ArrivingBytes)):
            return _examine(fd, profile, profile.size, rules, mapping, new_table)
        head = read_head(fd, SAMPLE_BYTES, profile.dialect.member)
        with open_sample(fd, head, profile.dialect) as sample:
            found = _examine(sample.fd, profile, sample.readable, rules, mapping, new_table, cut=not sample.whole)
            return _in_the_file(found, sample.places, profile.data_line)


def _in_the_file(found: RowProblems, places: "Offsets | None", data_line: int) -> RowProblems:
    """The problems with their lines in a file of another format, whose copy has a line for each row."""
    if places is None:
        return found
    lines = [int(places[row.line - data_line, LINE]) for row in found.rows]
    return replace(found, rows=tuple(replace(row, line=line) for row, line in zip(found.rows, lines, strict=True)))


def _examine(
    fd: Readable,
    profile: Profile,
    size: int,
    rules: ValidationRules,
    mapping: Sequence[ColumnMapping],
    new_table: NewTable | None,
    *,
    cut: bool = False,
) -> RowProblems:
    """Examine the first rows of an open plain file. `cut`: it ends after `size` bytes, perhaps within a record."""
    dialect = replace(profile.dialect.plain, raw_fields=rules.dialect.raw_fields)
    end = size + 1 if cut else end_of_records(fd, dialect, profile.data_offset, size)
    scanned = _end_of_first_rows(fd, dialect, profile, end)
    chunk = ChunkRange(0, profile.data_offset, scanned - profile.data_offset, 0, profile.data_line, "")
    if not chunk.length:
        return RowProblems(whole=scanned == end)
    source = ChunkSource(fd, Path(), chunk, dialect)
    if new_table and new_table.widen:
        rules = _of_new_table(source, rules, mapping, new_table)
    count, found = chunk_problems(source, rules, [each.column.lower() for each in mapping], MOST_KEPT)
    return RowProblems(len(ChunkRows(source)), scanned == end, count, found)


def _of_new_table(
    source: ChunkSource, rules: ValidationRules, mapping: Sequence[ColumnMapping], table: NewTable
) -> ValidationRules:
    """The rules of a new table whose types hold the rows of the chunk, but for a few values of no such type."""
    # Here: a load does not need it.
    from importer.engine.validation.file_scan import FileScan
    from importer.engine.validation.type_widening import find_mismatches, map_widened, widen_types

    chunk = source.chunk
    rows = FileScan(source.fd, source.dialect, chunk.offset, chunk.first_line, chunk.offset + chunk.length)
    widened = widen_types(table, find_mismatches(rows, table, mapping), rejects=True)
    return rules.for_table(map_widened(mapping, table, widened), widened.as_table())


def chunk_problems(
    source: ChunkSource, rules: ValidationRules, columns: Sequence[str], most: int
) -> tuple[int, tuple[ProblemRow, ...]]:
    """The number of rows of a chunk that the table would not take, and the first `most` of them.

    `columns`: the column of each field, in lower case.
    """
    errors = row_errors(source, rules)
    return len(errors), problem_rows(source, errors, columns, most)


def problem_rows(
    source: ChunkSource, errors: Mapping[int, RowError], columns: Sequence[str], most: int
) -> tuple[ProblemRow, ...]:
    """The first `most` of these rows of a chunk (row_errors()); `columns` as chunk_problems() takes them."""
    kept = sorted(errors)[:most]
    located = zip(kept, ChunkRows(source).located(kept), strict=True) if kept else ()
    return tuple(_problem_row(record, errors[number], source.dialect, columns) for number, record in located)


def refuse_unreadable_rows(source: SourceFile, profile: Profile, options: Options) -> None:
    """Raise RecordUnreadable for the first row that its format cannot read, unless such rows are left out."""
    if (first := profile.refused) and options.on_error == "stop":
        advice = f"{first.advice} Or leave such rows out: --on-error reject."
        with in_file(source.name):
            raise RecordUnreadable(first.what, first.where, advice)


def needs_look(rules: ValidationRules) -> bool:
    """Whether rows can have problems that a scan of their chunk does not suspect."""
    return bool(conversions(rules.validator.rules))


def row_errors(source: ChunkSource, rules: ValidationRules) -> dict[int, RowError]:
    """The first error of each bad row of the chunk, by its number (from 0)."""
    checks = rules.validator.rules
    among = conversions(checks)

    def unreadable(block: Block) -> list[tuple[int, RowError]]:
        return find_unreadable(block, rules.dialect, among, len(checks))

    return prescreen(source, rules, unreadable=unreadable if among else None).row_errors


def _end_of_first_rows(fd: Readable, dialect: Dialect, profile: Profile, end: int) -> int:
    """The end of the first whole records that have SCANNED_BYTES together; `end` if the file has no more."""
    scanned = profile.data_offset
    with suppress(SourceChanged, NotArrived):  # The sample ends within a record.
        for block in blocks(fd, dialect, profile.data_offset, profile.data_line, end):
            scanned = block.offset + block.size
            if scanned - profile.data_offset >= SCANNED_BYTES:
                break
    return scanned


def _problem_row(record: LocatedRecord, error: RowError, dialect: Dialect, columns: Sequence[str]) -> ProblemRow:
    raw = record.raw if len(record.raw) <= BLOCK_BYTES else b""
    values = tuple(encodings.readable_text(value, dialect.encoding) for value in fields(raw, dialect)) if raw else ()
    column = error.column.lower()
    field = error.field - 1 if error.field else columns.index(column) if column in columns else None
    return ProblemRow(record.line, values, field, error.reason)
