"""Pages of connections, for staff: the list, and a page to edit and check one and see its first files."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from dashboard.access.told import told_on
from dashboard.connections.form import ConnectionForm
from dashboard.schedules.preview import matching_files
from importer.access import audit
from importer.access.policy import seen
from importer.connections.connection_kinds import BY_NAME, KINDS, kind_of
from importer.connections.connection_settings import remove
from importer.connections.operations import check, confirm_host_key, told_findings
from importer.connections.protocols import host_key
from importer.connections.protocols.folder import selectable_folders
from importer.models import SourceConnection

MOST_FILES = 10
CHECK_DOES = "A check connects, signs in, and looks whether files can be listed there."


@require_safe
def connections(request: HttpRequest) -> HttpResponse:
    """All connections by name, each with the result of its last check."""
    rows = seen(SourceConnection.objects.annotate(schedule_count=Count("schedules"))).order_by("name")
    return render(request, "connections/list.html", {"connections": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def connection_new(request: HttpRequest) -> HttpResponse:
    """The form of a new connection of the kind in `?kind=`."""
    requested = request.GET.get("kind")
    return _edit(request, SourceConnection(kind=BY_NAME.get(requested or "", KINDS[0]).name))


@require_http_methods(["GET", "HEAD", "POST"])
def connection(request: HttpRequest, pk: int) -> HttpResponse:
    """One connection: its form, its last check, and the schedules that use it."""
    return _edit(request, get_object_or_404(SourceConnection, pk=pk))


@require_safe
@never_cache
def connection_files(request: HttpRequest, pk: int) -> HttpResponse:
    """The first files of the connection: a part of the page that loads on its own, since listing may be slow."""
    source = get_object_or_404(SourceConnection, pk=pk)
    files = matching_files(source, "*", timezone.get_current_timezone(), most=MOST_FILES)
    if request.htmx:  # type: ignore[attr-defined]
        return render(
            request, "connections/_files.html", {"connection": source, "kind": kind_of(source), "files": files}
        )
    return _edit(request, source, {"files": files})


@require_POST
def connection_check(request: HttpRequest, pk: int) -> HttpResponse:
    """Check the connection now."""
    checked = get_object_or_404(SourceConnection, pk=pk)
    check(checked)
    return _checked(request, checked)


@require_POST
@told_on("connection")
def connection_confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Trust the host key that the last check received, after the user has compared it."""
    confirmed = get_object_or_404(SourceConnection, pk=pk)
    confirm_host_key(confirmed, request.POST.get("key", ""))
    # Reload the whole page: its form still has the old key and would send it back.
    return redirect("connection", pk)


@require_POST
@told_on("connection")
def connection_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete the connection, unless schedules or imported files refer to it; the page then names them."""
    deleted = get_object_or_404(SourceConnection, pk=pk)
    remove(deleted)
    messages.success(request, f"{deleted.name} is deleted. Its files stay where they are.")
    return redirect("connections")


def _edit(request: HttpRequest, edited: SourceConnection, more: dict[str, Any] | None = None) -> HttpResponse:
    form = ConnectionForm(request.POST or None, instance=edited, initial=_initial(edited))
    if form.is_valid():
        saved = form.save()
        audit.saved(saved, form.changed_data)
        check(saved)
        return redirect("connection", saved.pk)
    # The form writes its values into its instance, even invalid ones: the page's title needs the stored name.
    stored = SourceConnection.objects.get(pk=edited.pk) if edited.pk else None
    kind = kind_of(edited)
    context: dict[str, Any] = {"form": form, "kind": kind, "kinds": KINDS, "connection": stored}
    if kind.local:
        context |= {
            "folders": selectable_folders(),
            "allowed": settings.IMPORT_FOLDERS,
            "none_allowed": not settings.IMPORT_FOLDERS,
        }
    if stored:
        context |= {"schedules": stored.schedules.order_by("name"), **_findings(stored)}
    status = 422 if form.is_bound else 200
    return render(request, "connections/detail.html", context | (more or {}), status=status)


def _initial(edited: SourceConnection) -> dict[str, str]:
    """The first allowed folder as the place of a new local connection: the likeliest choice."""
    folders = settings.IMPORT_FOLDERS
    return {"place": folders[0]} if kind_of(edited).local and folders and not edited.pk else {}


def _findings(checked: SourceConnection) -> dict[str, Any]:
    checked.findings = told_findings(checked)
    return {
        "checked": checked,
        "check_name": "connection_check",
        "check_does": CHECK_DOES,
        "confirm_url": reverse("connection_confirm", args=[checked.pk]),
        "key_to_confirm": host_key.key_to_confirm(checked),
    }


def _checked(request: HttpRequest, checked: SourceConnection) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        # The event makes the page list the files again: after the check they may be different, or readable at last.
        return trigger_client_event(render(request, "shared/_findings.html", _findings(checked)), "checked")
    return redirect("connection", checked.pk)
