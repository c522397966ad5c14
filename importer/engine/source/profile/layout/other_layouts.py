"""Hints that a sample is no CSV: drawn tables, fixed width, several tables, lines in quotes. Each is a question."""

import re
from dataclasses import replace

from importer.engine.source.decisions import Decision, answer, asked
from importer.engine.source.profile.delimiters import DELIMITERS, delimiter_answer
from importer.engine.source.profile.readings import SampleReading
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.units import count_of

LINES = 200  # read at most
DRAWN_BYTES = 64 * 1024  # of the file's beginning, enough to recognize a drawn table
_BARS_AT_ENDS = re.compile(r"(?:\|[^|]+){2,}\|\s*")
_CELLS = re.compile(r".*\|.*")
# Of drawn tables the first line with a text and the one below it, what they are, and what to do instead.
_DRAWN = (
    (
        *(re.compile(r"\s*\+(?:[-=]+\+)+\s*"), re.compile(r"\s*\|.*")),
        *("a table with borders, as the mysql client prints it", "mysql --batch writes tabs"),
    ),
    (re.compile("[┌╔╭┏].*"), re.compile(".*"), "a table with borders", "let the program write CSV"),
    (
        *(_CELLS, re.compile(r"(?=.*\|)\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")),
        *("a Markdown table", "save the data as CSV"),
    ),
    (
        *(_BARS_AT_ENDS, _BARS_AT_ENDS),
        *("a table with bars at both ends of each line", "save the data as CSV"),
    ),
    (
        *(_CELLS, re.compile(r"\s*-{2,}(?:\+-{2,})+\s*")),
        *("aligned output of psql", r"\copy ... TO 'file.csv' CSV HEADER writes CSV"),
    ),
)
_FIXED = "The file has no delimiter: its values stand at fixed places, with blanks between them."
_WORDS_APART = re.compile(r"\S+(?: \S+)*")
_BLANK_LINE = re.compile(rb"(?:\n\r?\n|\r\r)\Z")
# A file of fixed width: at least this many lines, all with blanks at the same places between at least three columns.
FIXED_WIDTH_LINES, FIXED_WIDTH_COLUMNS = 4, 3


def layout_question(best: SampleReading, delimiter: Decision, drawn: str, first_line: int) -> Decision:
    """The question whether the sample is to be read as CSV at all; the decision about its delimiter if it is.

    `drawn`: that of drawn_table(), with the lines that are left out. `first_line`: the number of the sample's first.
    """
    is_fixed = best.width < 2 and is_fixed_width(best.text(best.sample[:DRAWN_BYTES]))
    hint = drawn or (_several_tables(best, first_line) if best.width > 1 else _quoted_lines(best))
    if not hint and not is_fixed:
        return delimiter
    answers = delimiter.answers or (delimiter_answer(best),)
    fixed = (answer("the values stand at fixed places", format="fixed"),) if is_fixed else ()
    return replace(asked("delimiter", hint or _FIXED, *answers, *fixed, value=delimiter.value), of=len(best.rows))


def drawn_table(sample: bytes, encoding: str) -> str:
    """What a table that a program drew for people is, in a sentence; "" for other samples."""
    lines = sample[:DRAWN_BYTES].decode(encoding, "replace").splitlines()[:LINES]
    number = next((number for number, line in enumerate(lines) if line.strip()), 0)
    line, below = (*lines[number : number + 2], "", "")[:2]
    for of_line, of_below, kind, instead in _DRAWN:
        if of_line.fullmatch(line) and of_below.fullmatch(below):
            return f"This is {kind}, not a CSV file. Export it in another way: {instead}."
    return ""


def _several_tables(best: SampleReading, first_line: int) -> str:
    """That a later part, behind a blank line, has rows of another width than the first part; "" without one.

    A smaller first part may be the title of a report.
    """
    if best.agreement == 1:
        return ""
    groups: list[list[int]] = [[]]
    for number, (row, start) in enumerate(zip(best.rows, best.starts, strict=True)):
        if groups[-1] and (not any(row) or _BLANK_LINE.search(best.sample, max(0, start - 4), start)):
            groups.append([])
        if any(row):
            groups[-1].append(number)
    first, *others = ({len(best.rows[number]) for number in group} for group in groups)
    for group, width in zip(groups[1:], others, strict=True):
        differ = len(first) == len(width) == 1 and first != width and min(*first, *width) > 1
        if differ and 2 < len(group) <= len(groups[0]):
            line = first_line + line_ends(best.sample, best.dialect.line_end, 0, best.starts[group[0]])
            fields = f"{count_of(min(width), 'field')} instead of {min(first)}"
            return (
                f"There are several tables in the file: from line {line} on, the rows have {fields}. Save each table as"
                " a file of its own."
            )
    return ""


def _quoted_lines(best: SampleReading) -> str:
    """That each line is quoted as a whole, with delimiters in it; "" for others."""
    quote, values = best.dialect.quote.encode(), [row[0] for row in best.rows]
    counts = [{value.count(mark.encode()) for value in values} for mark in DELIMITERS]
    whole = bool(quote) and all(best.sample.startswith(quote, start) for start in best.starts)
    if len(values) < 2 or not whole or not any(len(each) == 1 and each != {0} for each in counts):
        return ""
    return (
        "Each line as a whole is in quotes, so that it is read as a single field. Take the quotes around the lines"
        " away, and halve doubled quotes inside; or write the file again."
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
