"""Approve or refuse an import that needs another person's approval; the card that shows what is approved."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from importer.access import approval
from importer.access.acting import acting_user
from importer.access.policy import Forbidden, may_now
from importer.engine.errors import Problem
from importer.jobs import approval as job_approval
from importer.jobs.actions import commands
from importer.models import ImportJob, Level
from importer.preparation.plan_sql import plan_sql


@dataclass(frozen=True)
class ApprovalCard:
    """What is approved: `sentence` and `digest`, with the SQL if there is any; and where it is decided.

    `why_not`: why the reader may not decide, and who may; "" if the reader may.
    """

    sentence: str
    digest: str
    approve: str
    refuse: str
    why_not: str = ""
    sql: tuple[tuple[str, str], ...] = ()


def why_not(thing: approval.Approvable) -> str:
    """Why the reader may not decide about the thing, and who may; "" if the reader may."""
    if not may_now(Level.LOAD, thing):
        return f"Who may load into {thing.table}, and did not start it, decides."
    why = approval.why_not(acting_user(), thing)
    return f"{why} {approval.advice_for(thing)}" if why else ""


def card_of(job: ImportJob) -> ApprovalCard | None:
    """The card of an import that waits for approval; None for all others, and until its plan is complete."""
    if not job_approval.is_asked_for(job):
        return None
    return ApprovalCard(
        job_approval.sentence(job),
        job_approval.digest_of(job),
        reverse("job_approve", args=[job.pk]),
        reverse("job_refuse", args=[job.pk]),
        why_not(job),
        tuple(plan_sql(job.plan)),
    )


@require_POST
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve the plan whose digest the page has shown."""
    get_object_or_404(ImportJob, pk=pk)
    return decided(request, lambda: commands.approve(pk, request.POST.get("digest", "")), "job", pk)


@require_POST
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """End the import, with a reason for who started it."""
    get_object_or_404(ImportJob, pk=pk)
    return decided(request, lambda: commands.refuse(pk, request.POST.get("reason", "")), "job", pk)


def decided(request: HttpRequest, decide: Callable[[], Any], page: str, pk: int) -> HttpResponse:
    """Decide, and show the page again. Raises PermissionDenied, with the reason, for who may not decide."""
    try:
        decide()
    except Forbidden as forbidden:
        raise PermissionDenied(str(forbidden)) from forbidden
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect(page, pk=pk)
