"""Compares a file with the dialect of another one.

The dialect has the other file's encoding, and leaves out a footer or units as that file has them.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from importer.engine.source import encodings
from importer.engine.source.byte_source import SourceLocation, open_source
from importer.engine.source.decoding import open_sample, read_head
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8, EncodingKind
from importer.engine.source.profile.decisions import Answer, Decision, Standing
from importer.engine.source.profile.encoding_detection import answers_for, shows_utf8
from importer.engine.source.profile.header import header_question
from importer.engine.source.profile.layout.lines_among import are_units, footer_decision, last_lines
from importer.engine.source.profile.names import match_names
from importer.engine.source.profile.profile import TAIL_BYTES, Profile, profile_file
from importer.engine.source.profile.sample import SAMPLE_BYTES
from importer.engine.source.records.blocks import read_exactly

# The fields of Dialect that are compared, and may be stated for a file that is read with the dialect of another one.
COMPARED = ("encoding", "header", "skip_after_header", "skip_footer")


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
    lines = [each for each in _differing_lines(path, profile, columns) if each.name not in stated]
    if lines:
        shown = dict(each.answers[0].states[0] for each in lines)
        profile = profile_file(path, replace(profile.dialect, **shown))
        differing += lines
    return replace(profile, differing=tuple(differing))


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
    if not shows_utf8(head.data, whole=head.whole):
        return None
    evidence = f"The file is UTF-8, and the file that showed the format is {dialect.encoding}."
    answers = tuple(answers_for(head.data, (UTF8, dialect.encoding)))
    return Decision("encoding", UTF8, Standing.GUESSED, evidence, answers=answers)


def differing_lines(path: SourceLocation, profile: Profile, columns: Sequence[str] = ()) -> Decision | None:
    """The question why the file has other lines than the dialect leaves out; None if it has the same.

    `profile`: that of the file in the other one's dialect. `columns`: as for profile_like(); () where they are not
    known. Of units and a footer, only what the other file's sample has shown is compared (Dialect.sampled). The end of
    a packed file that is larger than its sample is not known. Raises SourceProblem.
    """
    return next(_differing_lines(path, profile, columns), None)


def _differing_lines(path: SourceLocation, profile: Profile, columns: Sequence[str]) -> Iterator[Decision]:
    dialect = profile.dialect
    if dialect.is_converted:
        return
    if dialect.skip_footer or dialect.skip_after_header:
        profile = profile_file(path, replace(dialect, skip_footer=0, skip_after_header=0))
    asked = _differing_header(profile, columns), _differing_units(dialect, profile)
    yield from filter(None, (*asked, _differing_footer(path, dialect, profile)))


def _differing_header(profile: Profile, columns: Sequence[str]) -> Decision | None:
    """The question whether the first record is a header, if each of its fields has the name of its column."""
    if profile.dialect.header or not profile.rows or not any(columns):
        return None
    first = profile.rows[0]
    if match_names(first, filter(None, columns)) != list(columns):
        return None
    shown = profile.dialect.delimiter.join(first)
    evidence = f"The first record has the columns' names ({shown}), and the file that showed the format has no header."
    return header_question(True, evidence, profile.rows)


def _differing_units(dialect: Dialect, whole: Profile) -> Decision | None:
    """`whole`: the profile that leaves out neither units nor a footer."""
    if "skip_after_header" not in dialect.sampled or not dialect.header or not whole.rows:
        return None
    first, below = whole.rows[0], whole.rows[1:]
    has_units = are_units(first) and not any(map(are_units, below))
    if has_units == bool(dialect.skip_after_header):
        return None
    shown = dialect.delimiter.join(first)
    evidence = (
        f"The line below the header has units ({shown}), which the file that showed the format has not."
        if has_units
        else f"The line below the header would be left out for units, as in the file that showed the format: {shown}."
    )
    return _asked("skip_after_header", dialect.skip_after_header, int(has_units), evidence, shown)


def _differing_footer(path: SourceLocation, dialect: Dialect, whole: Profile) -> Decision | None:
    if "skip_footer" not in dialect.sampled or not whole.rows or not (tail := _tail(path, dialect)):
        return None
    lines, _ = footer_decision(tail, dialect.plain, whole.dialect.width)
    if lines == dialect.skip_footer:
        return None
    shown = last_lines(tail, dialect.plain, max(lines, dialect.skip_footer))
    evidence = (
        f"The file ends {_footer(lines)} ({shown}), and the file that showed the format {_footer(dialect.skip_footer)}."
    )
    return _asked("skip_footer", dialect.skip_footer, lines, evidence, shown)


def _footer(lines: int) -> str:
    return f"with a footer of {_lines(lines)}" if lines else "without a footer"


def _lines(count: int) -> str:
    return f"{count or 'no'} line{'' if count == 1 else 's'}"


def _asked(name: str, of_dialect: int, of_file: int, evidence: str, shown: str) -> Decision:
    """The question, whose first answer is what the file shows."""
    answers = tuple(
        Answer(f"{_lines(count)} left out", f"--{name.replace('_', '-')} {count}", ((name, count),), (shown,))
        for count in (of_file, of_dialect)
    )
    return Decision(name, str(of_file), Standing.GUESSED, evidence, answers=answers)


def _tail(path: SourceLocation, dialect: Dialect) -> bytes:
    """The last bytes of the plain file; b"" if they are not known."""
    with open_source(path) as fd:
        head = read_head(fd, SAMPLE_BYTES, dialect.member)
        with open_sample(fd, head, dialect) as sample:
            begin = max(0, sample.size - TAIL_BYTES)
            return read_exactly(sample.fd, sample.size - begin, begin) if sample.whole else b""
