"""Chooses the delimiter: the candidates, the best of them, and how sure the choice is."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from importer.engine.source.decisions import Answer, Decision, Standing, answer
from importer.engine.source.dialect import Dialect, escape_mark
from importer.engine.source.profile.candidates import EVEN, DialectCandidate, fitness, read_candidate, rivals

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Tried where no usual delimiter divides the records evenly; longer ones before the characters that they consist of.
_RARE = (
    "||",
    "::",
    "~|~",
    "|~|",
    "\x01",
    "\x1f",
    "\x1e",
    "\x02",
    "~",
    "^",
    "¬",
    "¦",
    "§",
    "#",
    "!",
    "@",
    "%",
    "&",
    "*",
)
_RARE_LAST = (":", "/", "=", " ")
# Delimiters of files with a single field, of which one does not occur in the sample.
_UNUSED = ("\t", ";", "|", "\x1f", "\x1e", "\x01")
ROWS_SHOWN = 2
# A field in single quotes.
_SINGLE_QUOTED = re.compile(rb"(?:^|[,;\t|] ?)'[^'\r\n]*'(?=[,;\t|\r\n])", re.MULTILINE)


def usual_dialects(sample: bytes, base: Dialect) -> tuple[Dialect, ...]:
    """The usual delimiters; with a blank after them too, where most of them are followed by one."""
    marks = list(DELIMITERS)
    for mark in (",", ";", "|"):
        count, with_blank = sample.count(mark.encode()), sample.count(f"{mark} ".encode())
        if count and with_blank > count / 2:
            marks.append(f"{mark} ")
    if b"||" in sample:
        marks.append("||")
    return tuple(replace(base, delimiter=mark) for mark in marks)


def _rare_dialects(sample: bytes, base: Dialect) -> list[Dialect]:
    """Delimiters that occur equally often on nearly all of the first lines."""
    first, *lines = [line for line in sample[:20_000].splitlines() if line.strip()][:50] or [b""]
    lines = lines or [first]  # The header may be a name short.
    even = []
    # Dates, times and addresses have these; a delimiter stands in the header too.
    last = [mark for mark in _RARE_LAST if mark.encode() in first]
    for mark in (*_RARE, *last):
        try:
            dialect = replace(base, delimiter=mark)
            counts = Counter(line.count(dialect.delimiter_bytes) for line in lines)
        except ValueError:  # The encoding has no such character.
            continue
        count, lines_with = counts.most_common(1)[0] if counts else (0, 0)
        between_quotes = mark == " " and b'" "' in sample
        if (count and lines_with >= EVEN * len(lines)) or between_quotes:
            even.append(dialect)
    return even


def choose_delimiter(
    sample: bytes, base: Dialect, names: Sequence[str], final: bool, *, quote_stated: bool = False
) -> tuple[DialectCandidate, list[DialectCandidate]]:
    """The candidate that fits best, and all that were tried. A single field is a candidate too.

    `base` has the other marks; `names` are the columns of the table, () if there is none. Single quotes are tried
    where fields begin with them, unless the quote is stated.
    """
    dialects = usual_dialects(sample, base)
    alone = single_field(sample, base, final)
    candidates = [_read_divided(sample, each, alone, final) for each in dialects]
    if not quote_stated and b"'" in sample and _SINGLE_QUOTED.search(sample):
        single = [read_candidate(sample, replace(each, quote="'"), final) for each in dialects]
        candidates += [each for each in single if not each.stray and each.agreement >= EVEN]
    if not any(each.divides and each.even for each in candidates):
        rare = [read_candidate(sample, each, final) for each in _rare_dialects(sample, base)]
        # A rare delimiter is one only if its records are even, and no usual one comes near.
        usual = max((each.score for each in candidates), default=0.0)
        candidates += [each for each in rare if each.body_agreement >= EVEN and each.score > usual]
    candidates.append(alone)
    return max(candidates, key=lambda each: fitness(each, names)), candidates


def _read_divided(sample: bytes, dialect: Dialect, alone: DialectCandidate, final: bool) -> DialectCandidate:
    """The sample read with this dialect: as `alone`, the reading as one field, if neither delimiter occurs in it."""
    if dialect.delimiter_bytes in sample or alone.dialect.delimiter_bytes in sample:
        return read_candidate(sample, dialect, final)
    return replace(alone, dialect=dialect)


def single_field(sample: bytes, base: Dialect, final: bool) -> DialectCandidate:
    """The sample as records of one field: read with a delimiter that does not occur in it."""
    return read_candidate(sample, replace(base, delimiter=unused_delimiter(sample)), final)


def unused_delimiter(sample: bytes) -> str:
    """A delimiter that does not occur in the sample, for a file with a single field."""
    return next((mark for mark in _UNUSED if mark.encode() not in sample), _UNUSED[-1])


def delimiter_decision(
    best: DialectCandidate, candidates: Sequence[DialectCandidate], names: Sequence[str], stated: bool
) -> Decision:
    """The decision for the delimiter of the best candidate."""
    return replace(_delimiter_decision(best, candidates, names, stated), records=best.fitting, of=len(best.rows))


def _delimiter_decision(
    best: DialectCandidate, candidates: Sequence[DialectCandidate], names: Sequence[str], stated: bool
) -> Decision:
    name = delimiter_name(best.dialect.delimiter)
    if stated:
        return Decision("delimiter", name, Standing.STATED, f"Delimiter: {name}, as stated.{_fitting(best)}")
    if best.header_row(names) is not None:
        which = f"Delimiter: {name}" if best.width > 1 else "No delimiter: a single field"
        return Decision(
            "delimiter", name, Standing.PROVED, f"{which}; the header has the table's names.{_fitting(best)}"
        )
    others = [each for each in candidates if each.divides] if best.width < 2 else rivals(best, candidates)
    if others:
        return _guess(best, max(others, key=lambda each: each.score))
    if best.width < 2:
        return Decision(
            "delimiter", "none", Standing.RULE, "No delimiter found: the records are read as a single field each."
        )
    return Decision("delimiter", name, Standing.PROVED, f"Delimiter: {name};{_fitting(best).lower()}")


def _guess(best: DialectCandidate, other: DialectCandidate) -> Decision:
    names = [delimiter_name(each.dialect.delimiter) if each.width > 1 else "none" for each in (best, other)]
    return Decision(
        "delimiter",
        names[0],
        Standing.GUESSED,
        f"Delimiter: {names[0]};{_fitting(best).lower()} {names[1].capitalize()} would fit as well.",
        answers=(_answer(best), _answer(other)),
    )


def _answer(candidate: DialectCandidate) -> Answer:
    mark = candidate.dialect.delimiter
    label = f"the delimiter is {delimiter_name(mark)}" if candidate.width > 1 else "each line is a single field"
    return answer(label, shown_rows(candidate), delimiter=mark)


def shown_rows(candidate: DialectCandidate) -> tuple[str, ...]:
    """The first rows as the candidate reads them, each field in brackets."""
    return tuple("".join(f"[{value}]" for value in row) for row in candidate.text_rows(ROWS_SHOWN))


def delimiter_name(mark: str) -> str:
    """The delimiter in words: comma, `\\x01`, "comma and a blank"."""
    if mark.endswith(" ") and mark[:-1] in DELIMITERS:
        return f"{DELIMITERS[mark[:-1]]} and a blank"
    return DELIMITERS.get(mark) or ("blank" if mark == " " else escape_mark(mark))


def _fitting(best: DialectCandidate) -> str:
    fitting, count = best.fitting, len(best.rows)
    share = f"All {count:,}" if fitting == count else f"{fitting:,} of {count:,}"
    return f" {share} sample records have {best.width} field{'s' if best.width != 1 else ''}."
