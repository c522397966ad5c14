"""As last time: the last import that worked of a file of this kind, whose table, columns, answers and options fit again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.new_import.preview import Preview
from dashboard.new_import.steps import format_in_short
from importer.access.policy import seen
from importer.models import ImportJob
from importer.models.outcomes import COMPLETE_IMPORTS
from importer.preparation import presets

# The latest imports that are compared by header, and those that are by name.
MOST_COMPARED = 30
_LEAST_NAME = 3  # characters before the date in a name
_NUMBER = re.compile(r"[0-9]+")


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
        wanted = presets.normalized_names(preview.profile.header)
        yield from (
            each for each in latest[:MOST_COMPARED] if presets.normalized_names(presets.header_of(each)) == wanted
        )
    name = preview.source.name
    before_date = _NUMBER.split(name, maxsplit=1)[0]
    if before_date != name and len(before_date) >= _LEAST_NAME:
        named = latest.filter(source__name__startswith=before_date)[:MOST_COMPARED]
        yield from (each for each in named if _undated(each.source.name) == _undated(name))


def _undated(name: str) -> str:
    return _NUMBER.sub("#", name)


def _differences(preview: Preview, job: ImportJob) -> Iterator[str]:
    assert preview.profile
    if header := presets.header_difference(presets.header_of(job), preview.profile.header):
        yield f"the header ({header})"
    then, now = format_in_short(job.file_dialect), format_in_short(preview.dialect)
    if then != now:
        yield f"the format (then {then}; now {now})"
