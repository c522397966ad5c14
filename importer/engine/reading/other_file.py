"""Compares a file with the dialect of another one.

The dialect has the other file's encoding, and leaves out a footer or units as that file has them.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.byte_source import Readable, SourceLocation, open_source, read_at
from importer.engine.source.decisions import Decision, Standing, answer, asked
from importer.engine.source.decoding import open_sample, read_head
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8, EncodingKind
from importer.engine.source.formats.footer import is_sum
from importer.engine.source.formats.header_names import are_units, match_names
from importer.engine.source.formats.registry import FORMATS
from importer.engine.source.profile.encoding_detection import answers_for, shows_utf8
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_name, may_be_row
from importer.engine.source.profile.header import agrees
from importer.engine.source.profile.layout.lines_among import footer_decision, last_lines
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
# Where lines are that are left out, in words.
_PLACES = {
    "skip_rows": "to leave out above the first record",
    "skip_after_header": "of units below the header",
    "skip_footer": "of a footer",
}
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
        shown = dict(zip(LINES, _shown_lines(path, _whole(path, profile)), strict=True))
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
    return asked("encoding", evidence, *answers_for(data, (UTF8, dialect.encoding)))


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
    for name, of_file, shown in _shown(path, profile, columns, expected):
        of_dialect = getattr(profile.dialect, name)
        if of_file is not None and of_file != of_dialect:
            has, had = (_described(name, value) for value in (of_file, of_dialect))
            evidence = f"The file has {has}, and the file that showed the format has {had}: {shown}."
            answers = (answer(text, [shown], **{name: value}) for text, value in ((has, of_file), (had, of_dialect)))
            yield asked(name, evidence, *answers)


def _described(name: str, value: Any) -> str:
    if name in _PLACES:
        return f"{value or 'no'} line{'' if value == 1 else 's'} {_PLACES[name]}"
    return f"{'a' if value is True else value or 'no'} {name}"


def _shown(
    path: SourceLocation, profile: Profile, columns: Sequence[str], expected: Sequence[ExpectedColumn]
) -> Iterator[tuple[str, Any, str]]:
    """The fields of the dialect that are compared, each with what the file shows, None if that is not known, and where.

    Of marks and lines, only what the sample of the other file has shown is compared (Dialect.sampled).
    """
    dialect = profile.dialect
    first = dialect.delimiter.join(profile.rows[0]) if profile.rows else ""
    if not dialect.header and _has_names(profile, columns):
        yield "header", True, first
    # With a header a wrong line would be the header, and its names differ.
    if "skip_rows" in dialect.sampled and (records := rows_above(path, profile)):
        yield "skip_rows", dialect.skip_rows - len(records), dialect.delimiter.join(records[0])
    if not dialect.is_converted:
        yield "quote", _quote(path, profile), first
    elif "skip_footer" not in dialect.sampled:
        return
    whole = _whole(path, profile)
    units, footer = _shown_lines(path, whole, expected)
    if "skip_after_header" in dialect.sampled and units is not None:
        yield "skip_after_header", units, dialect.delimiter.join(whole.rows[0])
    if "skip_footer" in dialect.sampled and footer is not None:
        most = max(footer, dialect.skip_footer)
        yield "skip_footer", footer, last_lines(_tail(path, dialect), dialect.plain, most) if most else ""


def _has_names(profile: Profile, columns: Sequence[str]) -> bool:
    """Whether the fields of the first record have the names of all columns, in any order."""
    wanted = {*columns} - {""}
    return bool(wanted and profile.rows) and {*match_names(profile.rows[0], wanted)} - {""} == wanted


def _quote(path: SourceLocation, profile: Profile) -> str | None:
    """The quote of the file, if it proves that it has another one than the dialect; else None."""
    dialect = profile.dialect
    if "quote" not in dialect.sampled or dialect.escape:
        return None
    try:
        fresh = _fresh(path, dialect, BESIDE_QUOTE)
    except SourceProblem:  # The reading in the other file's dialect says what is wrong.
        return None
    quote = fresh.dialect.quote
    # That the character merely occurs has no evidence.
    found = (each for each in fresh.decisions if each.name == "quote")
    proved = any(each.standing is Standing.PROVED and each.evidence for each in found)
    possible = bool(quote) or not dialect.unquoted_empty_is_null
    return quote if proved and possible and fresh.rows != profile.rows else None


def _whole(path: SourceLocation, profile: Profile) -> Profile:
    """The profile that leaves out neither units nor a footer."""
    dialect = profile.dialect
    if not dialect.skip_footer and not dialect.skip_after_header:
        return profile
    return profile_file(path, replace(dialect, skip_footer=0, skip_after_header=0))


def _shown_lines(
    path: SourceLocation, whole: Profile, expected: Sequence[ExpectedColumn] = ()
) -> tuple[int | None, int | None]:
    """How many lines of units and of a footer the file has; None if that is not known."""
    dialect = whole.dialect
    if not whole.rows or dialect.is_converted:
        return None, _rows_of_footer(path, dialect)
    first, below = whole.rows[0], whole.rows[1:]
    takes = partial(_takes, whole, expected)
    units = int(are_units(first) and not takes(first, below)) if dialect.header else None
    tail = _tail(path, dialect)
    above = whole.rows[units or 0 : -1]

    def is_row(row: Sequence[str]) -> bool:
        return takes(row, above) and not is_sum(row, above)

    return units, footer_decision(tail, dialect.plain, dialect.width, is_row)[0] if tail else None


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
    fresh = _fresh(path, dialect, [name for name in ("format", *options) if name != "skip_footer"])
    return fresh.dialect.skip_footer if "skip_footer" in fresh.dialect.sampled else None


def _fresh(path: SourceLocation, dialect: Dialect, names: Collection[str]) -> Profile:
    """The profile of the file by its own sample, with these fields of the dialect."""
    known: dict[str, Any] = {name: getattr(dialect, name) for name in names}
    if dialect.member:
        known["member"] = dialect.member
    return profile_file(path, **known)


def _tail(path: SourceLocation, dialect: Dialect) -> bytes:
    """The last bytes of the plain file, with its footer; b"" if they are not known."""
    with open_source(path) as fd:
        head = read_head(fd, SAMPLE_BYTES, dialect.member)
        with open_sample(fd, head, replace(dialect, skip_footer=0)) as sample:
            return last_bytes(sample.fd, sample.size) if sample.whole else b""
