"""Files of a connection for a new import: its folders, its files with their first lines, and the choice of some."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.fields.ready import ready_first
from dashboard.new_import.batch import ALSO, is_key
from dashboard.new_import.form import NewImportForm
from dashboard.new_import.views import leave
from importer.access.policy import may_now, seen, sees_everything
from importer.connections.by_hand import connection_files as by_hand
from importer.connections.by_hand.addresses import choose_address
from importer.connections.by_hand.members import copy_members
from importer.connections.by_hand.server_file import find_on_server
from importer.connections.connection_kinds import kind_of
from importer.engine.errors import Problem
from importer.models import Level, SourceConnection, SourceFile, Target
from importer.sources import uploads
from importer.sources.several import as_one

MOST_SHOWN = 500


@dataclass(frozen=True)
class Crumb:
    """A folder on the way to the one that is shown, with its address."""

    name: str
    address: str


@require_http_methods(["GET", "HEAD", "POST"])
def places(request: HttpRequest) -> HttpResponse:
    """The connections whose files the person may load.

    A POST takes the file at an https address, or of a path on a target's host; if it is refused, what was sent stays.
    """
    refusal: Problem | None = None
    if request.method == "POST":
        try:
            return redirect("new_source", key=_named(request).key)
        except Problem as problem:
            refusal = problem
    known = [each for each in seen(SourceConnection.objects.order_by("name")) if may_now(Level.LOAD, each)]
    targets = ready_first(seen(Target.objects.registered().order_by("name"))) if sees_everything() else []
    by_path = bool(targets) and "path" in request.POST
    context = {
        "connections": known,
        "addresses": settings.WEB_ADDRESSES,
        "targets": targets,
        "problem": refusal,
        "by_path": by_path,
        "by_address": settings.WEB_ADDRESSES and not by_path,
    }
    return render(request, "new_import/from/places.html", context, status=422 if refusal else 200)


def _named(request: HttpRequest) -> SourceFile:
    """The file that the form names by an address or a path. Raises Problem."""
    if (path := request.POST.get("path")) is not None:
        return find_on_server(
            get_object_or_404(seen(Target.objects.all()), name=request.POST.get("target")), path.strip()
        )
    return choose_address(request.POST.get("address", "").strip())


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def files(request: HttpRequest, pk: int) -> HttpResponse:
    """What lies in a folder (`?folder=`) of the connection. A POST chooses files, and opens their new import.

    If they are refused, they stay chosen.
    """
    connection = get_object_or_404(SourceConnection, pk=pk)
    chosen, refusal = request.POST.getlist("name"), None
    if request.method == "POST":
        try:
            return redirect("new_source", key=by_hand.choose(connection, chosen).key)
        except Problem as problem:
            refusal = problem
    folder, pattern = request.GET.get("folder", "").strip("/"), request.GET.get("pattern", "").strip() or "*"
    listing: by_hand.Listing | None = None
    obstacle: Problem | None = None
    try:
        listing = by_hand.browse(connection, folder, pattern)
    except Problem as problem:
        obstacle = problem
    below = [Crumb(each, _address(pk, f"{folder}/{each}")) for each in listing.folders] if listing else []
    context = {
        "connection": connection,
        "kind": kind_of(connection),
        "folder": folder,
        "pattern": pattern,
        "crumbs": _crumbs(connection, folder),
        "folders": below,
        "files": listing.files[:MOST_SHOWN] if listing else (),
        "count": len(listing.files) if listing else 0,
        "chosen": chosen,
        "problem": obstacle,
        "refusal": refusal,
    }
    return render(request, "new_import/from/files.html", context, status=422 if obstacle or refusal else 200)


@require_safe
@never_cache
def lines(request: HttpRequest, pk: int) -> HttpResponse:
    """The first lines of the file `?name=`, which is not copied."""
    connection = get_object_or_404(SourceConnection, pk=pk)
    name = request.GET.get("name", "")
    context: dict[str, object] = {"connection": connection, "name": name}
    try:
        context["first"] = by_hand.first_lines(connection, name)
    except Problem as problem:
        context["problem"] = problem
    part = bool(request.htmx)  # type: ignore[attr-defined]
    return render(request, "new_import/from/_lines.html" if part else "new_import/from/lines.html", context)


@require_POST
def together(request: HttpRequest) -> HttpResponse:
    """Read the uploads of these keys (`also`, with commas between, after `first_file`) as one file, in one import.

    With `members`, all files of the archive `first_file`. The page of the one file has the target, table and options
    that were sent.
    """
    members = bool(request.POST.get("members"))
    keys = [request.POST.get("first_file", ""), *([] if members else request.POST.get("also", "").split(","))]
    known = {str(each.key): each for each in uploads.importable_by(request.user).filter(key__in=filter(is_key, keys))}
    try:
        chosen = [known[key] for key in keys if key in known]
        if members:
            chosen = [copy for each in chosen for copy in copy_members(each, somebody_waits=True)]
        source = as_one(chosen)
    except Problem as problem:
        messages.error(request, str(problem))
        also = {name: text for name in (ALSO,) if (text := request.POST.get(name, ""))}
        return leave(request, _page_of(keys[0], also) if is_key(keys[0]) else reverse("new"))
    return leave(request, _page_of(source.key, NewImportForm(request.POST.dict()).for_another_file))


def _page_of(key: UUID | str, query: dict[str, str]) -> str:
    """The address of a file's page of a new import."""
    address = reverse("new_source", args=[key])
    return f"{address}?{urlencode(query)}" if query else address


def _address(pk: int, folder: str) -> str:
    return f"{reverse('new_from', args=[pk])}?{urlencode({'folder': folder.strip('/')})}"


def _crumbs(connection: SourceConnection, folder: str) -> list[Crumb]:
    parts = folder.split("/") if folder else []
    return [
        Crumb(str(connection), _address(connection.pk, "")),
        *(Crumb(part, _address(connection.pk, "/".join(parts[: number + 1]))) for number, part in enumerate(parts)),
    ]
