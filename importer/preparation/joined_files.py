"""Checks that several files can be read as one, and says where the records of each lie."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importer.connections.source_location import location_of
from importer.engine.errors import SourceProblem, in_file
from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.reading.other_file import differing_lines, encoding_of
from importer.engine.source.byte_source import Readable, open_source, read_at, size_of
from importer.engine.source.chunks.joined import JoinedFile, line_end_of
from importer.engine.source.chunks.skipped_lines import SkippedLines, lines_before
from importer.engine.source.decoding import needs_copy, open_sample, read_head
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.formats.registry import FORMATS
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.source.profile.sample import SAMPLE_BYTES
from importer.models import SourceFile

# Names of fields that a message lists.
MOST_NAMED = 5
APART = "Import the two apart, or correct one of them."


class FilesDiffer(SourceProblem):
    """Files that were named for one import have different columns or formats."""


@dataclass(frozen=True)
class JoinedProfile:
    """The profile of several files as of one: that of the first, with the size of all; and the files."""

    profile: Profile
    files: tuple[JoinedFile, ...]


def join_files(source: SourceFile, first: Profile, expected: Sequence[ExpectedColumn] = ()) -> JoinedProfile:
    """The files of a source of several as one; `first` is the profile of its first file. Without files for one file.

    `expected`: the columns of the table, () if there is none yet.

    Each other file is read in the first one's dialect. The same columns in another order are put into the first one's.
    Raises FilesDiffer, with both names and the difference, for a file with other columns or another encoding, and
    SourceProblem for one that cannot be read.
    """
    if source.file_count == 1:
        return JoinedProfile(first, ())
    sources = source.files
    files: list[JoinedFile] = []
    for number, each in enumerate(sources):
        profile = _fitting(each, first, sources[0].name, expected) if number else first
        begin = files[-1].end if files else profile.data_offset
        joined = _joined(each, profile, begin, last=number == len(sources) - 1)
        files.append(replace(joined, order=_order(first, profile)))
    packing = next((each.packing for each in files if each.packing), "")
    return JoinedProfile(replace(first, size=files[-1].end, packing=packing), tuple(files))


def _fitting(source: SourceFile, first: Profile, first_name: str, expected: Sequence[ExpectedColumn]) -> Profile:
    """The profile of a file in the first one's dialect. Raises FilesDiffer if the two do not fit together."""
    try:
        profile = profile_file(location_of(source), first.dialect)
        encoding = encoding_of(location_of(source), profile.dialect)
        lines = differing_lines(location_of(source), profile, _named(profile, expected), expected)
    except SourceProblem as problem:
        what = f"{source.name} cannot be read as {first_name} is: {problem.what}"
        raise FilesDiffer(what, f"{first_name} and {problem.where}", APART) from problem
    own = replace(profile, dialect=replace(profile.dialect, encoding=encoding))
    if what := _difference(first, own, first_name, source.name):
        raise FilesDiffer(what, f"{first_name} and {source.name}", APART)
    if lines:
        what = f"{source.name} cannot be read as {first_name} is. {lines.evidence}"
        raise FilesDiffer(what, f"{first_name} and {source.name}", APART)
    return profile


def _named(profile: Profile, expected: Sequence[ExpectedColumn]) -> Sequence[str]:
    """The columns whose names the first record has, if all of its fields have one; else ()."""
    named = match_names(profile.rows[0], [column.name for column in expected]) if profile.rows else []
    return named if all(named) else ()


def _difference(first: Profile, other: Profile, first_name: str, other_name: str) -> str:
    """How two files differ, in words; "" if they can be read as one."""
    if first.dialect.encoding != other.dialect.encoding:
        return (
            f"The files have different encodings: {first_name} {first.dialect.encoding}, {other_name}"
            f" {other.dialect.encoding}."
        )
    if first.dialect.is_converted:
        return _format_difference(first.dialect, other.dialect, first_name, other_name) or _header_difference(
            first.header, other.header, first_name, other_name, exact=True
        )
    if first.dialect.header:
        return _header_difference(first.header, other.header, first_name, other_name)
    widths = (each.dialect.width for each in (first, other))
    one, two = widths
    if other.rows and one != two:
        return f"The files have different numbers of fields: {first_name} {one}, {other_name} {two}."
    return ""


def _format_difference(first: Dialect, other: Dialect, first_name: str, other_name: str) -> str:
    """How what was chosen in two files of another format than CSV differs, such as the sheet."""
    for name in (*FORMATS[first.format].options, "time_zone"):
        one, two = (getattr(each, name) for each in (first, other))
        if one != two:
            texts = f"{first_name} {'none' if one == '' else one}, {other_name} {'none' if two == '' else two}"
            return f"The files differ in {name.replace('_', ' ')}: {texts}."
    return ""


def _header_difference(
    first: Sequence[str], other: Sequence[str], first_name: str, other_name: str, *, exact: bool = False
) -> str:
    """How two headers differ. `exact`: names with other letters or blanks differ, because values are found by them."""
    one, two = ([name if exact else name.strip().lower() for name in header] for header in (first, other))
    if one == two:
        return ""
    if sorted(one) == sorted(two):
        if not exact and len(set(one)) == len(one):
            return ""  # _order() finds each column by its name.
        return f"The files have the same columns in another order: {other_name} begins with {other[0].strip()}."
    missing = [name for name, key in zip(first, one, strict=True) if key not in two]
    added = [name for name, key in zip(other, two, strict=True) if key not in one]
    if not missing and not added:
        return f"{other_name} has a column more than once."
    sides = ((first_name, missing), (other_name, added))
    only = [f"only {name} has {_listed(columns)}" for name, columns in sides if columns]
    return f"The files have different columns: {', '.join(only)}."


def _order(first: Profile, other: Profile) -> tuple[int, ...]:
    """Where the fields of the first file are in the records of the other; () in the same order."""
    one, two = ([name.strip().lower() for name in each.header] for each in (first, other))
    is_named = first.dialect.header and not first.dialect.is_converted
    return tuple(map(two.index, one)) if is_named and one != two else ()


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else ""
    return f"{', '.join(name.strip() for name in columns[:MOST_NAMED])}{more}"


def _joined(source: SourceFile, profile: Profile, begin: int, *, last: bool) -> JoinedFile:
    with in_file(source.name), open_source(location_of(source)) as fd:
        before = _lines_before(fd, profile)
        copied = needs_copy(profile.packing, profile.dialect)
        added = "" if last or copied else _missing_line_end(fd, profile)
        size = size_of(fd)
    return JoinedFile(
        name=source.name,
        begin=begin,
        skip=profile.data_offset,
        line=profile.data_line,
        length=profile.size - profile.data_offset,
        size=size,
        added=added,
        packing=profile.packing,
        before=before.as_json(),
    )


def _lines_before(fd: Readable, profile: Profile) -> SkippedLines:
    """The lines before the file's records; of another format than CSV the names of the fields, which its copy has."""
    head = read_head(fd, SAMPLE_BYTES, profile.dialect.member)
    with open_sample(fd, head, profile.dialect) as sample:
        return lines_before(sample.fd, profile.dialect.plain, min(profile.data_offset, sample.readable))


def _missing_line_end(fd: Readable, profile: Profile) -> str:
    """The line end that the file's last record needs; "" if it has one, or if there is no record."""
    if profile.size == profile.data_offset or read_at(fd, 1, profile.size - 1) in (b"\n", b"\r"):
        return ""
    return line_end_of(profile.dialect)


def explain_order(plan: ImportPlan, files: Sequence[JoinedFile]) -> ImportPlan:
    """The plan, which says that columns of some files are put into the order of the first one."""
    moved = [each.name for each in files if each.order]
    if not moved:
        return plan
    reason = Reason(
        f"Columns of {_listed(moved)} are put into the order of {files[0].name}",
        "the names are the same; a plain copy of all files is made first, which goes when the import ends",
        holds_back=True,
    )
    return replace(plan, reasons=(*plan.reasons, reason))
