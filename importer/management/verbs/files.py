"""What the words about files print, from their documents (docs/contracts.md): plans, and checks of whole files."""

from collections.abc import Iterator, Mapping
from typing import Any

from importer.engine.source.chunks.skipped_lines import SkippedLines
from importer.engine.source.records.row_error import shortened
from importer.management.terminal.report_text import kind_lines, plan_lines, reading_lines, skipped_lines
from importer.management.verbs.verb import Context, Json


def show_plan(context: Context, report: Json, about: str) -> int:
    """Print how the files are read, the plan and its SQL; the exit code. `about`: what is loaded."""
    context.output.give_whole(report)
    for line in (*reading_lines(report["reading"]), f"\n{about}:", *plan_lines(report["plan"])):
        context.output.say(line)
    return int(report["exit_code"])


def show_check(context: Context, check: Json) -> int:
    """Print how the file is read, the table that it needs if there is none, and last the rows that could not be loaded;
    the exit code.
    """
    context.output.give_whole(check)
    for line in (*_reading(check["reading"]), *_table(check["create_table"]), "", *_rows(check)):
        context.output.say(line)
    return int(check["exit_code"])


def _reading(reading: Mapping[str, Any]) -> Iterator[str]:
    yield from reading_lines(reading)
    yield from (f"Guessed: {each['evidence']}" for each in reading["guesses"])
    yield from reading["notes"]


def _table(statement: str | None) -> Iterator[str]:
    if statement:
        yield from ("", "A table for it (--mode create makes it):", f"{statement};")


def _rows(check: Mapping[str, Any]) -> Iterator[str]:
    rows, found = check["rows"], check["bad_rows"]
    yield from skipped_lines(SkippedLines.from_json(check["lines"]))
    bad = f"{rows['bad']:,} of them could not be loaded:" if rows["bad"] else "all of them could be loaded."
    yield f"{check['file']}: {rows['source']:,} rows, {bad}"
    for row in found["first"]:
        column = f", column {row['column']}: {shortened(row['value'])}" if row["column"] else ""
        yield f"  {row['file']}, line {row['line']:,}{column}: {row['reason']}"
    if rows["bad"] > len(found["first"]):
        yield f"  and {rows['bad'] - len(found['first']):,} more. By reason:"
        yield from kind_lines(found["reasons"], ())
