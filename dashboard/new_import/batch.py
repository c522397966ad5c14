"""Several files on one page of a new import: the first one's settings may be applied to all that are like it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from uuid import UUID

from django.http import HttpRequest

from dashboard.fields.format_fields import FORMAT_FIELDS
from dashboard.new_import.preview import Preview
from importer.connections.source_location import location_of
from importer.engine.errors import Problem
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.other_file import differing_lines, encoding_of
from importer.engine.source.byte_source import SourceLocation
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.target.write_modes import SWAPPING
from importer.models import SourceFile
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest
from importer.preparation.row_problems import RowProblems, find_row_problems
from importer.sources import uploads

# The form's fields: the keys of the other files with commas between, one to add, one to take off, and the check box.
ALSO, ADD, DROP, APPLY = "also", "add", "drop", "apply_to_all"
FIELDS = (ALSO, ADD, DROP, APPLY)
MOST = 50
# Other files of which the first rows are examined while the page waits.
MOST_LOOKED_AT = 5


@dataclass(frozen=True)
class OtherFile:
    """Another file on the page; `differs` says why the settings do not fit it, "" if they do.

    `problems`: the rows among its first that the table would not take; None if they were not looked at.
    """

    source: SourceFile
    differs: str = ""
    problems: RowProblems | None = None


@dataclass(frozen=True)
class Batch:
    """The other files on the page; `applied`: those that the settings fit are imported, too.

    `refusal`: why they cannot be. `refused`: the key of a file that the page has no room for.
    """

    others: tuple[OtherFile, ...] = ()
    applied: bool = False
    refusal: str = ""
    refused: str = ""

    @property
    def room(self) -> int:
        """How many other files a page takes."""
        return MOST

    @property
    def keys(self) -> str:
        """The keys of the files, with commas between."""
        return ",".join(str(each.source.key) for each in self.others)

    @property
    def fitting(self) -> tuple[OtherFile, ...]:
        return tuple(each for each in self.others if not each.differs)

    @property
    def files(self) -> int:
        """How many files the button imports."""
        return 1 + len(self.fitting) if self.applied else 1

    @property
    def left(self) -> tuple[OtherFile, ...]:
        """The files that remain when the button was pressed."""
        return tuple(each for each in self.others if each.differs or not self.applied)


def read_batch(request: HttpRequest, preview: Preview) -> Batch:
    """The other files that the form names, as far as the person may import them, each compared with the first."""
    sent = request.POST if request.method == "POST" else request.GET
    wanted = [*sent.get(ALSO, "").split(","), sent.get(ADD, "")]
    named = [key for key in dict.fromkeys(wanted) if is_key(key) and key != sent.get(DROP)]
    keys, refused = named[:MOST], sent.get(ADD, "") if sent.get(ADD) in named[MOST:] else ""
    if not keys:
        return Batch()
    ready = uploads.importable_by(request.user).filter(status=SourceFile.Status.READY).exclude(pk=preview.source.pk)
    found = {str(each.key): each for each in ready.filter(key__in=keys)}
    others = tuple(_looked_at([_compared(found[key], preview) for key in keys if key in found], preview))
    applied = APPLY in sent
    several = applied and any(not each.differs for each in others)
    mode = preview.choices.mode
    refusal = f"Mode {mode} is for one file: choose another mode for several" if several and mode in SWAPPING else ""
    return Batch(others, applied, refusal, refused)


def prepare_others(preview: Preview, batch: Batch) -> list[PreparedImport]:
    """The imports of the other files with the settings of the first. Raises Problem with the file's name."""
    if not (batch.applied and preview.profile and preview.table and preview.target):
        return []
    if batch.refusal:
        raise Problem(f"{batch.refusal}.")
    request = ImportRequest(
        dialect=preview.profile.dialect,
        mapping=preview.mapping,
        fillings=preview.fillings,
        options=preview.choices.options,
        added_columns=preview.prepared.plan.added_columns if preview.prepared else (),
    )
    table = f"{preview.table.schema}.{preview.table.name}"
    prepared = []
    for each in batch.fitting:
        try:
            prepared.append(prepare(each.source, preview.target, table, request))
        except Problem as problem:
            raise uploads.with_file_name(problem, each.source) from problem
    return prepared


def is_key(text: str) -> bool:
    """Whether the text is the key of a file, as pages write it."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _compared(source: SourceFile, preview: Preview) -> OtherFile:
    first = preview.profile
    if not first:
        return OtherFile(source, "the first file cannot be read")
    try:
        expected = expected_columns(preview.table) if preview.table else ()
        place = location_of(source)
        profile = profile_file(place, None, expected, **preview.choices.known_format)
        own = replace(profile, dialect=replace(profile.dialect, encoding=_encoding(first, profile, place)))
        return OtherFile(source, _difference(first, own) or _other_lines(first, profile, place))
    except Problem as problem:
        return OtherFile(source, problem.what)


def _looked_at(others: Iterable[OtherFile], preview: Preview) -> Iterator[OtherFile]:
    """The files, of which the first ones that fit have the problems of their first rows."""
    first, prepared, left = preview.profile, preview.prepared, MOST_LOOKED_AT
    rules = prepared.plan.exactness if prepared and not preview.new_table else None
    for each in others:
        if first and rules and left and not each.differs:
            left -= 1
            with suppress(Problem):  # A record that cannot be read; the scan of its import says where.
                place = location_of(each.source)
                profile = profile_file(place, first.dialect)
                yield replace(each, problems=find_row_problems(place, profile, rules, preview.mapping))
                continue
        yield each


def _encoding(first: Profile, other: Profile, place: SourceLocation) -> str:
    """The encoding of the file; that of the first one for a file of ASCII characters, which fits both."""
    shown = encoding_of(place, first.dialect)
    detected = other.dialect.encoding
    return shown if shown != first.dialect.encoding or detected == UTF8 else detected


def _other_lines(first: Profile, other: Profile, place: SourceLocation) -> str:
    """How the file differs from the first one in a footer or units; "" if it does not."""
    lines = differing_lines(place, replace(other, dialect=first.dialect))
    return lines.evidence.removesuffix(".") if lines else ""


def _difference(first: Profile, other: Profile) -> str:
    """How the file differs from the first one in format or columns; "" if it does not."""
    if first.header != other.header:
        return "other columns"
    one, two = first.dialect, other.dialect
    differing = [each.name for each in fields(Dialect) if getattr(one, each.name) != getattr(two, each.name)]
    labels = [FORMAT_FIELDS[name].label.lower() for name in differing if name in FORMAT_FIELDS]
    return f"another format: {', '.join(labels)}" if labels else ""
