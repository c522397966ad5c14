"""What a sample of a file says about its dialect and header."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.engine.boundaries import find_ends
from importer.engine.dialect import MYSQL_TSV, Dialect
from importer.engine.records import fields

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Files with these follow RFC 4180 less often: a quote may be a plain character, as in 6" or "Heroes".
LOOSE_DELIMITERS = ("\t", "|")
RECORDS = 1000  # looked at per candidate

_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,' ]*(?:[eE][-+]?\d+)?\s?%?")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?")


@dataclass(frozen=True)
class Reading:
    """The sample read in one dialect: the fields of its first records, and how many bytes could be read at all."""

    dialect: Dialect
    rows: tuple[tuple[bytes, ...], ...]
    reach: int

    @property
    def width(self) -> int:
        """The number of fields that most records have."""
        return Counter(map(len, self.rows)).most_common(1)[0][0] if self.rows else 0

    @property
    def agreement(self) -> float:
        """The share of records that have it."""
        width = self.width
        return sum(len(row) == width for row in self.rows) / len(self.rows) if self.rows else 0.0

    @property
    def divides(self) -> bool:
        """Whether the delimiter is one: text has commas too, but not the same number of them on every line."""
        return self.width > 1 and self.agreement > 0.5


def sniff(sample: bytes, *, final: bool) -> tuple[Dialect, tuple[str, ...]]:
    """The dialect that fits the sample best, and in plain words what speaks for it.

    `final`: the sample is the whole file.
    """
    line_end = _line_end(sample, final)
    readings = [_read(sample, Dialect(delimiter=each, line_end=line_end), final) for each in DELIMITERS]
    best = max(readings, key=_fitness)
    best, notes = _without_quotes(sample, best, final)
    best, more = _as_the_server_writes(sample, best, final)
    notes += more
    if not best.divides:
        best = _read(sample, Dialect(line_end=line_end), final)
        notes = ["No delimiter found: the records are read as a single field each.", *notes]
    else:
        notes = [_delimiter_note(best, readings), *notes]
    header, why = has_header([[value.decode(errors="replace") for value in row] for row in best.rows])
    notes += ["Lines end in LF." if line_end == "\n" else "Lines end in CR LF.", why]
    return replace(best.dialect, header=header), tuple(notes)


def has_header(rows: Sequence[Sequence[str]]) -> tuple[bool, str]:
    """Whether the first row names the columns, and why."""
    if not rows:
        return True, ""
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


def _read(sample: bytes, dialect: Dialect, final: bool) -> Reading:
    ends = find_ends(sample, dialect, final=final)
    rows: list[tuple[bytes, ...]] = []
    low = 0
    while low < ends.size and len(rows) < RECORDS:
        high = ends.first(low)
        if record := sample[low:high].rstrip(b"\r\n"):
            rows.append(tuple(fields(record, dialect)))
        low = high
    return Reading(dialect, tuple(rows), ends.size)


def _fitness(reading: Reading) -> tuple[bool, float, int]:
    """Several fields before one; then as many records as possible of the same width, then the most fields."""
    return reading.divides, round(reading.agreement, 2), reading.width


def _line_end(sample: bytes, final: bool) -> str:
    """The line end with which the sample can be read furthest: the other one may stand inside quotes."""
    if b"\r\n" not in sample:
        return "\n"
    if sample.count(b"\r\n") == sample.count(b"\n"):
        return "\r\n"
    reach = {
        line_end: max(find_ends(sample, Dialect(each, line_end=line_end), final=final).size for each in DELIMITERS)
        for line_end in ("\n", "\r\n")
    }
    return max(reach, key=lambda line_end: reach[line_end])


def _without_quotes(sample: bytes, best: Reading, final: bool) -> tuple[Reading, list[str]]:
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


def _as_the_server_writes(sample: bytes, best: Reading, final: bool) -> tuple[Reading, list[str]]:
    r"""A tab-separated file with \N in it and nothing quoted is what MySQL and MariaDB write."""
    nothing_quoted = not re.search(rb'(?:^|\t)"', sample, re.MULTILINE)
    if best.dialect.delimiter != "\t" or not nothing_quoted or not any(rb"\N" in row for row in best.rows):
        return best, []
    dialect = replace(MYSQL_TSV, line_end=best.dialect.line_end)
    return _read(sample, dialect, final), [r"Written by MySQL or MariaDB: \N is NULL, and a backslash escapes."]


def _delimiter_note(best: Reading, readings: Sequence[Reading]) -> str:
    name = DELIMITERS[best.dialect.delimiter]
    share = "all" if best.agreement == 1 else f"{best.agreement:.1%} of the"
    note = f"Delimiter: {name}; {share} records looked at have {best.width} fields."
    rivals = [
        DELIMITERS[each.dialect.delimiter]
        for each in readings
        if each.dialect.delimiter != best.dialect.delimiter and each.divides and each.agreement >= best.agreement
    ]
    return f"{note} {rivals[0].capitalize()} would fit as well: please check." if rivals else note
