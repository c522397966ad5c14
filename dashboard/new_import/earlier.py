"""Earlier imports on the page of a new import: of the file, so that its rows are not loaded twice unnoticed, and alike.

A file has also been imported if an import read it together with others. As last time: the last import that worked of a
file of the same kind, to begin with its table, columns and options.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.formatting import entered_number
from dashboard.new_import.preview import Preview
from dashboard.new_import.steps import format_in_short
from importer.access.policy import seen
from importer.engine.schema.table import Table
from importer.engine.source.formats.header_names import header_difference, normalized_names
from importer.engine.target.write_modes import ADDING
from importer.jobs.actions.again import imported_since
from importer.models import ImportJob, SourceFile, Target
from importer.models.job import ROWS_IN_TABLE
from importer.models.outcomes import COMPLETE_IMPORTS
from importer.preparation.like import header_of
from importer.preparation.prepare import PreparedImport
from importer.sources import uploads

JOBS_SHOWN = 5
RECENT_SHOWN = 10
# The latest imports that are compared by header, and those that are by name.
MOST_COMPARED = 30
_LEAST_NAME = 3  # characters before the date in a name
_NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class RecentFile:
    """An upload with its last import; None without one."""

    source: SourceFile
    job: ImportJob | None


def recent(request: HttpRequest) -> list[RecentFile]:
    """The person's latest uploads."""
    latest = list(uploads.uploads_of(request.user).order_by("-touched_at", "-pk")[:RECENT_SHOWN])
    # The last one alone: a file may have been imported thousands of times.
    last = uploads.last_imports(latest, seen(ImportJob.objects.filter(trial=None).select_related("target")))
    return [RecentFile(each, last.get(each.pk)) for each in latest]


def same_content(request: HttpRequest, source: SourceFile) -> dict[str, object]:
    """Earlier imports of this content, and other uploads of it that this user may see and nobody has imported."""
    same = uploads.same_content(source)
    waiting = set(uploads.not_imported(request.user).filter(pk__in=[other.pk for other in same]))
    # A lab's trial loads into a table of its own.
    of_content = uploads.imports_of(source, *source.files, *same).filter(trial=None)
    earlier = seen(of_content).select_related("source").order_by("-pk")
    return {"earlier_jobs": list(earlier[:JOBS_SHOWN]), "same": [other for other in same if other in waiting]}


def adder(preview: Preview) -> ImportJob | None:
    """The newest import that has added rows of the file to the chosen table, where this one would add them again."""
    if not (preview.target and preview.table and preview.choices.mode in ADDING):
        return None
    source = preview.source
    of_content = uploads.imports_of(source, *source.files, *uploads.same_content(source))
    into_table = seen(_into(of_content, preview.target, preview.table).filter(restored_at=None))
    with_rows = into_table.alias(rows=ROWS_IN_TABLE).filter(rows__gt=0).order_by("-pk")
    return next((each for each in with_rows[:JOBS_SHOWN] if each.finished or not each.stages), None)


def _into(jobs: QuerySet[ImportJob], target: Target, table: Table) -> QuerySet[ImportJob]:
    return jobs.filter(target=target, schema_name=table.schema, table_name=table.name)


def check_not_imported_since(request: HttpRequest, prepared: PreparedImport) -> None:
    """Raise Problem if an import of the file into the table has ended since the page was shown.

    The page may be another tab's, or that of the browser's way back. What shows the Problem shows that import, too, so
    that a further press starts.
    """
    shown = entered_number(request.POST.get("newest_import", ""))
    of_file = uploads.imports_of(prepared.source, *prepared.source.files)
    same = _into(of_file, prepared.target, prepared.table)
    newest = seen(same.filter(status__in=ImportJob.ENDED)).order_by("-pk").first()
    if newest and shown is not None and newest.pk > shown:
        raise imported_since(newest.pk, newest.table, prepared.source.name)


@dataclass(frozen=True)
class LastTime:
    """The import to repeat, and what differs between its file and this one, in words."""

    job: ImportJob
    differences: tuple[str, ...]


def last_time(preview: Preview) -> LastTime | None:
    """The last complete import of a file with this header, or with this name but for its date; None without one.

    None as well if the page begins with the settings of an import, a preset or a lab already.
    """
    profile = preview.profile
    if profile is None or preview.choices.before or preview.source.arriving:
        return None
    if job := next(_alike(preview), None):
        return LastTime(job, tuple(_differences(preview, job)))
    return None


def _alike(preview: Preview) -> Iterator[ImportJob]:
    complete = seen(COMPLETE_IMPORTS.filter(trial=None, rejects_of=None))
    latest = complete.select_related("source", "target").order_by("-pk")
    assert preview.profile
    if preview.profile.dialect.header:
        wanted = normalized_names(preview.profile.header)
        yield from (each for each in latest[:MOST_COMPARED] if normalized_names(header_of(each)) == wanted)
    name = preview.source.name
    before_date = _NUMBER.split(name, maxsplit=1)[0]
    if before_date != name and len(before_date) >= _LEAST_NAME:
        named = latest.filter(source__name__startswith=before_date)[:MOST_COMPARED]
        yield from (each for each in named if _undated(each.source.name) == _undated(name))


def _undated(name: str) -> str:
    return _NUMBER.sub("#", name)


def _differences(preview: Preview, job: ImportJob) -> Iterator[str]:
    assert preview.profile
    if header := header_difference(header_of(job), preview.profile.header):
        yield f"the header ({header})"
    then, now = format_in_short(job.file_dialect), format_in_short(preview.dialect)
    if then != now:
        yield f"the format (then {then}; now {now})"
