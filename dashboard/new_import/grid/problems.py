"""The rows of a file that its table would not take: the first ones at once, then those of the whole file."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.new_import.preview import Preview
from importer.connections.source_location import location_of
from importer.engine.errors import Problem
from importer.engine.source.profile.profile import Profile
from importer.engine.validation import ValidationRules
from importer.models import Examination
from importer.preparation import examination
from importer.preparation.prepare import PreparedImport
from importer.preparation.row_problems import RowProblems, find_row_problems
from importer.sources import uploads


def row_problems(preview: Preview, profile: Profile) -> tuple[RowProblems, bool]:
    """The rows with problems that are known, and whether a worker searches the rest of the file."""
    prepared = preview.prepared
    rules = prepared.plan.exactness if prepared else None
    if prepared is None or rules is None:
        return RowProblems(), False
    if preview.new_table:  # No worker examines the rest: the import reads the whole file before it makes the table.
        return _first_problems(preview, prepared, profile, rules), False
    examination.begin(prepared)
    found = examination.findings(prepared)
    if found and found.scanned:
        return found, examination.goes_on(prepared.source)
    return _first_problems(preview, prepared, profile, rules), found is not None


def _first_problems(
    preview: Preview, prepared: PreparedImport, profile: Profile, rules: ValidationRules
) -> RowProblems:
    """The problems of the first rows. Of several files these are the rows of the first one."""
    try:
        file = location_of(preview.source)
        first = find_row_problems(file, profile, rules, preview.mapping, preview.new_table)
    except Problem:  # A record that cannot be read; the scan of the import says where.
        return RowProblems()
    return replace(first, whole=first.whole and not prepared.files)


@require_safe
@never_cache
def findings(request: HttpRequest, key: UUID) -> HttpResponse:
    """What has been found in the file so far. The page asks again until all of it is examined."""
    source = get_object_or_404(uploads.importable_by(request.user), key=key)
    made = Examination.objects.filter(source=source).first()
    if made is None:  # The import was started, or another mapping is to be shown first.
        return HttpResponse(status=204)
    examination.wake(source)
    problems = examination.found_so_far(made)
    context = {"key": key, "problems": problems, "examining": not made.done, "filtered": "filtered" in request.GET}
    context |= {"stops": "stops" in request.GET, "needs_every_row": "every" in request.GET, "alone": True}
    return render(request, "new_import/grid/_findings.html", context)
