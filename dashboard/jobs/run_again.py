"""Imports the file of an ended import again: as it is, or with changes."""

from dataclasses import dataclass
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.access.told import told_on
from dashboard.formatting import entered_number
from importer.access import audit
from importer.jobs.actions import again
from importer.models import ImportJob


@dataclass(frozen=True)
class Again:
    """Whether the file of an ended import can still be read, and the newest import of the file into the table."""

    file_there: bool
    newest: int


def again_of(job: ImportJob) -> Again | None:
    """What another import of the job's file needs; None while the import continues."""
    return Again(again.is_file_there(job), again.newest_of_file(job)) if job.ended else None


@require_safe
@never_cache
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Go to the page of a new import of the same file with the same settings, or to the one that asks for the file."""
    job = _job(pk)
    there = again.is_readable(job, request.user)
    place = reverse("new_source", args=[job.source.key]) if there else reverse("new")
    return redirect(f"{place}?edit={pk}")


@require_POST
@told_on("job")
def run_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Start the same import once more. `newest`: the newest one of the file that the page knew of."""
    job = _job(pk)
    newest = entered_number(request.POST.get("newest", "")) or 0
    started = again.run_again(job, newest, cast(User, request.user))
    audit.note(started=started.pk)
    return redirect("job", pk=started.pk)


def _job(pk: int) -> ImportJob:
    return get_object_or_404(ImportJob.objects.select_related("source", "target", "rejects_of"), pk=pk)
