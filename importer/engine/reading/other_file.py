"""Compares a file with the dialect of another one.

The dialect has the other file's encoding, and leaves out a footer or units as that file has them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.byte_source import Readable, SourceLocation, open_source, read_at
from importer.engine.source.decisions import Answer, Decision, Standing, answer
from importer.engine.source.decoding import open_sample, read_head
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8, EncodingKind
from importer.engine.source.formats.footer import is_sum
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.formats.registry import FORMATS
from importer.engine.source.profile.encoding_detection import answers_for, shows_utf8
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_name, may_be_row
from importer.engine.source.profile.header import agrees, header_question
from importer.engine.source.profile.layout.lines_among import are_units, footer_decision, last_lines
from importer.engine.source.profile.profile import Profile, profile_file, rows_above
from importer.engine.source.profile.sample import SAMPLE_BYTES, last_bytes
from importer.engine.units import MIB

# The fields of Dialect that are compared, and may be stated for a file that is read with the dialect of another one.
COMPARED = ("encoding", "member", "header", "skip_rows", "quote", "skip_after_header", "skip_footer")
LINES = ("skip_after_header", "skip_footer")
# What a file is read with to see its quote.
BESIDE_QUOTE = (
    *("encoding", "delimiter", "header", "skip_rows", "comment", "escape", "trailing_delimiter", "line_end"),
    *("blank_lines", *LINES),
)
# Bytes of a plain file in which characters beyond ASCII are looked for.
LOOKED_AT, AT_A_TIME = 64 * MIB, 4 * MIB


def profile_like(
    path: SourceLocation, dialect: Dialect, columns: Sequence[str], stated: Collection[str] = ()
) -> Profile:
    """The profile of a file that is read with the dialect of another one, as of a preset.

    What this file shows otherwise is read as it shows, and asked about: the profile's `differing`. `columns`: the one
    that each field of the other file goes into, or "". `stated`: the fields of the dialect that hold for this file
    (Dialect.stating). Raises SourceProblem.
    """
    asked = None if "encoding" in stated else differing_encoding(path, dialect)
    differing = [asked] if asked else []
    profile = profile_file(path, replace(dialect, encoding=UTF8) if asked else dialect)
    others = [each for each in _differences(path, profile, columns) if each.name not in stated]
    if others:
        shown = dict(each.answers[0].states[0] for each in others)
        profile = profile_file(path, replace(profile.dialect, **shown))
        differing += others
    return replace(_with_sampled(path, profile, stated), differing=tuple(differing))


def _with_sampled(path: SourceLocation, profile: Profile, stated: Collection[str]) -> Profile:
    """The profile, whose dialect has seen the lines that are left out as stated, if the file shows as many.

    So they are compared with those of the next file. Otherwise an answer would hold for all files after this one.
    """
    dialect = profile.dialect
    lines = [name for name in LINES if name in stated and getattr(dialect, name)]
    seen: list[str] = []
    if lines:
        shown = _shown_lines(path, _whole(path, profile))
        seen = [name for name in lines if shown[name] == getattr(dialect, name)]
    if "skip_rows" in stated and dialect.skip_rows and not rows_above(path, profile):
        seen.append("skip_rows")
    return replace(profile, dialect=replace(dialect, sampled=(*dialect.sampled, *seen))) if seen else profile


def encoding_of(path: SourceLocation, dialect: Dialect) -> str:
    """The file's encoding: UTF-8 if its characters beyond ASCII show that, and otherwise that of the dialect.

    A file that is UTF-8 can be read in most other encodings, and has other characters then. Raises SourceProblem.
    """
    return UTF8 if differing_encoding(path, dialect) else dialect.encoding


def differing_encoding(path: SourceLocation, dialect: Dialect) -> Decision | None:
    """The question whether the file is UTF-8, as its characters beyond ASCII show, where the dialect says another
    encoding; None if they do not show that. Raises SourceProblem.
    """
    if encodings.kind(dialect.encoding) is EncodingKind.UTF8:
        return None
    with open_source(path) as fd:
        head = read_head(fd, SAMPLE_BYTES, dialect.member)
        # A file on this machine is looked at further: its first character beyond ASCII may stand far below.
        single = encodings.kind(dialect.encoding) is EncodingKind.SINGLE
        further = single and head.data.isascii() and not head.packing and isinstance(path, Path)
        data = _beyond_ascii(fd, head.size) if further else head.data
    if not shows_utf8(data, whole=head.whole):
        return None
    evidence = f"The file is UTF-8, and the file that showed the format is {dialect.encoding}."
    answers = tuple(answers_for(data, (UTF8, dialect.encoding)))
    return Decision("encoding", UTF8, Standing.GUESSED, evidence, answers=answers)


def _beyond_ascii(fd: Readable, size: int) -> bytes:
    """The first AT_A_TIME bytes with a character beyond ASCII; b"" if there is none in the first LOOKED_AT bytes."""
    for offset in range(0, min(size, LOOKED_AT), AT_A_TIME):
        data = read_at(fd, AT_A_TIME, offset)
        if not data.isascii():
            return data
    return b""


def differing_lines(
    path: SourceLocation, profile: Profile, columns: Sequence[str] = (), expected: Sequence[ExpectedColumn] = ()
) -> Decision | None:
    """The question why the file has other lines than the dialect leaves out; None if it has the same.

    `profile`: that of the file in the other one's dialect. `columns`: as for profile_like(); () where they are not
    known. `expected`: those of the table, if it is known. Of units and a footer, only what the other file's sample has
    shown is compared (Dialect.sampled). The end of a packed file that is larger than its sample is not known. Raises
    SourceProblem.
    """
    return next(_differences(path, profile, columns, expected), None)


def _differences(
    path: SourceLocation, profile: Profile, columns: Sequence[str], expected: Sequence[ExpectedColumn] = ()
) -> Iterator[Decision]:
    """A question for each difference, with what this file shows as its first answer."""
    yield from (each for each in profile.decisions if each.name == "member" and each.guessed)
    yield from filter(None, (_differing_header(profile, columns), _differing_preamble(path, profile)))
    if profile.dialect.is_converted and "skip_footer" not in profile.dialect.sampled:
        return
    whole = _whole(path, profile)
    shown = _shown_lines(path, whole, expected)
    yield from filter(None, (_differing_quote(path, profile), _differing_units(profile.dialect, whole, shown)))
    yield from filter(None, [_differing_footer(path, profile.dialect, shown)])


def _whole(path: SourceLocation, profile: Profile) -> Profile:
    """The profile that leaves out neither units nor a footer."""
    dialect = profile.dialect
    if not dialect.skip_footer and not dialect.skip_after_header:
        return profile
    return profile_file(path, replace(dialect, skip_footer=0, skip_after_header=0))


def _shown_lines(
    path: SourceLocation, whole: Profile, expected: Sequence[ExpectedColumn] = ()
) -> dict[str, int | None]:
    """How many lines of units and of a footer the file has; None if that is not known."""
    if not whole.rows or whole.dialect.is_converted:
        return {**dict.fromkeys(LINES), "skip_footer": _rows_of_footer(path, whole.dialect)}
    first, below = whole.rows[0], whole.rows[1:]
    takes = partial(_takes, whole, expected)
    units = int(are_units(first) and not takes(first, below)) if whole.dialect.header else None
    tail = _tail(path, whole.dialect)
    above = whole.rows[units or 0 : -1]

    def is_row(row: Sequence[str]) -> bool:
        return takes(row, above) and not is_sum(row, above)

    footer = footer_decision(tail, whole.dialect.plain, whole.dialect.width, is_row)[0] if tail else None
    return dict(zip(LINES, (units, footer), strict=True))


def _takes(
    profile: Profile, expected: Sequence[ExpectedColumn], row: Sequence[str], others: Sequence[Sequence[str]]
) -> bool:
    """Whether the table takes the row; without a table, whether its values are of the kinds of the others."""
    if expected and profile.dialect.header:
        return may_be_row(row, columns_by_name(expected, profile.header))
    return len(row) == len(profile.header) and agrees(row, others)


def _rows_of_footer(path: SourceLocation, dialect: Dialect) -> int | None:
    """How many rows of a footer a sheet of a workbook has; None if that is not known, and for other formats."""
    options = FORMATS[dialect.format].options if dialect.is_converted else ()
    if "skip_footer" not in options:
        return None
    known: dict[str, Any] = {name: getattr(dialect, name) for name in ("format", *options) if name != "skip_footer"}
    if dialect.member:
        known["member"] = dialect.member
    fresh = profile_file(path, **known)
    return fresh.dialect.skip_footer if "skip_footer" in fresh.dialect.sampled else None


def _differing_header(profile: Profile, columns: Sequence[str]) -> Decision | None:
    """The question whether the first record is a header, if its fields have the names of all columns, in any order."""
    if profile.dialect.header or not profile.rows or not any(columns):
        return None
    first = profile.rows[0]
    if set(match_names(first, filter(None, columns))) - {""} != {*columns} - {""}:
        return None
    shown = profile.dialect.delimiter.join(first)
    evidence = f"The first record has the columns' names ({shown}), and the file that showed the format has no header."
    return header_question(True, evidence, profile.rows)


def _differing_preamble(path: SourceLocation, profile: Profile) -> Decision | None:
    """The question why lines are left out above the first record that look like it.

    With a header they are not compared: a wrong line would be the header then, and its names differ.
    """
    dialect = profile.dialect
    records = rows_above(path, profile) if "skip_rows" in dialect.sampled else []
    if not records:
        return None
    shown, count = dialect.delimiter.join(records[0]), dialect.skip_rows
    evidence = f"A line above the first record would be left out, as in the file that showed the format: {shown}."
    return _asked("skip_rows", count, count - len(records), evidence, shown)


def _differing_quote(path: SourceLocation, profile: Profile) -> Decision | None:
    """The question about the quote, if the file proves that it has another one."""
    dialect = profile.dialect
    if "quote" not in dialect.sampled or dialect.escape:
        return None
    known: dict[str, Any] = {name: getattr(dialect, name) for name in BESIDE_QUOTE}
    if dialect.member:
        known["member"] = dialect.member
    try:
        fresh = profile_file(path, **known)
    except SourceProblem:  # The reading in the other file's dialect says what is wrong.
        return None
    # That the character merely occurs has no evidence.
    proved = any(
        each.name == "quote" and each.standing is Standing.PROVED and each.evidence for each in fresh.decisions
    )
    if not proved or (not fresh.dialect.quote and dialect.unquoted_empty_is_null):
        return None
    if fresh.dialect.quote == dialect.quote or fresh.rows == profile.rows:
        return None
    names = [each.quote or "none" for each in (fresh.dialect, dialect)]
    evidence = f"The quote of the file is {names[0]}, and that of the file that showed the format is {names[1]}."
    return Decision("quote", names[0], Standing.GUESSED, evidence, answers=(_quote_of(fresh), _quote_of(profile)))


def _quote_of(profile: Profile) -> Answer:
    quote = profile.dialect.quote
    shown = tuple("".join(f"[{value}]" for value in row) for row in profile.rows[:1])
    return answer(f"the quote is {quote or 'none'}", shown, quote=quote)


def _differing_units(dialect: Dialect, whole: Profile, shown: Mapping[str, int | None]) -> Decision | None:
    units = shown["skip_after_header"]
    if "skip_after_header" not in dialect.sampled or units is None or units == bool(dialect.skip_after_header):
        return None
    line = dialect.delimiter.join(whole.rows[0])
    evidence = (
        f"The line below the header has units ({line}), which the file that showed the format has not."
        if units
        else f"The line below the header would be left out for units, as in the file that showed the format: {line}."
    )
    return _asked("skip_after_header", dialect.skip_after_header, units, evidence, line)


def _differing_footer(path: SourceLocation, dialect: Dialect, shown: Mapping[str, int | None]) -> Decision | None:
    lines = shown["skip_footer"]
    if "skip_footer" not in dialect.sampled or lines is None or lines == dialect.skip_footer:
        return None
    most = max(lines, dialect.skip_footer)
    last = last_lines(_tail(path, replace(dialect, skip_footer=0)), dialect.plain, most)
    evidence = (
        f"The file ends {_footer(lines)} ({last}), and the file that showed the format {_footer(dialect.skip_footer)}."
    )
    return _asked("skip_footer", dialect.skip_footer, lines, evidence, last)


def _footer(lines: int) -> str:
    return f"with a footer of {_lines(lines)}" if lines else "without a footer"


def _lines(count: int) -> str:
    return f"{count or 'no'} line{'' if count == 1 else 's'}"


def _asked(name: str, of_dialect: int, of_file: int, evidence: str, shown: str) -> Decision:
    """The question, whose first answer is what the file shows."""
    answers = tuple(answer(f"{_lines(count)} left out", [shown], **{name: count}) for count in (of_file, of_dialect))
    return Decision(name, str(of_file), Standing.GUESSED, evidence, answers=answers)


def _tail(path: SourceLocation, dialect: Dialect) -> bytes:
    """The last bytes of the plain file; b"" if they are not known."""
    with open_source(path) as fd:
        head = read_head(fd, SAMPLE_BYTES, dialect.member)
        with open_sample(fd, head, dialect) as sample:
            return last_bytes(sample.fd, sample.size) if sample.whole else b""
