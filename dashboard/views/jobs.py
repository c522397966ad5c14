"""The list of all imports."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from importer.models import ImportJob


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """The newest imports first."""
    return render(request, "dashboard/jobs.html", {"jobs": ImportJob.objects.order_by("-pk")[:50]})
