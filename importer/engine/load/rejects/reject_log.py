"""Counts and records the rejected and skipped rows of a chunk, and ends the load if there are too many."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from importer.engine import failpoints
from importer.engine.errors import BadRow, RowsRefused, TooManyRejects
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.load.outcome import NoticeCount, Outcome, ReasonCount, Tally
from importer.engine.load.rejects.explain import Explanation, RowProblems
from importer.engine.load.rejects.load_result import ServerFindings
from importer.engine.load.rejects.prescreen import Prescreen
from importer.engine.load.rejects.reasons import UNKNOWN_KEY, on_reading
from importer.engine.load.rejects.reject_files import RejectedRow, reject_paths, remove_reject_files, write_reject_files
from importer.engine.load.rejects.sender import Sender
from importer.engine.load.rejects.server_warnings import DUPLICATE, TRUNCATED, WRONG_COUNT, ServerWarning
from importer.engine.schema.table import read_table
from importer.engine.source.chunks.joined import line_end_of
from importer.engine.source.records.row_error import RowError, shortened
from importer.engine.units import count_of
from importer.engine.validation.unreadable import conversions

# The most rows that a message names one by one; the others are counted.
NAMED_ROWS = 20

UNKNOWN_KEY_ADVICE = (
    "Leave such rows out with --on-error reject, which keeps them to look at. If they are new, mode upsert adds them."
)
CUT_OFF = "Digits or trailing spaces that the column has no room for were cut off."


@dataclass(frozen=True)
class RejectLog:
    """The rejected and skipped rows of one chunk. `prescreen` has those that were found before anything was sent."""

    session: ChunkSession
    sender: Sender
    prescreen: Prescreen

    def enforce_limit(self, findings: ServerFindings) -> None:
        """Enforce on_error and max_rejects: raises RowsRefused (on_error=stop) or TooManyRejects."""
        count = len(self.prescreen.row_errors) + len(findings.refused)
        if not count:
            return
        if self.session.options.on_error == "stop":
            raise self._refused(findings, count)
        most = self.session.options.max_rejects
        if most is not None and count > most:
            raise self._too_many(findings, count, most)

    def close(self, findings: ServerFindings) -> Outcome:
        """Write the rejected and skipped rows to the chunk's reject files, if they are kept; the chunk's outcome.

        Raises as write_parts() does.
        """
        chunk, folder = self.session.chunk, self.session.chunk_load.rejects
        tally, notices = self._tally(findings), tuple(self._notices(findings))
        reasons: Counter[tuple[str, str, str]] = Counter()

        def rejected() -> Iterator[RejectedRow]:
            for record in self._explanation(findings).rejected_rows(self._problems(findings), findings.skipped):
                reasons[record.error.code, record.error.column, record.kind] += 1
                yield record

        def outcome() -> Outcome:
            counts = tuple(ReasonCount(*kind, rows) for kind, rows in reasons.most_common())
            return Outcome(chunk.rows, False, self.session.stopwatch.timings, tally, counts, notices)

        if not (tally.rejected or tally.skipped or notices):
            if folder:
                remove_reject_files(folder, chunk.number)
        elif folder:
            line_end = line_end_of(self.session.source.dialect).encode()
            write_reject_files(folder, chunk.number, rejected(), outcome, line_end)
            failpoints.reach("rejects.written")
            self.session.chunk_load.storage.keep(reject_paths(folder, chunk.number))
        else:
            for _ in rejected():
                pass
        return outcome()

    def _tally(self, findings: ServerFindings) -> Tally:
        rejected, skipped = len(self.prescreen.row_errors) + len(findings.refused), len(findings.skipped)
        taken = self.session.chunk.rows - rejected - skipped
        # One row may replace several (server-behaviour.md).
        replaced = min(findings.deleted, taken)
        unchanged = min(findings.unchanged, taken - replaced)
        return Tally(taken - replaced - unchanged, replaced, skipped, rejected, unchanged)

    def _notices(self, findings: ServerFindings) -> Iterator[NoticeCount]:
        yield from self.session.created
        for error, values in self.prescreen.notices.items():
            yield NoticeCount(error.code, error.column, error.reason, values)
        expected = {error.column.lower(): (error, values) for error, values in self.prescreen.noted.items()}
        if findings.noted is None:
            noted = {error.column: values for error, values in expected.values()}
        else:
            noted = dict(findings.noted)
        for column, values in noted.items():
            error = expected.get(column.lower(), (RowError(str(TRUNCATED), CUT_OFF, column), 0))[0]
            yield NoticeCount(error.code, error.column, error.reason, values)

    def _problems(self, findings: ServerFindings) -> RowProblems:
        return {**self.prescreen.row_errors, **findings.refused}

    def _explanation(self, findings: ServerFindings, searched_from: tuple[int, int] | None = None) -> Explanation:
        """Earlier lines with the same key are searched from `searched_from` (offset, line); by default in the chunk
        only.
        """
        plan, source = self.session.plan, self.session.source
        table = read_table(self.session.connection, plan.schema, plan.table)
        # A sorted copy is searched in the chunk only: equal keys lie together there, in the file's order. So is a chunk
        # of a later file of several, whose lines are not counted from the first byte.
        in_chunk = plan.sorted_by or source.chunk.file
        start = (None if in_chunk else searched_from) or (source.chunk.offset, source.chunk.first_line)
        among = conversions(plan.exactness.validator.rules) if plan.exactness else ()
        checks = plan.exactness.checks if plan.exactness else ()
        lookups = {each.column.lower(): each.lookup for each in checks if each.lookup}
        names = plan.fields, table, plan.final_table
        explanation = Explanation(source, self.sender.rows, *names, among, lookups=lookups)
        problems = {**findings.refused, **findings.skipped}.items()
        same = {row: each for row, each in problems if isinstance(each, ServerWarning) and each.code == DUPLICATE}
        return explanation.with_earlier_lines(*start, {row: same[row] for row in sorted(same)[:NAMED_ROWS]})

    def _named(self, findings: ServerFindings) -> tuple[BadRow, ...]:
        problems = self._problems(findings)
        first = {row: problems[row] for row in sorted(problems)[:NAMED_ROWS]}
        explained = self._explanation(findings, searched_from=(0, 1)).rejected_rows(first, {})
        return tuple(_bad_row(each) for each in explained)

    def _refused(self, findings: ServerFindings, count: int) -> RowsRefused:
        rows = self._named(findings)
        first = rows[0]
        problems = self._problems(findings)
        unknown = problems[min(problems)].code == UNKNOWN_KEY
        advice = UNKNOWN_KEY_ADVICE if unknown else _advice(first.code)
        column = f", column {first.column}" if first.column else ""
        return RowsRefused(
            f"{first.reason} ({'value' if first.column else 'row'} {shortened(first.value)})",
            where=f"line {first.line:,}{column}",
            advice=f"{advice} Nothing was kept of this chunk ({self._lines()}).",
            rows=rows,
            bad_rows=count,
        )

    def _too_many(self, findings: ServerFindings, count: int, most: int) -> TooManyRejects:
        times, worst = self._commonest(findings)
        of_column = f"{worst.error.column}: " if worst.error.column else ""
        return TooManyRejects(
            f"{count_of(count, 'row')} cannot be loaded, in one chunk alone; at most {most:,} may be left out"
            " of the import."
            f" Most common: {count_of(times, 'row')}: {of_column}{worst.error.reason}",
            where=self._lines(),
            advice=f"Look at these rows.{on_reading(worst.error.column)} If they are to be left out, allow more; if"
            " not, correct the file or the table.",
            rows=self._named(findings),
            bad_rows=count,
        )

    def _commonest(self, findings: ServerFindings) -> tuple[int, RejectedRow]:
        """The number of rows with the commonest column and code, and the first of these rows."""
        problems = self._problems(findings)
        counts = Counter((each.column, str(each.code)) for each in problems.values())
        (commonest, times), *_ = counts.most_common(1)
        first = next(row for row in sorted(problems) if (problems[row].column, str(problems[row].code)) == commonest)
        return times, next(self._explanation(findings).rejected_rows({first: problems[first]}, {}))

    def _lines(self) -> str:
        chunk, sorted_by = self.session.chunk, self.session.plan.sorted_by
        rows = f"{chunk.rows:,} row{'' if chunk.rows == 1 else 's'}"
        if sorted_by:
            return f"{rows} in the order of {', '.join(sorted_by.columns)}"
        return f"the {rows} from line {chunk.first_line:,} on"


def _bad_row(row: RejectedRow) -> BadRow:
    code = int(row.error.code) if row.error.code.isdecimal() else 0
    return BadRow(row.line, row.error.column, row.value, row.reason, code)


def _advice(code: int) -> str:
    if code == DUPLICATE:
        return (
            "If these rows were imported before, delete them from the table and retry, or leave them out of the file."
            " If they are new, correct their keys and import the file as a new one."
        )
    if code in WRONG_COUNT:
        return "Check delimiter and quote. If they are right, correct the row and import the file as a new one."
    return (
        "If the table should take this, change the table and retry. If it should not, correct the file and import that"
        " as a new one."
    )
