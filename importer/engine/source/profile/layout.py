"""Finds the lines of a sample that are no records, and a delimiter at the end of each record."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import ANY_LINE_END, escape_mark, unescape_mark
from importer.engine.source.profile.candidates import DialectCandidate, read_candidate
from importer.engine.source.profile.decisions import Answer, Decision, SkippedLine, Standing
from importer.engine.source.profile.delimiters import unused_delimiter
from importer.engine.source.profile.header import header_decision
from importer.engine.source.profile.names import match_names
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS
from importer.engine.source.records.lines import line_ends

MOST_SKIPPED = 20  # lines before the header
LONGEST_SHOWN = 200  # characters of a line
# Excel reads the delimiter from such a first line.
_SEPARATOR_LINE = re.compile(rb'"?sep=(\\t|[^\r\n"])"?(?:\r\n|\n|\r|\Z)', re.IGNORECASE)


@dataclass(frozen=True)
class Skipped:
    """The first lines that are no records: their number, their size in bytes, and the decision, None without lines."""

    lines: int = 0
    bytes: int = 0
    decision: Decision | None = None


def separator_line(sample: bytes) -> tuple[str, Skipped]:
    """The delimiter that a first line such as `sep=;` names, and that line; "" without one."""
    match = _SEPARATOR_LINE.match(sample)
    if not match:
        return "", Skipped()
    mark = unescape_mark(match[1].decode("latin-1"))
    evidence = f"The first line names the delimiter for Excel ({match[0].decode('latin-1').strip()}): left out."
    return mark, Skipped(1, match.end(), Decision("skipped_lines", "1", Standing.PROVED, evidence))


def lines_before_table(sample: bytes, best: DialectCandidate, names: Sequence[str]) -> Skipped:
    """The lines above the header, or above the first record, that are no records.

    Lines above a row with the names of the table's columns are none. Otherwise those of a title or a note above a wider
    table may be none; that is a guess.
    """
    header = best.header_row(names)
    if header is not None:
        if not header:
            return Skipped()
        return _skipped(sample, best, header, "above the names of the table's columns", Standing.PROVED)
    if not best.divides:
        return Skipped()
    width = best.width
    narrow = list(takewhile(lambda row: _filled(row) < width, best.rows))
    below = best.rows[len(narrow) :]
    fits = sum(len(row) == width for row in below)
    if not narrow or len(narrow) > MOST_SKIPPED or len(below) < 2 or fits < 0.98 * len(below):
        return Skipped()
    if any(_filled(row) > max(1, width // 2) for row in narrow) and not _certainly_above(best, len(narrow)):
        return Skipped()
    return _skipped(sample, best, len(narrow), f"with fewer fields than the {width} below", Standing.GUESSED)


def _certainly_above(best: DialectCandidate, count: int) -> bool:
    """Whether the first `count` records, which are nearly as wide as the table, stand above a header.

    A header with one name less than the table has fields is a header, and an error that must be named.
    """
    header, decision = header_decision(best.text_rows()[count:])
    return count > 1 and header and decision.standing is Standing.PROVED


def _filled(row: Sequence[bytes]) -> int:
    """The number of fields up to the last one with a text: programs pad titles with delimiters."""
    return max((number for number, value in enumerate(row, start=1) if value.strip()), default=0)


def _skipped(sample: bytes, best: DialectCandidate, rows: int, where: str, standing: Standing) -> Skipped:
    end = best.starts[rows]
    lines = line_ends(sample, best.dialect.line_end, 0, end)
    count = "The first line is" if lines == 1 else f"The first {lines} lines are"
    evidence = f"{count} no part of the table ({where}): left out."
    answers = () if standing is not Standing.GUESSED else _answers(sample, best, lines)
    return Skipped(lines, end, Decision("skipped_lines", str(lines), standing, evidence, answers=answers))


def _answers(sample: bytes, best: DialectCandidate, lines: int) -> tuple[Answer, ...]:
    shown = tuple(each.text for each in skipped_lines(sample, best, lines))
    return (
        Answer(
            f"{lines} line{'s' if lines > 1 else ''} left out", f"--skip-rows {lines}", (("skip_rows", lines),), shown
        ),
        _as_records(best, sample, shown),
    )


def _as_records(best: DialectCandidate, sample: bytes, shown: tuple[str, ...]) -> Answer:
    """The answer that no line is left out. If these are single fields, all lines are."""
    if any(len(row) > 1 for row in best.rows[: len(shown)]):
        return Answer("they are records", "--skip-rows 0", (("skip_rows", 0),), shown)
    mark = unused_delimiter(sample)
    return Answer(
        "each line is a single field",
        f"--skip-rows 0 --delimiter '{escape_mark(mark)}'",
        (("skip_rows", 0), ("delimiter", mark)),
        shown,
    )


def skipped_lines(sample: bytes, best: DialectCandidate, lines: int, first_line: int = 1) -> tuple[SkippedLine, ...]:
    """The texts of the first lines of the sample, which are no records."""
    texts = re.split(RECORD_ENDS[ANY_LINE_END], sample[: 64 * 1024])[:lines]
    encoding = best.dialect.plain.encoding
    return tuple(
        SkippedLine(number, text.decode(encoding, "replace")[:LONGEST_SHOWN], "preamble" if text.strip() else "blank")
        for number, text in enumerate(texts, start=first_line)
    )


def trailing_delimiter(
    sample: bytes, best: DialectCandidate, names: Sequence[str], final: bool, first_line: int
) -> tuple[DialectCandidate, Decision]:
    """The candidate with a trailing delimiter if each record and the header end in one.

    If the header has one name less than the records have fields, and the last field is always empty, that is a guess.
    Raises SourceProblem, with the line, if the header has another number of names than all records have fields.
    """
    none = Decision("trailing_delimiter", "no", Standing.RULE, "")
    rows, width = best.rows, best.width
    if len(rows) < 2 or width < 2:
        return best, none
    first, below = rows[0], rows[1:]
    if all(len(row) == width and not row[-1] for row in rows) and width > 2:
        evidence = "Each record ends in one more delimiter, which is not taken for a field."
        reading = read_candidate(sample, replace(best.dialect, trailing_delimiter=True), final)
        return reading, Decision("trailing_delimiter", "yes", Standing.PROVED, evidence)
    if len(first) == width or any(len(row) != width for row in below):
        return best, none
    header = [value.decode(best.dialect.plain.encoding, "replace") for value in first]
    ends_empty = len(first) == width - 1 and not any(row[-1] for row in below)
    if ends_empty and (not names or all(match_names(header, names))):
        return _short_header(sample, best, header, final)
    raise SourceProblem(
        f"The header has {len(first)} name{'s' if len(first) != 1 else ''}, the records have {width} fields:"
        f" {', '.join(header)[:LONGEST_SHOWN]}.",
        where=f"line {first_line}",
        advice="Correct the header; or leave it out and name the columns: --no-header"
        f" --skip-rows {first_line} --map '#1=COLUMN'."
        + (" If each record ends in one more delimiter: --trailing-delimiter." if ends_empty else ""),
    )


def _short_header(
    sample: bytes, best: DialectCandidate, header: Sequence[str], final: bool
) -> tuple[DialectCandidate, Decision]:
    reading = read_candidate(sample, replace(best.dialect, trailing_delimiter=True), final)
    record = tuple(value.decode(best.dialect.plain.encoding, "replace") for value in best.rows[1])
    pairs = tuple(f"{name} = {value}" for name, value in zip(header, record, strict=False))
    evidence = (
        f"The header has {len(header)} names, the records have {best.width} fields; the last one is always empty."
    )
    return reading, Decision(
        "trailing_delimiter",
        "yes",
        Standing.GUESSED,
        evidence,
        answers=(
            Answer(
                "each record ends in one more delimiter",
                "--trailing-delimiter",
                (("trailing_delimiter", True),),
                pairs,
            ),
        ),
    )
