"""Recognizes tables that a program drew for people, which are no CSV files: each is named, with what to do instead."""

import re

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import escape_mark
from importer.engine.source.profile.candidates import DialectCandidate
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.units import count_of

LINES = 200  # read at most
DRAWN_BYTES = 64 * 1024  # of the file's beginning, enough to recognize a drawn table
_BOX_BORDER = re.compile(r"\+(?:[-=]+\+)+")
_MARKDOWN_RULER = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
_PSQL_RULER = re.compile(r"-{2,}(?:\+-{2,})+")
_UNICODE_BORDERS = "┌╔╭┏"
_WORDS_APART = re.compile(r"\S+(?: \S+)*")
_DELIMITERS = (b",", b";", b"\t", b"|")
_BLANK_LINE = re.compile(rb"(?:\n\r?\n|\r\r)\Z")
# A file of fixed width: at least this many lines, all with blanks at the same places between at least three columns.
FIXED_WIDTH_LINES, FIXED_WIDTH_COLUMNS = 4, 3


def refuse_drawn_tables(sample: str) -> None:
    """Raise SourceProblem, with the line, if the sample begins with a drawn table."""
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


def refuse_other_layouts(sample: bytes, best: DialectCandidate) -> None:
    """Raise SourceProblem, with the line, if the records are several tables, or whole lines in quotes."""
    if best.width < 2:
        _refuse_quoted_lines(sample, best)
    elif best.agreement < 1:
        _refuse_several_tables(sample, best)


def _refuse_several_tables(sample: bytes, best: DialectCandidate) -> None:
    """Refuse a file of which a later part, behind a blank line, has rows of another width than the first part.

    A smaller first part may be the title of a report.
    """
    groups: list[list[int]] = [[]]
    for number, (row, start) in enumerate(zip(best.rows, best.starts, strict=True)):
        if groups[-1] and (not any(row) or _BLANK_LINE.search(sample, max(0, start - 4), start)):
            groups.append([])
        if any(row):
            groups[-1].append(number)
    first = {len(best.rows[number]) for number in groups[0]}
    for group in groups[1:]:
        width = {len(best.rows[number]) for number in group}
        differ = len(first) == len(width) == 1 and first != width and min(*first, *width) > 1
        if differ and 2 < len(group) <= len(groups[0]):
            line = 1 + line_ends(sample, best.dialect.line_end, 0, best.starts[group[0]])
            mark = escape_mark(best.dialect.delimiter)
            raise SourceProblem(
                f"There are several tables in the file: from line {line} on, the rows have"
                f" {count_of(min(width), 'field')} instead of {min(first)}.",
                where=f"line {line}",
                advice=f"Save each table as a file of its own; or read all lines as one table: --delimiter '{mark}'.",
            )


def _refuse_quoted_lines(sample: bytes, best: DialectCandidate) -> None:
    """Refuse a file whose lines are each quoted as a whole: every record has one field, with delimiters in it."""
    values = [row[0] for row in best.rows]
    counts = [{value.count(mark) for value in values} for mark in _DELIMITERS]
    if len(values) > 1 and best.quoted_whole(sample) and any(len(each) == 1 and each != {0} for each in counts):
        raise SourceProblem(
            "Each line as a whole is in quotes, so that it is read as a single field.",
            where="line 1",
            advice="Take the quotes around the lines away, and halve doubled quotes inside; or write the file again. If"
            f" each line is one value: --delimiter '{escape_mark(best.dialect.delimiter)}'.",
        )


def _drawn(number: int, kind: str, instead: str) -> SourceProblem:
    return SourceProblem(
        f"This is {kind}, not a CSV file.",
        where=f"line {number + 1}",
        advice=f"Export it in another way: {instead}. To read each line as a record all the same: --delimiter '|'.",
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
