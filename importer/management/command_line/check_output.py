"""What `millrace check` shows: the rows that could not be loaded, and the table that a file without one needs."""

from collections.abc import Mapping
from typing import Any

from config.contracts.documents import CHECK
from importer.engine.errors import Problem, problem_values
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import reading_to_json
from importer.engine.source.records.row_error import shortened
from importer.engine.stored import to_json
from importer.management.client.report_text import kind_lines, reading_lines, skipped_lines
from importer.management.command_line.follow.progress import Amounts, Progress
from importer.management.command_line.one_document import DocumentCommand
from importer.models.outcomes import FOUND_BAD_ROWS
from importer.preparation.whole_file import AsRead, FileCheck, check_file


def run_check(read: AsRead, command: DocumentCommand, *, as_json: bool) -> int:
    """Check the file, show what is found, and return the exit code. Raises Problem for a file that cannot be read."""
    check = _followed(read, quiet=as_json)
    code = FOUND_BAD_ROWS.exit_code if check.bad else 0
    if as_json:
        command.give(CHECK, _as_json(read.source.name, check, code))
        return code
    for line in _lines(read.source.name, check):
        command.stdout.write(line)
    return code


def document_of_problem(problem: Problem, exit_code: int) -> dict[str, Any]:
    """The document of a check that came to no result."""
    reading = reading_to_json(problem.reading) if isinstance(problem, NeedsAnswer) else None
    return CHECK.of(
        {**_NOTHING, "exit_code": exit_code, "reading": reading, "problem": problem_values(problem.as_json())}
    )


_NOTHING: Mapping[str, Any] = {
    "exit_code": 0,
    "file": None,
    "rows": {"source": 0, "bad": 0, "source_is_final": False},
    "lines": {},
    "reading": None,
    "create_table": None,
    "bad_rows": {"reasons": [], "first": []},
    "problem": None,
}


def _followed(read: AsRead, *, quiet: bool) -> FileCheck:
    """The check, with a progress line."""
    progress, name = Progress(quiet), read.source.name

    def on_rows(rows: int, done: int, size: int) -> None:
        progress.show_amounts(name, Amounts(done, size, rows), "checking")

    def on_bytes(done: int) -> None:
        progress.show_amounts(name, Amounts(done, read.source.size, 0), "unpacking")

    try:
        return check_file(read, on_rows, on_bytes)
    finally:
        progress.close()


def _as_json(name: str, check: FileCheck, exit_code: int) -> dict[str, Any]:
    return {
        **_NOTHING,
        "exit_code": exit_code,
        "file": name,
        "rows": {"source": check.rows, "bad": check.bad, "source_is_final": True},
        "lines": check.lines.as_json(),
        "reading": reading_to_json(check.reading),
        "create_table": _create_table(check),
        "bad_rows": {"reasons": _reasons(check), "first": [to_json(each) for each in check.first]},
    }


def _reasons(check: FileCheck) -> list[dict[str, Any]]:
    """Why rows could not be loaded, as in a report: the most frequent reasons first."""
    return [
        {"column": column, "reason": reason, "rows": count} for (column, reason), count in check.reasons.most_common()
    ]


def _lines(name: str, check: FileCheck) -> list[str]:
    bad = f"{check.bad:,} of them could not be loaded" if check.bad else "all of them could be loaded"
    lines = [f"{name}: {check.rows:,} rows, {bad}."]
    for row in check.first:
        column = f", column {row.column}: {shortened(row.value)}" if row.column else ""
        lines.append(f"  {row.file}, line {row.line:,}{column}: {row.reason}")
    if check.bad > len(check.first):
        lines.append(f"  and {check.bad - len(check.first):,} more. By reason:")
        lines += kind_lines(_reasons(check), ())
    lines += skipped_lines(check.lines)
    lines += ["", *reading_lines(reading_to_json(check.reading)), *check.reading.lines]
    if statement := _create_table(check):
        lines += ["", "A table for it (--mode create makes it):", f"{statement};"]
    return lines


def _create_table(check: FileCheck) -> str | None:
    """The statement that makes the new table; None if there is one."""
    return check.new_table.statement(check.new_table.name) if check.new_table else None
