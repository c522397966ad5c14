"""Deletes an ended import on request, after a page that says what is lost."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard.access.confirmed import check_confirmed
from importer.engine.errors import Problem
from importer.models import ImportJob
from importer.retention import ended_jobs
from importer.retention.needed import can_be_retried, why_job_stays


@require_http_methods(["GET", "HEAD", "POST"])
def job_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, with what is lost; then delete the import. What it loaded stays in its table."""
    job = get_object_or_404(ImportJob.objects.select_related("target", "source"), pk=pk)
    if request.method != "POST":
        retried = ImportJob.objects.filter(can_be_retried(timezone.now()), pk=pk).exists()
        return render(request, "jobs/delete.html", {"job": job, "why": why_job_stays(job), "retried": retried})
    try:
        check_confirmed(request, job)
        ended_jobs.remove_by_hand(pk)
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("job_delete" if not why_job_stays(job) else "job", pk)
    messages.success(request, f"Import {pk} of {job.source.name} is deleted.")
    return redirect("jobs")
