"""The servers and databases that files are loaded into."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from importer.models import Target


@require_safe
def targets(request: HttpRequest) -> HttpResponse:
    """Every target by name."""
    return render(request, "dashboard/targets.html", {"targets": Target.objects.order_by("name")})
