"""Checks a whole file without loading it: which of its rows the table would not take, and which table it needs.

What only a server knows is not found: duplicate keys, and what foreign keys, checks and triggers refuse.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from config.contracts.check import check_document
from importer.connections.source_location import location_of
from importer.engine.errors import Problem, in_file, problem_values
from importer.engine.feed.chunk_source import ChunkSource
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.new_table.suggestion import suggest_table
from importer.engine.mapping.suggest import map_to_new, with_suggested_null
from importer.engine.plan.options import Options
from importer.engine.reading.build import make_reading
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading, reading_to_json
from importer.engine.schema.new_table import NewTable, change_table
from importer.engine.sorting.original_positions import LINE, OriginalPositions
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.scan_files import record_ranges
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.chunks.skipped_lines import NO_LINES, SkippedLines, lines_after, lines_before
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.source.records.blocks import read_exactly
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.row_error import RowError
from importer.engine.stored import to_json
from importer.engine.units import MIB
from importer.engine.validation import ValidationRules
from importer.engine.validation.file_scan import FileScan
from importer.engine.validation.type_widening import (
    TypeMismatch,
    find_mismatches,
    map_widened,
    widen_types,
)
from importer.models import SourceFile
from importer.models.outcomes import FOUND_BAD_ROWS, outcome_of
from importer.preparation.joined_files import join_files
from importer.preparation.loadable_tables import table_name_of
from importer.preparation.plain_file import OnBytes, PlainFile, open_plain
from importer.preparation.prepare import PreparedImport
from importer.preparation.request import ImportRequest, NewTableRequest, Wish, settle
from importer.preparation.row_problems import MOST_KEPT, ProblemRow, needs_look, problem_rows, row_errors

SIZES = ChunkSizes(2 * MIB)
# Takes the rows found so far, and the bytes of the plain contents that they are in, of how many.
OnRows = Callable[[int, int, int], None]


@dataclass(frozen=True)
class AsRead:
    """A source as it is read, before its check by `rules`. `new_table`: the table for it, if no table was named."""

    source: SourceFile
    profile: Profile
    mapping: tuple[ColumnMapping, ...]
    reading: Reading
    files: tuple[JoinedFile, ...]
    rules: ValidationRules
    new_table: NewTable | None = None


@dataclass(frozen=True)
class BadRow:
    """A row that the table would not take: its `file`, the physical `line` there, and the value at fault, if it is one.

    `column` is the name of the field, "" if the row as a whole is wrong.
    """

    file: str
    line: int
    column: str
    value: str
    reason: str


@dataclass
class FileCheck:
    """What was found: the number of `rows`, of the bad ones by column and reason, the first of these, and other lines.

    `new_table`: the table that holds all rows that are not bad, where there is none.
    """

    reading: Reading
    new_table: NewTable | None
    rows: int = 0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: list[BadRow] = field(default_factory=list)
    lines: SkippedLines = NO_LINES

    @property
    def bad(self) -> int:
        return self.reasons.total()


def document_of(name: str, check: FileCheck) -> dict[str, Any]:
    """The document of a check of the file of this name."""
    reasons = [
        {"column": column, "reason": reason, "rows": count} for (column, reason), count in check.reasons.most_common()
    ]
    return check_document(
        {
            "exit_code": FOUND_BAD_ROWS.exit_code if check.bad else 0,
            "file": name,
            "rows": {"source": check.rows, "bad": check.bad, "source_is_final": True},
            "lines": check.lines.as_json(),
            "reading": reading_to_json(check.reading),
            "create_table": check.new_table.statement(check.new_table.name) if check.new_table else None,
            "bad_rows": {"reasons": reasons, "first": [to_json(each) for each in check.first]},
        }
    )


def document_of_problem(problem: Problem, exit_code: int | None = None) -> dict[str, Any]:
    """The document of a check that came to no result. `exit_code`: of the command; else that of the problem."""
    return check_document(
        {
            "exit_code": outcome_of(problem).exit_code if exit_code is None else exit_code,
            "reading": reading_to_json(problem.reading) if isinstance(problem, NeedsAnswer) else None,
            "problem": problem_values(problem.as_json()),
        }
    )


def read_alone(source: SourceFile, wish: Wish) -> AsRead:
    """How a source is read for a new table, without a server; its name is that of the file, unless the wish says one.

    Raises NeedsAnswer if it can be read in more than one way, unless the wish accepts guesses or has the answers, and
    Problem with the first other obstacle.
    """
    schema, _, name = (wish.get("table") or table_name_of(source.name)).rpartition(".")

    def read(request: ImportRequest) -> AsRead:
        joined = join_files(source, profile_file(location_of(source), request.dialect, (), **request.known_format))
        profile, wanted = joined.profile, request.new_table or NewTableRequest()
        table = suggest_table(schema, name, profile, request.null_markers, request.overrides)
        table = change_table(table, wanted.types, wanted.primary_key, wanted.widen, wanted.not_null)
        mapping = tuple(map_to_new(profile, table.as_table(), request.null_markers, overrides=request.overrides))
        table = with_suggested_null(table, profile, mapping, request.null_markers, request.overrides)
        reading = make_reading(profile, table.as_table(), mapping, (), request.statements(profile), table)
        rounding = (request.options or Options()).rounding
        rules = ValidationRules.of(profile.dialect.plain, mapping, table.as_table(), mariadb=False, rounding=rounding)
        return AsRead(source, profile, mapping, reading, joined.files, rules, table)

    found, _ = settle(read, ImportRequest.of(wish), wish.get("answers", {}), source.name)
    return replace(found, reading=replace(found.reading, accepted=bool(found.reading.guesses)))


def read_for_table(prepared: PreparedImport) -> AsRead:
    """How the source of a prepared import is read. Its options must have the checks of values on."""
    assert prepared.plan.exactness
    return AsRead(
        prepared.source,
        prepared.profile,
        prepared.mapping,
        prepared.reading,
        prepared.files,
        prepared.plan.exactness,
        prepared.new_table,
    )


def check_file(read: AsRead, on_rows: OnRows, on_bytes: OnBytes = lambda _: None) -> FileCheck:
    """Read the whole source. `on_bytes` is called while a copy is made of a packed or converted one.

    Raises SourceProblem for a file that cannot be read to its end, and Problem for a value that does not fit the type
    of a column that may not be widened.
    """
    with open_plain(read.source, read.profile, read.files, on_bytes) as plain:
        if read.new_table:
            read = _with_wide_types(read, read.new_table, plain)
        check = FileCheck(_with_types(read), read.new_table)
        for number, (begin, line, end) in enumerate(_ranges(read, plain)):
            name = plain.files[number].name if plain.files else read.source.name
            with in_file(name):
                _Examiner(read, plain, check, name, on_rows).examine(Position(begin, line, 0, check.rows + 1), end)
        before = lines_before(plain.fd, read.rules.dialect, read.profile.data_offset)
        before = sum((each.lines_before for each in plain.files[1:]), before)
        check.lines = before + check.lines
        return check


def original_lines(
    mismatches: Mapping[str, TypeMismatch], places: OriginalPositions, data_line: int
) -> dict[str, TypeMismatch]:
    """The mismatches with their lines in a file of another format, whose copy has a line for each row."""

    def of(line: int) -> int:
        return int(places.of(line - data_line + 1, 1)[0, LINE]) if line else 0

    return {
        name: replace(each, line=of(each.line), places=tuple((of(line), value) for line, value in each.places))
        for name, each in mismatches.items()
    }


def _ranges(read: AsRead, plain: PlainFile) -> list[tuple[int, int, int]]:
    """Start, first line and end of each file, with the lines behind its records."""
    whole = (read.profile.data_offset, read.profile.data_line, plain.size)
    return [(each.begin, each.line, each.end) for each in plain.files] or [whole]


def _with_wide_types(read: AsRead, table: NewTable, plain: PlainFile) -> AsRead:
    """The reading with types of the new table that hold the whole file, but for a few values of no such type."""
    dialect = read.rules.dialect
    whole = (read.profile.data_offset, read.profile.data_line, plain.size)
    (start, line, end), *further = record_ranges(plain.fd, dialect, plain.files, whole)
    found = find_mismatches(FileScan(plain.fd, dialect, start, line, end, further=tuple(further)), table, read.mapping)
    if plain.places:
        found = original_lines(found, plain.places, read.profile.data_line)
    widened = widen_types(table, found, rejects=True)
    mapping = map_widened(read.mapping, table, widened)
    rules = read.rules.for_table(mapping, widened.as_table())
    return replace(read, mapping=mapping, rules=rules, new_table=widened)


def _with_types(read: AsRead) -> Reading:
    """The reading, with the types that the new table has for the whole file."""
    if not read.new_table:
        return read.reading
    types = {each.name: each.type for each in read.new_table.columns}
    columns = (replace(each, type=types.get(each.column, each.type)) for each in read.reading.columns)
    return replace(read.reading, columns=tuple(columns))


@dataclass
class _Examiner:
    """Adds what it finds in one file to a check."""

    read: AsRead
    plain: PlainFile
    check: FileCheck
    name: str
    on_rows: OnRows

    @property
    def _dialect(self) -> Dialect:
        return self.read.rules.dialect

    def examine(self, begin: Position, end: int) -> None:
        """Examine the rows from the position on; the file's last byte is before `end`."""
        policy = ScanPolicy(tolerate=True, exactness=self.read.rules)
        offset, line = begin.offset, begin.line
        last: ChunkRange | None = None
        for last in scan(self.plain.fd, self._dialect, SIZES, begin, end=end, policy=policy):
            self.check.rows += last.rows
            self.check.lines += last.skipped
            if last.suspect or needs_look(self.read.rules):
                self._add(ChunkSource(self.plain.fd, Path(), last, self._dialect, self.plain.places))
            self.on_rows(self.check.rows, last.end, self.plain.size)
        if last:
            data = read_exactly(self.plain.fd, last.length, last.offset)
            offset, line = last.end, last.first_line + line_ends(data, self._dialect.line_end)
        if offset < end:
            self.check.lines += lines_after(self.plain.fd, self._dialect, offset, line, end)

    def _add(self, chunk: ChunkSource) -> None:
        errors = row_errors(chunk, self.read.rules)
        self.check.reasons.update((self._column(each), each.reason) for each in errors.values())
        columns = [each.column.lower() for each in self.read.mapping]
        self.check.first += self._located(problem_rows(chunk, errors, columns, MOST_KEPT - len(self.check.first)))

    def _located(self, rows: tuple[ProblemRow, ...]) -> Iterator[BadRow]:
        for row in rows:
            known = row.field is not None and row.field < len(row.values)
            number = row.field if known and row.field is not None else None
            name = "" if number is None else self._name(number)
            yield BadRow(self.name, row.line, name, "" if number is None else row.values[number], row.reason)

    def _column(self, error: RowError) -> str:
        return error.column or (self._name(error.field - 1) if error.field else "")

    def _name(self, number: int) -> str:
        header = self.read.profile.header
        return header[number] if number < len(header) else f"#{number + 1}"
