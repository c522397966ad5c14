"""The page Storage: for admins the use of disk and memory, and retention policies; for others their own files."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.access.told import told_on
from importer.access import limits
from importer.access.policy import is_admin
from importer.engine.errors import Problem
from importer.models import ImportJob, SourceFile
from importer.retention import files, policies
from importer.retention.needed import can_be_retried, file_reasons, reason, why_file_stays
from importer.retention.overview import overview
from importer.sources import quotas, uploads
from importer.sources.abandoned import is_stalled

FILES_SHOWN = 50


@dataclass(frozen=True)
class KeptFile:
    """A file on the page: its latest import if it has one, and the reason for which the policies keep it at any age."""

    source: SourceFile
    job: ImportJob | None
    why: str

    @property
    def stalled(self) -> bool:
        return is_stalled(self.source)


@require_safe
def storage(request: HttpRequest) -> HttpResponse:
    """The whole page."""
    now = timezone.now()
    context: dict[str, Any] = {
        "files": _files(request, now),
        "most": FILES_SHOWN,
        "kept": quotas.kept_for(request.user),
        "quota_bytes": settings.UPLOAD_QUOTA_BYTES,
        "quota_files": settings.UPLOAD_QUOTA_FILES,
        "limits": limits.overview(request.user),
    }
    if is_admin(request.user):
        context |= vars(overview(now)) | {
            "warned": settings.WARN_FREE_BYTES,
            "in_blocks": not settings.FILE_STORE,
        }
    return render(request, "system/storage.html", context)


@require_POST
@told_on("storage")
def policy(request: HttpRequest) -> HttpResponse:
    """Change the days of one retention policy, or take its change back."""
    changed = policies.change(request.POST.get("name", ""), _days(request.POST))
    messages.success(request, f"{changed.policy.title}: {changed.words}.")
    return redirect("storage")


def _days(sent: QueryDict) -> str:
    """What was entered for a policy: days, "keep" for ever, "" for the default.

    For ever counts unless other days were written than those shown.
    """
    days = sent.get("days", "").strip()
    for_ever = sent.get("unit") == policies.KEEP and days in ("", sent.get("shown"))
    return policies.KEEP if for_ever else days


@require_http_methods(["GET", "HEAD", "POST"])
def file_delete(request: HttpRequest, key: UUID) -> HttpResponse:
    """Ask, with what is lost; then delete the file. Its imports stay."""
    source = get_object_or_404(uploads.uploads_of(request.user), key=key)
    if request.method == "POST":
        try:
            files.remove_by_hand(source)
            messages.success(request, f"{source.name} is deleted.")
        except Problem as problem:
            messages.error(request, str(problem))
        return redirect("storage")
    imports = uploads.imports_of(source).order_by("-pk")
    context = {
        "source": source,
        "imports": imports,
        "retried": imports.filter(can_be_retried(timezone.now())),
        "why": why_file_stays(source),
    }
    return render(request, "system/delete_file.html", context)


def _files(request: HttpRequest, now: datetime) -> list[KeptFile]:
    """The largest files that the person may see."""
    largest = (
        uploads.uploads_of(request.user)
        .select_related("uploaded_by")
        .annotate(why=reason(file_reasons(now)))
        .order_by("-size", "pk")[:FILES_SHOWN]
    )
    shown: list[Any] = list(largest)
    last = uploads.last_imports(shown, ImportJob.objects.all())
    return [KeptFile(each, last.get(each.pk), each.why) for each in shown]
