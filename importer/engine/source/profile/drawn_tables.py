"""Recognizes tables that a program drew for people, which are no CSV files: each is named, with what to do instead."""

import csv
import re
from collections.abc import Sequence

from importer.engine.errors import SourceProblem
from importer.engine.units import count_of

LINES = 200  # read at most
DRAWN_BYTES = 64 * 1024  # of the file's beginning, enough to recognize a drawn table
_BOX_BORDER = re.compile(r"\+(?:[-=]+\+)+")
_MARKDOWN_RULER = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
_PSQL_RULER = re.compile(r"-{2,}(?:\+-{2,})+")
_UNICODE_BORDERS = "┌╔╭┏"
_WORDS_APART = re.compile(r"\S+(?: \S+)*")
_DELIMITERS = ",;\t|"
# A file of fixed width: at least this many lines, all with blanks at the same places between at least three columns.
FIXED_WIDTH_LINES, FIXED_WIDTH_COLUMNS = 4, 3


def refuse_drawn_tables(sample: str) -> None:
    """Raise SourceProblem, with the line, if the sample is a drawn table, or if each line as a whole is in quotes."""
    lines = sample.splitlines()[:LINES]
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if _BOX_BORDER.fullmatch(line.strip()) and following.lstrip().startswith("|"):
            raise _drawn(number, "a table with borders, as the mysql client prints it", "mysql --batch writes tabs")
        if line[:1] in _UNICODE_BORDERS and line[:1]:
            raise _drawn(number, "a table with borders", "let the program write CSV")
        if "|" in line and "|" in following and _MARKDOWN_RULER.fullmatch(following.strip()):
            raise _drawn(number, "a Markdown table", "save the data as CSV")
        if "|" in line and _PSQL_RULER.fullmatch(following.strip()):
            raise _drawn(number, "aligned output of psql", r"\copy ... TO 'file.csv' CSV HEADER writes CSV")
        if line.strip():
            break  # A drawn table begins with the first line that has text.
    _refuse_quoted_lines(lines)
    _refuse_several_tables(lines)


def _refuse_several_tables(lines: Sequence[str]) -> None:
    """Refuse a file of which a later part, behind a blank line, has rows of another width than the first part.

    A smaller first part may be the title of a report.
    """
    groups: list[tuple[int, list[str]]] = [(0, [])]
    for number, line in enumerate(lines):
        if line.strip(" ,;\t|"):
            groups[-1][1].append(line)
        elif groups[-1][1]:
            groups.append((number + 1, []))
    delimiter = max(_DELIMITERS, key="".join(lines).count)
    widths = [
        (number, {len(row) for row in csv.reader(rows, delimiter=delimiter)}, len(rows)) for number, rows in groups
    ]
    first = widths[0][1]
    for number, width, count in widths[1:]:
        if len(first) == len(width) == 1 and first != width and min(*first, *width) > 1 and 2 < count <= widths[0][2]:
            raise SourceProblem(
                f"There are several tables in the file: from line {number + 1} on, the rows have"
                f" {count_of(min(width), 'field')}"
                f" instead of {min(first)}.",
                where=f"line {number + 1}",
                advice="Save each table as a file of its own.",
            )


def _drawn(number: int, kind: str, instead: str) -> SourceProblem:
    return SourceProblem(
        f"This is {kind}, not a CSV file.", where=f"line {number + 1}", advice=f"Export it in another way: {instead}."
    )


def _refuse_quoted_lines(lines: Sequence[str]) -> None:
    """Refuse a file whose lines are each quoted as a whole: every record has one field, with delimiters in it."""
    texts = [line for line in lines if line.strip()]
    if len(texts) < 2 or not all(len(text) > 2 and text[0] == text[-1] == '"' for text in texts):
        return
    for delimiter in _DELIMITERS:
        rows = list(csv.reader(texts, delimiter=delimiter, strict=False))
        if any(len(row) != 1 for row in rows):
            return
    counts = {delimiter: {row[0].count(delimiter) for row in rows} for delimiter in _DELIMITERS}
    if any(len(each) == 1 and each != {0} for each in counts.values()):
        raise SourceProblem(
            "Each line as a whole is in quotes, so that it is read as a single field.",
            where="line 1",
            advice="Take the quotes around the lines away, and halve doubled quotes inside; or write the file again.",
        )


def is_fixed_width(sample: str) -> bool:
    """Whether all lines have their values at the same places, with blanks between them instead of a delimiter."""
    lines = [line.rstrip() for line in sample.splitlines()[:LINES] if line.strip()]
    if len(lines) < FIXED_WIDTH_LINES or any(mark in line for line in lines for mark in "\t;|"):
        return False
    width = max(map(len, lines))
    blank = [all(line[at : at + 1] in ("", " ") for line in lines) for at in range(width)]
    columns = "".join(" " if each else "x" for each in blank).split()
    # In running text blanks do not stand below each other; in a column of words they do only by its own width.
    apart = sum(len(_WORDS_APART.findall(line)) >= FIXED_WIDTH_COLUMNS or "  " in line for line in lines)
    return len(columns) >= FIXED_WIDTH_COLUMNS and apart == len(lines)
