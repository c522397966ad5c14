"""Finds the lines of a sample that are no records, and a delimiter at the end of each record."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import ANY_LINE_END, Dialect, escape_mark, unescape_mark
from importer.engine.source.profile.candidates import DialectCandidate, read_candidate
from importer.engine.source.profile.decisions import Answer, Decision, SkippedLine, Standing
from importer.engine.source.profile.delimiters import unused_delimiter
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.header import header_decision, kind
from importer.engine.source.profile.names import match_names
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.source.records.boundary.no_records import find_no_records, kind_of
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS
from importer.engine.source.records.fields import fields
from importer.engine.source.records.lines import line_ends

MOST_SKIPPED = 20  # lines before the header
LONGEST_SHOWN = 200  # characters of a line
COMMENTS = ("#", "//")
TEXTS_SHOWN, PAIRS_SHOWN = 2, 5
MOST_FOOTER_LINES = 5
_TOTAL = re.compile(r"\W*(?:grand |sub)?(?:totals?|sums?|summe|gesamt|insgesamt|totaux|totale|suma|count)\b", re.I)
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
# A line below the header that SQL*Plus and others draw.
_RULER = re.compile(r"[-=_]{2,}")
# Excel reads the delimiter from such a first line.
_SEPARATOR_LINE = re.compile(rb'"?sep=(\\t|[^\r\n"])"?(?:\r\n|\n|\r|\Z)', re.IGNORECASE)


@dataclass(frozen=True)
class Skipped:
    """The first lines that are no records: their number, their size in bytes, and the decision, None without lines."""

    lines: int = 0
    bytes: int = 0
    decision: Decision | None = None


class OddHeader(SourceProblem):
    """The header has another number of names than all records have fields."""


def without_odd_header(
    sample: bytes, best: DialectCandidate, expected: Sequence[ExpectedColumn], final: bool
) -> DialectCandidate | None:
    """The records below a first line that is an odd header, if the fields can go into the columns by position.

    That is so if all records have as many fields as the table takes, and the names that are columns stand in the
    table's order; else None.
    """
    names = [column.name for column in expected]
    given = sum(not column.numbered for column in expected)
    header = [value.decode(best.dialect.plain.encoding, "replace") for value in best.rows[0]]
    places = [names.index(name) for name in match_names(header, names) if name]
    if best.width not in (len(names), given) or places != sorted(places):
        return None
    below = read_candidate(sample[_first_line(sample, best) :], best.dialect, final)
    return below if below.rows and all(len(row) == best.width for row in below.rows) else None


def odd_header(
    sample: bytes, best: DialectCandidate, expected: Sequence[ExpectedColumn], lines_above: int, problem: str
) -> Skipped:
    """The first line, an odd header, left out as a guess. `best` has the records below; `problem` says what is odd."""
    names = [column.name for column in expected if len(expected) == best.width or not column.numbered]
    first = best.text_rows()[0]
    count = lines_above + 1
    answer = Answer(
        "the names do not count: the fields go in by position",
        f"--no-header --skip-rows {count}",
        (("header", False), ("skip_rows", count)),
        tuple(f"{name} = {value}" for name, value in zip(names, first, strict=False))[:PAIRS_SHOWN],
    )
    decision = Decision(
        "header", "no", Standing.GUESSED, f"Line {count}: {problem} So its names tell no column.", answers=(answer,)
    )
    return Skipped(1, _first_line(sample, best), decision)


def _first_line(sample: bytes, best: DialectCandidate) -> int:
    """The size of the first line of the sample, in bytes."""
    match = re.search(RECORD_ENDS[best.dialect.line_end], sample)
    return match.end() if match else len(sample)


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
    Raises OddHeader, with the line, if the header has another number of names than all records have fields.
    `first_line`: the number of the sample's first line.
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
    line = first_line + line_ends(sample, best.dialect.line_end, 0, best.starts[0])
    raise OddHeader(
        f"The header has {len(first)} name{'s' if len(first) != 1 else ''}, the records have {width} fields:"
        f" {', '.join(header)[:LONGEST_SHOWN]}.",
        where=f"line {line}",
        advice="Correct the header; or leave it out and name the columns: --no-header"
        f" --skip-rows {line} --map '#1=COLUMN'."
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


def comment_begin(sample: bytes) -> str:
    """What comments may begin with, "" if no line, or most lines, begin so: then it is a part of values."""
    text = b"\n" + sample.replace(b"\r", b"\n")
    for begin in COMMENTS:
        # Counted before the lines are: most files have none of them.
        count = text.count(b"\n" + begin.encode())
        if count and count <= sum(map(bool, text.split(b"\n"))) / 2:
            return begin
    return ""


def comment_decision(sample: bytes, best: DialectCandidate, names: Sequence[str], final: bool) -> Decision | None:
    """The decision that `best`, which was read without comments, is right; None if these lines are no comments.

    Proved if each of them has another number of fields than the table, or if all stand above the table's names. The
    only line with # may be the header itself.
    """
    dialect = best.dialect
    ends = find_ends(sample, dialect, final=final)
    none = find_no_records(sample[: ends.size], ends, dialect)
    begins = [at for at in none if kind_of(sample, at, dialect) == "comment"]
    lines = [sample[at : ends.first(at)].rstrip(b"\r\n") for at in begins]
    if not lines or not best.rows:
        return None
    plain = replace(dialect, comment="")
    others = [line for line in lines if len(fields(line, plain)) == best.width]
    if begins[-1] < best.starts[0] and others and best.header_row(names) is None:
        return None
    shown = _shown(lines, dialect)
    plural = "s begin" if len(lines) > 1 else " begins"
    evidence = f"{len(lines)} line{plural} with {dialect.comment} and {'are' if len(lines) > 1 else 'is'} left out."
    above = best.header_row(names) == 0 and begins[-1] < best.starts[0]
    if best.width > 1 and (above or not others):
        return Decision("comment", dialect.comment, Standing.PROVED, evidence)
    answers = (
        Answer("they are comments", f"--comment '{dialect.comment}'", (("comment", dialect.comment),), shown),
        Answer("they are records", "--comment ''", (("comment", ""),), shown),
    )
    return Decision("comment", dialect.comment, Standing.GUESSED, evidence, answers=answers)


def without_repeated_header(best: DialectCandidate) -> DialectCandidate | None:
    """The candidate without the records that repeat the first one, which may be a header; None if none does."""
    if best.width < 2 or not best.rows or any(kind(value.decode("latin-1")) for value in best.rows[0]):
        return None
    kept = [number for number, row in enumerate(best.rows) if not number or row != best.rows[0]]
    if len(kept) == len(best.rows) or len(kept) < 2:
        return None
    rows, starts = [best.rows[number] for number in kept], [best.starts[number] for number in kept]
    return replace(best, rows=tuple(rows), starts=tuple(starts))


def repeated_header_decision(best: DialectCandidate, names: Sequence[str]) -> Decision:
    """The decision to leave out the records that repeat the header; proved if it has the names of the table."""
    line = best.dialect.delimiter.join(best.text_rows()[0])[:LONGEST_SHOWN]
    evidence = f"The header {line!r} comes again among the records: left out."
    if best.header_row(names) == 0:
        return Decision("skip_repeated_header", "yes", Standing.PROVED, evidence)
    answers = (
        Answer(
            "the header comes again",
            "--skip-repeated-header",
            (("skip_repeated_header", True),),
            (f"left out: {line}",),
        ),
        Answer(
            "these are records", "--no-skip-repeated-header", (("skip_repeated_header", False),), (f"a row: {line}",)
        ),
    )
    return Decision("skip_repeated_header", "yes", Standing.GUESSED, evidence, answers=answers)


def units_decision(best: DialectCandidate) -> Decision | None:
    """The decision to leave out a line of units below the header: all of its fields, and no others, in brackets.

    Proved if a number stands below a unit, which is no number.
    """
    first = best.text_rows(3)
    if len(first) < 3 or len(first[1]) != best.width or not _are_units(first[1]):
        return None
    rows = best.text_rows()
    if any(map(_are_units, rows[2:])):
        return None
    shown = best.dialect.delimiter.join(rows[1])[:LONGEST_SHOWN]
    evidence = f"The line below the header has units ({shown}): left out."
    if any(kind(value) for row in rows[2:] for value in row):
        return Decision("skip_after_header", "1", Standing.PROVED, evidence)
    answers = (
        Answer("units", "--skip-after-header 1", (("skip_after_header", 1),), (f"left out: {shown}",)),
        Answer("a record", "--skip-after-header 0", (("skip_after_header", 0),), (f"a row: {shown}",)),
    )
    return Decision("skip_after_header", "1", Standing.GUESSED, evidence, answers=answers)


def _are_units(row: Sequence[str]) -> bool:
    given = [value.strip() for value in row if value.strip()]
    return bool(given) and any(all(map(pattern.fullmatch, given)) for pattern in (_IN_BRACKETS, _RULER))


def footer_decision(tail: bytes, dialect: Dialect, width: int) -> tuple[int, Decision | None]:
    """The number of lines at the end that are a footer, and the guess that they are.

    `tail`: the last bytes of the file. A footer has fewer fields than the table, which has `width`, and stands below a
    blank line, or its first field is a word such as Total.
    """
    lines = re.split(RECORD_ENDS[dialect.line_end], tail.rstrip(b"\r\n"))
    count = lowest = 0
    for number, line in enumerate(reversed(lines[1:][-MOST_FOOTER_LINES:]), start=1):
        # A line with an odd number of quotes may be the end of a value of several lines.
        if dialect.quote and line.count(dialect.quote.encode()) % 2:
            break
        row = fields(line, dialect)
        if line.strip() and _TOTAL.match(row[0].decode(dialect.plain.encoding, "replace")):
            count = lowest = number
        elif not line.strip() and lowest == number - 1:
            count = number - 1
            break
        elif len(row) < width:
            lowest = number
        else:
            break
    if not count or width < 2:
        return 0, None
    shown = _shown([line for line in lines[-count:] if line.strip()], dialect)
    evidence = f"The file ends with {shown[-1]!r}, which is taken for a footer: left out."
    answers = (
        Answer("a footer", f"--skip-footer {count}", (("skip_footer", count),), shown),
        Answer("records", "--skip-footer 0", (("skip_footer", 0),), shown),
    )
    return count, Decision("skip_footer", str(count), Standing.GUESSED, evidence, answers=answers)


def _shown(lines: Sequence[bytes], dialect: Dialect) -> tuple[str, ...]:
    texts = (line.decode(dialect.plain.encoding, "replace")[:LONGEST_SHOWN] for line in lines[:TEXTS_SHOWN])
    return tuple(texts)
