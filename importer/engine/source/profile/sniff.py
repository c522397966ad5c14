"""Detects a file's dialect and header from a sample."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import ANY_LINE_END, MYSQL_TSV, Dialect, escape_mark
from importer.engine.source.profile.drawn_tables import DRAWN_BYTES, is_fixed_width
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.names import match_names
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.source.records.fields import fields
from importer.engine.source.records.lines import line_ends

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Files with these follow RFC 4180 less often: a quote may be a plain character, as in 6" or "Heroes".
LOOSE_DELIMITERS = ("\t", "|")
RECORDS = 1000  # read at most for each candidate
MOST_SKIPPED = 20  # lines before the header
LINE_END_WORDS = {
    "\n": "Lines end in LF.",
    "\r\n": "Lines end in CR LF.",
    "\r": "Lines end in CR, as on old Macs.",
    ANY_LINE_END: "Lines end in more than one way (LF, CR LF or CR): each of them ends a record.",
}

_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,' ]*(?:[eE][-+]?\d+)?\s?%?")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?")


@dataclass(frozen=True)
class DialectCandidate:
    """The sample read in one dialect: the fields of its first records, and the byte at which each record begins.

    `reach` is the number of bytes that could be read, `stray` the number of records with a stray or unclosed quote.
    """

    dialect: Dialect
    rows: tuple[tuple[bytes, ...], ...]
    reach: int
    starts: tuple[int, ...]
    stray: int

    @property
    def width(self) -> int:
        """The number of fields that most records have."""
        return Counter(map(len, self.rows)).most_common(1)[0][0] if self.rows else 0

    @property
    def agreement(self) -> float:
        """The share of records with `width` fields."""
        width = self.width
        return sum(len(row) == width for row in self.rows) / len(self.rows) if self.rows else 0.0

    @property
    def divides(self) -> bool:
        """Whether the delimiter divides the records: text has commas too, but not equally many on every line."""
        return self.width > 1 and self.agreement > 0.5


def sniff(
    sample: bytes, *, final: bool, only: Dialect | None = None, expected: Sequence[ExpectedColumn] = ()
) -> tuple[Dialect, tuple[str, ...]]:
    """The dialect that fits the sample best, and notes in plain words on the evidence and on how well it fits.

    `final`: the sample is the whole file. With `only`, no other delimiter is tried, and its encoding is used.
    `expected`: the columns of the table that the file is for.
    """
    candidates = (only,) if only else tuple(map(Dialect, DELIMITERS))
    line_end = _line_end(sample, candidates, final)
    skipped, readings = _readings(sample, candidates, line_end, final)
    best = max(readings, key=_fitness)
    sample = sample[skipped.bytes :]
    best, notes = _with_escapes(sample, best, final)
    if not notes:
        best, notes = _without_quotes(sample, best, final)
        best, more = _as_the_server_writes(sample, best, final)
        notes += more
    if not best.divides:
        if not only:
            _refuse_fixed_width(sample)
        best = _read(sample, Dialect(line_end=line_end), final)
        notes = ["No delimiter found: the records are read as a single field each.", *notes]
    else:
        best, more = _with_trailing_delimiter(sample, best, final)
        notes = [_delimiter_note(best, readings), *more, *notes]
    header, why = has_header([[value.decode(errors="replace") for value in row] for row in best.rows], expected)
    notes += [*skipped.notes, LINE_END_WORDS[line_end], *_literal_quote_notes(best), why]
    return replace(best.dialect, header=header, skip_rows=skipped.lines), tuple(notes)


def _refuse_fixed_width(sample: bytes) -> None:
    if is_fixed_width(sample[:DRAWN_BYTES].decode(errors="replace")):
        raise SourceProblem(
            "The file has no delimiter: its values stand at fixed places, with blanks between them.",
            advice="Save it as CSV; or name a delimiter with --delimiter, if it has one.",
        )


@dataclass(frozen=True)
class _Skipped:
    """The number of lines before the header, their size in bytes, and the notes about them."""

    lines: int = 0
    bytes: int = 0
    notes: tuple[str, ...] = ()


def _readings(
    sample: bytes, candidates: Sequence[Dialect], line_end: str, final: bool
) -> tuple[_Skipped, list[DialectCandidate]]:
    """The sample read with each delimiter, from the first line that belongs to the table."""
    candidates = [replace(each, line_end=line_end) for each in candidates]
    readings = [_read(sample, each, final) for each in candidates]
    best = max(readings, key=_fitness)
    skipped = _before_the_table(sample, best) if best.divides else _Skipped()
    if not skipped.lines:
        return skipped, readings
    rest = sample[skipped.bytes :]
    return skipped, [_read(rest, each, final) for each in candidates]


def _before_the_table(sample: bytes, best: DialectCandidate) -> _Skipped:
    """The lines of a title or a note before a wider table: single fields, or fewer fields than all records below.

    Only where the table is certain: nearly all records below have the same, larger number of fields.
    """
    width = best.width
    narrow = list(takewhile(lambda row: len(row) < width, best.rows))
    below = best.rows[len(narrow) :]
    fits = sum(len(row) == width for row in below)
    if not narrow or len(narrow) > MOST_SKIPPED or len(below) < 2 or fits < 0.98 * len(below):
        return _Skipped()
    # A header with one name less than the table has fields is a header, and an error that must be named.
    if any(len(row) > max(1, width // 2) for row in narrow):
        return _Skipped()
    end = best.starts[len(narrow)]
    lines = line_ends(sample, best.dialect.line_end, 0, end)
    which = "The first line is" if lines == 1 else f"The first {lines} lines are"
    return _Skipped(lines, end, (f"{which} no part of the table (fewer fields than the {width} below): skipped.",))


def _with_trailing_delimiter(sample: bytes, best: DialectCandidate, final: bool) -> tuple[DialectCandidate, list[str]]:
    """Detect a trailing delimiter: the last field is empty in all records, in the header too."""
    width = best.width
    full = [row for row in best.rows if len(row) == width]
    if width < 3 or len(full) < 2 or any(row[-1] for row in full):
        return best, []
    # A header with one name less than the records have fields ends without it.
    if any(len(row) != width for row in best.rows[1:]) or len(best.rows[0]) not in (width, width - 1):
        return best, []
    reading = _read(sample, replace(best.dialect, trailing_delimiter=True), final)
    return reading, ["Each record ends in one more delimiter, which is not taken for a field."]


def _literal_quote_notes(best: DialectCandidate) -> list[str]:
    """A note on a space before a quote: it makes the quote a part of the value, which is seldom intended."""
    quote = best.dialect.quote.encode()
    spaced = quote and next((v for row in best.rows for v in row if v[:1] == b" " and v.lstrip()[:1] == quote), None)
    if not spaced:
        return []
    shown = spaced.decode(errors="replace")[:40]
    return [f"{shown!r}: the space before the quote makes both part of the value. Please check."]


def has_header(rows: Sequence[Sequence[str]], expected: Sequence[ExpectedColumn] = ()) -> tuple[bool, str]:
    """Whether the first row names the columns, and why."""
    if not rows:
        return True, ""
    if sum(map(bool, match_names(rows[0], [column.name for column in expected]))) > len(rows[0]) / 2:
        return True, "The first record is the header: it has the names of the table's columns."
    names, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if values := [name for name in names if _kind(name)]:
        return False, f"No header: the first record has the value {values[0]!r} where a name would be."
    if not below:
        return True, "The first record is taken for the header: it holds no numbers."
    for number, name in enumerate(names):
        kinds = [_kind(row[number]) for row in below if row[number].strip()]
        if kinds and sum(map(bool, kinds)) > len(kinds) / 2:
            return True, f"The first record is the header: {name!r} stands above numbers or dates."
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        return False, "No header: the first record has no name, or one twice. Please check."
    repeated = [name for number, name in enumerate(names) if any(row[number] == name for row in below)]
    if repeated:
        return False, f"No header: {repeated[0]!r} of the first record comes again below it. Please check."
    return True, "The first record is taken for the header, but all fields are text: please check."


def _kind(value: str) -> str:
    """ "date" or "number" for text that looks like one, "" otherwise."""
    value = value.strip()
    if _DATE.fullmatch(value):
        return "date"
    return "number" if _NUMBER.fullmatch(value) else ""


def _read(sample: bytes, dialect: Dialect, final: bool) -> DialectCandidate:
    rows: list[tuple[bytes, ...]] = []
    starts: list[int] = []
    ends = find_ends(sample, dialect, final=final)
    low = 0
    while low < ends.size and len(rows) < RECORDS:
        high = ends.first(low)
        if record := sample[low:high].rstrip(b"\r\n"):
            rows.append(tuple(fields(record, dialect)))
            starts.append(low)
        low = high
    return DialectCandidate(dialect, tuple(rows), ends.size, tuple(starts), len(ends.flaws))


def _fitness(reading: DialectCandidate) -> tuple[bool, float, int]:
    """Several fields before one; then as many records as possible of the same width, then the most fields."""
    return reading.divides, round(reading.agreement, 2), reading.width


def _line_end(sample: bytes, candidates: Sequence[Dialect], final: bool) -> str:
    """The line end with which the sample can be read furthest: others may occur inside quotes."""
    if b"\r" not in sample:
        return "\n"
    # A CR at the end of a cut sample may be the first half of a CR LF.
    sample = sample if final else sample.removesuffix(b"\r")
    cr_lf, lf, cr = sample.count(b"\r\n"), sample.count(b"\n"), sample.count(b"\r")
    if cr_lf == lf == cr:
        return "\r\n"
    if not lf:
        by_cr = (_read(sample, replace(each, line_end="\r"), final) for each in candidates)
        return "\r" if any(len(reading.rows) > 1 for reading in by_cr) else "\n"
    by_line_end = {line_end: _most_read(sample, candidates, line_end, final) for line_end in ("\n", "\r\n", "\r")}
    best = max(by_line_end, key=lambda line_end: by_line_end[line_end])
    # "Any line end" only if it reads further than a single kind, or gives better records.
    if by_line_end[best][0] < _most_read(sample, candidates, ANY_LINE_END, final)[0] or _better_with_any(
        sample, candidates, best, final
    ):
        return ANY_LINE_END
    return best


def _most_read(
    sample: bytes, candidates: Sequence[Dialect], line_end: str, final: bool
) -> tuple[int, int, tuple[bool, float, int]]:
    """The best candidate's measures for a line end, the most important one first.

    The bytes that can be read, up to a line end of another kind or a quote that never closes; minus the number of stray
    quotes; the fitness of the delimiter.
    """
    readings = [_read(sample, replace(each, line_end=line_end), final) for each in candidates]
    return max((each.reach, -each.stray, _fitness(each)) for each in readings)


def _better_with_any(sample: bytes, candidates: Sequence[Dialect], line_end: str, final: bool) -> bool:
    """Whether "any line end" gives more records that agree at least as well: then a CR ends a record too."""
    if line_end == "\r" or sample.count(b"\r\n") == sample.count(b"\r"):
        return False
    one, each = (
        max((_read(sample, replace(mark, line_end=end), final) for mark in candidates), key=_fitness)
        for end in (line_end, ANY_LINE_END)
    )
    return each.divides and len(each.rows) > len(one.rows) and each.agreement >= one.agreement


def _without_quotes(sample: bytes, best: DialectCandidate, final: bool) -> tuple[DialectCandidate, list[str]]:
    """Quotes are plain characters if the sample cannot be read with them, but fits perfectly without.

    Not with commas and semicolons: there a quote that never closes is an error that must be named.
    """
    # A cut record at the end is no sign; half of the sample unread is.
    if best.reach > len(sample) / 2:
        return best, []
    line_end = best.dialect.line_end
    bare = max(
        (_read(sample, Dialect(each, quote="", line_end=line_end), final) for each in LOOSE_DELIMITERS), key=_fitness
    )
    quoted = any(len(v) > 1 and v[:1] == v[-1:] == b'"' for row in bare.rows for v in row)
    if not bare.divides or bare.agreement < 1 or quoted:
        return best, []
    return bare, ["Quotes are part of the values here: read as quotes, they would never close."]


def _with_escapes(sample: bytes, best: DialectCandidate, final: bool) -> tuple[DialectCandidate, list[str]]:
    """A backslash escapes if quotes after backslashes stand where none belongs, and all is well when it does."""
    if not best.dialect.quote or best.dialect.escape or b"\\" + best.dialect.quote.encode() not in sample:
        return best, []
    escaped = _read(sample, replace(best.dialect, escape="\\"), final)
    worse = escaped.stray or escaped.agreement < best.agreement or escaped.reach < best.reach
    if worse or (not best.stray and escaped.reach == best.reach):
        return best, []
    return escaped, [r"A backslash escapes quotes, as MySQL and MariaDB write them; \N is NULL."]


def _as_the_server_writes(sample: bytes, best: DialectCandidate, final: bool) -> tuple[DialectCandidate, list[str]]:
    r"""A tab-separated file with \N in it and nothing quoted is what MySQL and MariaDB write."""
    nothing_quoted = not re.search(rb'(?:^|\t)"', sample, re.MULTILINE)
    if best.dialect.delimiter != "\t" or not nothing_quoted or not any(rb"\N" in row for row in best.rows):
        return best, []
    dialect = replace(MYSQL_TSV, line_end=best.dialect.line_end)
    return _read(sample, dialect, final), [r"Written by MySQL or MariaDB: \N is NULL, and a backslash escapes."]


def _delimiter_note(best: DialectCandidate, readings: Sequence[DialectCandidate]) -> str:
    name = DELIMITERS.get(best.dialect.delimiter, escape_mark(best.dialect.delimiter))
    fitting, all_of_them = sum(len(row) == best.width for row in best.rows), len(best.rows)
    share = f"all {all_of_them:,}" if fitting == all_of_them else f"{fitting:,} of {all_of_them:,}"
    note = f"Delimiter: {name}; {share} sample records have {best.width} fields."
    rivals = [
        DELIMITERS[each.dialect.delimiter]
        for each in readings
        if each.dialect.delimiter != best.dialect.delimiter and each.divides and each.agreement >= best.agreement
    ]
    return f"{note} {rivals[0].capitalize()} would fit as well: please check." if rivals else note
