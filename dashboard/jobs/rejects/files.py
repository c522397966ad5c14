"""Downloads of an import's reject file and of the reasons, and a new import of the reject file."""

from collections.abc import Callable, Iterator
from typing import cast
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.access.told import told_on
from importer.jobs.rejects import downloads
from importer.models import ImportJob


@require_safe
@never_cache
@told_on("job")
def reject_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download the rejected rows, byte for byte as in the source; with `?defused` a copy without formulas.

    `?delimiter=semicolon`: of that copy.
    """
    job, delimiter = _job(pk), _delimiter(request)
    if "defused" in request.GET:
        return _download(job, "defused", "utf-8", lambda of: downloads.defused_file(of, delimiter or ","))
    return _download(job, "rejects", job.file_dialect.of_rejects.encoding, downloads.reject_file)


@require_safe
@never_cache
@told_on("job")
def reasons_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download line, byte, column, value, code and reason of each rejected row.

    With `?delimiter=semicolon` or `comma`: for a spreadsheet.
    """
    if delimiter := _delimiter(request):
        return _download(_job(pk), "reasons", "utf-8", lambda of: downloads.spreadsheet_reasons(of, delimiter))
    return _download(_job(pk), "reasons", "utf-8", downloads.reasons_file)


def _delimiter(request: HttpRequest) -> str:
    return downloads.SPREADSHEET_DELIMITERS.get(request.GET.get("delimiter", ""), "")


@require_POST
@told_on("job")
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the reject file a new source, and open the page of a new import of it with this import's settings."""
    job = _job(pk)
    source = downloads.as_source(job, cast(User, request.user))
    return redirect(f"{reverse('new_source', args=[source.key])}?{urlencode({'again': pk})}")


def _download(
    job: ImportJob, kind: str, charset: str, pieces: Callable[[ImportJob], Iterator[bytes]]
) -> HttpResponseBase:
    """Stream a file as an attachment: the browser must not show it, because it may contain anything."""
    content = pieces(job)
    disposition = content_disposition_header(True, downloads.file_name(job, kind))
    return StreamingHttpResponse(
        content,
        content_type=f"text/csv; charset={charset}",
        headers={"Content-Disposition": disposition or "attachment", "X-Content-Type-Options": "nosniff"},
    )


def _job(pk: int) -> ImportJob:
    return get_object_or_404(ImportJob.objects.select_related("source"), pk=pk)
