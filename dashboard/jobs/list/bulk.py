"""Actions on all imports that match the filters: a page with their number asks first, then each is done by itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.access.rules import RULES
from dashboard.formatting import entered_number
from dashboard.jobs.list.filters import Filters, matching
from importer.access import audit, limits
from importer.access.limits import TooOften
from importer.engine.errors import Problem
from importer.jobs.actions import commands
from importer.models import AuditEvent, ImportJob
from importer.retention import ended_jobs

MOST = 200  # imports of one request: each may ask its target
SHOWN = 10
Status = ImportJob.Status


@dataclass(frozen=True)
class Action:
    """Something to do with many imports. `verb`: the word on its button; `done`: what it has done to each, in words.

    `rule`: the URL that does it to one import, whose rule decides who may. `possible`: the imports that it is for.
    """

    name: str
    verb: str
    done: str
    about: str
    rule: str
    possible: Q
    act: Callable[[int], Any]


ACTIONS = (
    Action(
        "retry",
        "Retry",
        "retried",
        "Each loads the rows that are not in its table yet.",
        "job_retry",
        Q(status__in=(Status.FAILED, Status.CANCELLED), chunks_removed_at=None),
        commands.retry,
    ),
    Action(
        "cancel",
        "Cancel",
        "cancelled",
        "Rows that are committed stay in their tables, except in a staging table.",
        "job_cancel",
        Q(status__in=(Status.UNAPPROVED, Status.WAITING, Status.LOADING, Status.PAUSED, Status.FINISHING)),
        commands.cancel,
    ),
    Action(
        "delete",
        "Delete the records of",
        "deleted",
        "What they loaded stays in their tables, and their figures stay in Performance."
        " Their rejected rows are deleted. This cannot be undone.",
        "job_delete",
        Q(status__in=ImportJob.ENDED),
        ended_jobs.remove_by_hand,
    ),
)
_BY_NAME = {each.name: each for each in ACTIONS}


@require_http_methods(["GET", "HEAD", "POST"])
def bulk(request: HttpRequest) -> HttpResponse:
    """Ask, with the number of imports and the first of them; then do it to each, as its own rule allows."""
    values = request.POST if request.method == "POST" else request.GET
    action = _BY_NAME.get(values.get("action", ""))
    if action is None:
        raise Http404
    filters = Filters.of(values)
    if request.method == "POST":
        _tell(request, action, _act(action, _asked_about(action, filters, values)))
        return redirect(f"{reverse('jobs')}?{filters.query}")
    every = matching(filters)
    possible = every.filter(action.possible)
    context = {
        "action": action,
        "filters": filters,
        "count": possible.count(),
        "others": every.exclude(action.possible).count(),
        "asked": ".".join(map(str, possible.order_by("pk").values_list("pk", flat=True)[:MOST])),
        "first": possible.select_related("source", "target").order_by("-pk")[:SHOWN],
        "most": MOST,
    }
    return render(request, "jobs/list/bulk.html", context)


def _asked_about(action: Action, filters: Filters, values: QueryDict) -> list[ImportJob]:
    """The imports that the page asked about: none that came, or got into the state for it, later."""
    numbers = [each for text in values.get("asked", "").split(".")[:MOST] if (each := entered_number(text))]
    asked = matching(filters).filter(action.possible, pk__in=numbers).select_related("target", "source")
    return list(asked.order_by("pk"))


@dataclass
class _Outcome:
    """The number of imports that it was done to, the problems of others, and how many are left, with the reason."""

    done: int = 0
    problems: list[Problem] = field(default_factory=list)
    left: int = 0
    why_left: TooOften | None = None


def _act(action: Action, chosen: Sequence[ImportJob]) -> _Outcome:
    """Do it to each as its own rule allows, as often as that is allowed. Each has an event in the audit log."""
    outcome = _Outcome()
    for number, job in enumerate(chosen):
        if rate := RULES[action.rule].rate:
            outcome.why_left = limits.counted(rate)
        if outcome.why_left:
            outcome.left = len(chosen) - number
            break
        _act_on(action, job, outcome)
    audit.about(None)
    left = {"left": outcome.left} if outcome.left else {}
    audit.note(action=action.name, done=outcome.done, refused=len(outcome.problems), **left)
    return outcome


def _act_on(action: Action, job: ImportJob, outcome: _Outcome) -> None:
    try:
        replace(RULES[action.rule], rate=None).check(reads=False, named={"pk": job.pk})
        action.act(job.pk)
    except Http404:  # Deleted since.
        return
    except Problem as problem:
        outcome.problems.append(_about(problem, job))
        audit.record(action.rule, job, AuditEvent.Outcome.REFUSED, reason=str(problem), with_others=True)
    else:
        outcome.done += 1
        audit.record(action.rule, job, with_others=True)


def _about(problem: Problem, job: ImportJob) -> Problem:
    """The problem, with the import that it is about."""
    return Problem(problem.what, f"Import {job.pk} of {job.source.name}", problem.advice)


def _tell(request: HttpRequest, action: Action, outcome: _Outcome) -> None:
    done, refused, left = outcome.done, outcome.problems, outcome.left
    if done:
        messages.success(request, f"{done:,} {'import is' if done == 1 else 'imports are'} {action.done}.")
    if left:
        messages.warning(request, f"{left:,} {'import is' if left == 1 else 'imports are'} left. {outcome.why_left}")
    for problem in refused[:SHOWN]:
        messages.error(request, str(problem))
    if len(refused) > SHOWN:
        messages.error(request, f"{len(refused) - SHOWN:,} more could not be {action.done}.")
    if not (done or refused or left):
        messages.info(request, f"No import could be {action.done} any more.")
