"""Chooses line end and delimiter: which readings are tried, the best of them, and how sure the choice is."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from importer.engine.errors import SourceProblem
from importer.engine.source.decisions import Answer, Decision, Standing, answer, asked
from importer.engine.source.dialect import ANY_LINE_END, Dialect, escape_mark
from importer.engine.source.profile.readings import BOUNDS, Readings, SampleReading, weight

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Tried where no usual delimiter divides the records evenly; longer ones before the characters that they consist of.
_RARE = ("||", "::", "~|~", "|~|", "\x01", "\x1f", "\x1e", "\x02", *"~^¬¦§#!@%&*")
_RARE_LAST = (":", "/", "=", " ")
LINE_END_WORDS = {
    "\n": "Lines end in LF.",
    "\r\n": "Lines end in CR LF.",
    "\r": "Lines end in CR, as on old Macs.",
    ANY_LINE_END: "Lines end in more than one way (LF, CR LF or CR): each of them ends a record.",
}
ROWS_SHOWN = 2
_NUMBER = rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_NUMBERS_APART = re.compile(rb"(?![0-9]{1,3}(?: [0-9]{3})+\Z)%s(?: +%s)+" % (_NUMBER, _NUMBER))
# A field in single quotes.
_SINGLE_QUOTED = re.compile(rb"(?:^|[,;\t|] ?)'[^'\r\n]*'(?=[,;\t|\r\n])", re.MULTILINE)


def choose_line_end(readings: Readings, base: Dialect, *, delimiter_stated: bool) -> str:
    """The line end with which the sample can be read furthest: others may occur inside quotes."""
    if b"\r" not in readings.sample:
        return "\n"
    # A CR at the end may be the first half of a CR LF that is cut.
    cut = readings.sample.endswith(b"\r") and (b"\n" in readings.sample or not readings.final)
    whole = Readings(readings.sample[:-1], final=readings.final) if cut else readings
    cr_lf, lf, cr = (whole.sample.count(mark) for mark in (b"\r\n", b"\n", b"\r"))
    if cr_lf == lf == cr:
        return "\r\n"
    dialects = (base,) if delimiter_stated else usual_dialects(readings.sample, base)

    def read(line_end: str) -> list[SampleReading]:
        return [whole.read(each, line_end=line_end) for each in dialects]

    if not lf:  # Values may have a CR.
        return "\r" if any(len(each.rows) > 1 for each in read("\r")) else "\n"
    furthest = partial(max, key=lambda each: weight(each, "line end"))
    single = furthest(furthest(read(each)) for each in ("\n", "\r\n", "\r")).dialect.line_end
    return ANY_LINE_END if _any_is_better(read(ANY_LINE_END), read(single)) else single


def _any_is_better(every: Sequence[SampleReading], single: Sequence[SampleReading]) -> bool:
    """Whether "any line end" reads further than a single kind, or gives more records that agree at least as well.

    Or records end in CR CR LF, as a text mode writes that was applied twice.
    """
    if max(each.reach for each in every) > max(each.reach for each in single):
        return True
    any_, one = (max(tried, key=lambda each: weight(each, "delimiter")) for tried in (every, single))
    if one.dialect.line_end == "\r" or one.sample.count(b"\r\n") == one.sample.count(b"\r"):
        return False
    doubled = any(any_.sample.endswith(b"\r\r\n", 0, start) for start in any_.starts)
    return doubled or (any_.divides and len(any_.rows) > len(one.rows) and any_.agreement >= one.agreement)


def usual_dialects(sample: bytes, base: Dialect) -> tuple[Dialect, ...]:
    """The usual delimiters; with a blank after them too, where most of them are followed by one."""
    marks = list(DELIMITERS)
    for mark in (",", ";", "|"):
        count, with_blank = sample.count(mark.encode()), sample.count(f"{mark} ".encode())
        at_ends = sample.startswith(mark.encode())
        if count and with_blank > count / 2 and not at_ends:
            marks.append(f"{mark} ")
    if b"||" in sample:
        marks.append("||")
    return tuple(replace(base, delimiter=mark) for mark in marks)


def _rare_dialects(sample: bytes, base: Dialect) -> Iterator[Dialect]:
    """Delimiters that occur equally often on nearly all of the first lines."""
    first, *lines = [line for line in sample[:20_000].splitlines() if line.strip()][:50] or [b""]
    lines = lines or [first]  # The header may be a name short.
    # Dates, times and addresses have these; a delimiter stands in the header too.
    last = [mark for mark in _RARE_LAST if mark.encode() in first]
    for mark in (*_RARE, *last):
        try:
            dialect = replace(base, delimiter=mark)
            counts = Counter(line.count(dialect.delimiter_bytes) for line in lines)
        except SourceProblem:  # The encoding has no such character.
            continue
        [(count, lines_with)] = counts.most_common(1)
        between_quotes = mark == " " and b'" "' in sample
        if (count and lines_with >= BOUNDS["evenness"] * len(lines)) or between_quotes:
            yield dialect


def choose_delimiter(
    readings: Readings, base: Dialect, names: Sequence[str], *, quote_stated: bool = False
) -> tuple[SampleReading, list[SampleReading]]:
    """The reading that fits best, and all that were tried. A single field is one of them too.

    `base` has the other marks; `names` are the columns of the table, () if there is none. Single quotes are tried
    where fields begin with them, unless the quote is stated.
    """
    sample = readings.sample
    dialects = usual_dialects(sample, base)
    tried = list(map(readings.read, dialects))
    if not quote_stated and b"'" in sample and _SINGLE_QUOTED.search(sample):
        single = (readings.read(each, quote="'") for each in dialects)
        tried += [each for each in single if not each.stray and each.agreement >= BOUNDS["evenness"]]
    if not any(each.divides and each.even for each in tried):
        rare = map(readings.read, _rare_dialects(sample, base))
        # A rare delimiter is one only if its records are even, and no usual one comes near.
        usual = max(each.score for each in tried)
        tried += [
            each
            for each in rare
            if each.body_agreement >= BOUNDS["evenness"] and each.score > usual and not _is_aligned(each)
        ]
    tried.append(readings.read(base, delimiter=readings.unused_delimiter))
    best = max(tried, key=lambda each: weight(each, "delimiter", names))
    if best.width < 2 and _has_numbers_apart(best):
        tried.append(readings.read(base, delimiter=" "))
    return best, tried


def _is_aligned(reading: SampleReading) -> bool:
    """Whether blanks are no delimiter: several of them stand between two values in all records."""
    return reading.dialect.delimiter == " " and reading.blank_columns > 0


def _has_numbers_apart(alone: SampleReading) -> bool:
    """Whether half of the records are several numbers with blanks between them, none with blanks between thousands."""
    values = [row[0].strip() for row in alone.rows if row]
    apart = sum(map(bool, map(_NUMBERS_APART.fullmatch, values)))
    return 0 < apart >= len(values) / 2


def delimiter_decision(
    best: SampleReading, tried: Sequence[SampleReading], names: Sequence[str], stated: bool
) -> Decision:
    """The decision for the delimiter of the best reading. Others that divide the records nearly as well are rivals."""
    name, mark = delimiter_name(best.dialect.delimiter), best.dialect.delimiter.strip(" ")
    # Of delimiters that differ in a blank only the better one has already been chosen.
    others = [each for each in tried if each.divides and each.dialect.delimiter.strip(" ") != mark]
    rivals = [each for each in others if each.score >= BOUNDS["a rival"] * best.score]
    if best.width < 2:
        rivals = others or [each for each in tried if each.dialect.delimiter == " "]
    if stated:
        found = Decision("delimiter", name, Standing.STATED, f"Delimiter: {name}, as stated.{_fitting(best)}")
    elif best.header_row(names) is not None:
        which = f"Delimiter: {name}" if best.width > 1 else "No delimiter: a single field"
        evidence = f"{which}; the header has the table's names.{_fitting(best)}"
        found = Decision("delimiter", name, Standing.PROVED, evidence)
    elif rivals:
        found = _guess(best, max(rivals, key=lambda each: each.score))
    elif best.width < 2:
        evidence = "No delimiter found: the records are read as a single field each."
        found = Decision("delimiter", "none", Standing.RULE, evidence)
    else:
        found = Decision("delimiter", name, Standing.PROVED, f"Delimiter: {name};{_fitting(best).lower()}")
    return replace(found, records=best.fitting, of=len(best.rows))


def _guess(best: SampleReading, other: SampleReading) -> Decision:
    names = [delimiter_name(each.dialect.delimiter) if each.width > 1 else "none" for each in (best, other)]
    evidence = f"Delimiter: {names[0]};{_fitting(best).lower()} {names[1].capitalize()} would fit as well."
    return asked("delimiter", evidence, delimiter_answer(best), delimiter_answer(other), value=names[0])


def delimiter_answer(reading: SampleReading) -> Answer:
    """The answer that this reading's delimiter is right."""
    mark = reading.dialect.delimiter
    label = f"the delimiter is {delimiter_name(mark)}" if reading.width > 1 else "each line is a single field"
    shown = ("".join(f"[{value}]" for value in row) for row in reading.text_rows(ROWS_SHOWN))
    return answer(label, tuple(shown), delimiter=mark)


def delimiter_name(mark: str) -> str:
    """The delimiter in words: comma, `\\x01`, "comma and a blank"."""
    if mark.endswith(" ") and mark[:-1] in DELIMITERS:
        return f"{DELIMITERS[mark[:-1]]} and a blank"
    return DELIMITERS.get(mark) or ("blank" if mark == " " else escape_mark(mark))


def _fitting(best: SampleReading) -> str:
    fitting, count = best.fitting, len(best.rows)
    share = f"All {count:,}" if fitting == count else f"{fitting:,} of {count:,}"
    return f" {share} sample records have {best.width} field{'s' if best.width != 1 else ''}."
