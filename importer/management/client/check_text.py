"""Checks of whole files as lines for a terminal, from their documents (docs/contracts.md)."""

from collections.abc import Mapping
from typing import Any

from importer.engine.source.chunks.skipped_lines import SkippedLines
from importer.engine.source.records.row_error import shortened
from importer.management.client.report_text import kind_lines, reading_lines, skipped_lines


def check_lines(check: Mapping[str, Any]) -> list[str]:
    """The rows that could not be loaded, how the file is read, and the table that it needs if there is none."""
    rows, found, reading = check["rows"], check["bad_rows"], check["reading"]
    bad = f"{rows['bad']:,} of them could not be loaded" if rows["bad"] else "all of them could be loaded"
    lines = [f"{check['file']}: {rows['source']:,} rows, {bad}."]
    for row in found["first"]:
        column = f", column {row['column']}: {shortened(row['value'])}" if row["column"] else ""
        lines.append(f"  {row['file']}, line {row['line']:,}{column}: {row['reason']}")
    if rows["bad"] > len(found["first"]):
        lines.append(f"  and {rows['bad'] - len(found['first']):,} more. By reason:")
        lines += kind_lines(found["reasons"], ())
    lines += skipped_lines(SkippedLines.from_json(check["lines"]))
    guessed = (f"Guessed: {each['evidence']}" for each in reading["guesses"])
    lines += ["", *reading_lines(reading), *guessed, *reading["notes"]]
    if statement := check["create_table"]:
        lines += ["", "A table for it (--mode create makes it):", f"{statement};"]
    return lines
