"""The page of the published experiments: the last report of each on each target, and the full reports."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.formatting import entered_number
from importer import lab as lab_of
from importer.access import audit
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.lab.commands import REPEATS
from importer.models import Lab, Target

# Most reports that the page looks through for the last ones.
MOST_REPORTS = 500
# The headings over the ways that failed, and whether those have rates of other rounds.
FAILURES = {"Not measured": False, "Failed in some rounds": True}
BADGES = {"agrees": "bg-green-lt", "disagrees": "bg-red-lt"}
# The verb of each verdict, in the singular and in the plural, in the order of the page.
ONE_OR_MORE = {
    "agrees": ("agrees", "agree"),
    "disagrees": ("disagrees", "disagree"),
    "not comparable": ("is not comparable", "are not comparable"),
}
# Where a report's rule says what the next verdict means.
_NEXT_RULE = re.compile(r"(?<=\.) (?=Disagrees:|Not comparable:)")
OTHER_BADGE = "bg-secondary-lt"
# Of a way: why its rate is compared with nothing. The page says it once for all of them.
NO_FIGURE = "the article has no figure"


@require_safe
def experiments(request: HttpRequest) -> HttpResponse:
    """Those that were repeated, side by side: each claim with its verdict on each target."""
    reports = seen(Lab.objects.filter(status=Lab.Status.DONE, report_json__has_key="experiment"))
    newest_first = list(reports.select_related("target").order_by("-pk")[:MOST_REPORTS])
    by_name: dict[str, list[Lab]] = {}
    for lab in newest_first:
        by_name.setdefault(lab.experiment, []).append(lab)
    return _list(request, by_name)


def _list(request: HttpRequest, by_name: Mapping[str, list[Lab]], problem: Problem | None = None) -> HttpResponse:
    shown = [{"name": name, **compared(labs)} for name, labs in sorted(by_name.items())]
    try:
        offered = lab_of.experiments()
    except Problem:  # Not in a clone.
        offered = []
    targets = seen(Target.objects.registered().order_by("name"))
    context = {"experiments": shown, "offered": offered, "targets": targets, "repeats": REPEATS, "problem": problem}
    return render(request, "lab/experiments/list.html", context, status=422 if problem else 200)


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Start an experiment on a target; its lab's page follows it. A second press leads to the lab of the first one."""
    given = request.POST
    target = get_object_or_404(seen(Target.objects.registered()), name=given.get("target", ""))
    try:
        rounds = given.get("repeats", "")
        repeats = entered_number(rounds)
        if repeats is None:
            raise Problem(f"{rounds!r} is no number of rounds.", advice="Give a whole number.")
        made = lab_of.order(
            given.get("name", ""),
            target,
            cast(User, request.user),
            size=given.get("size", "small"),
            repeats=repeats,
            once=True,
        )
    except Problem as problem:
        return _list(request, {}, problem)
    audit.about(made)
    lab_of.start(made.pk)
    return redirect("lab", pk=made.pk)


@require_safe
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """The full report of one experiment."""
    lab = get_object_or_404(Lab.objects.select_related("target"), pk=pk)
    if not lab.report_json:
        raise Http404
    document = lab.report_json
    ways = [_shown(way) for way in document["ways"]]
    judged = [way for way in ways if way["verdict"] in BADGES]
    others = [way for way in ways if way not in judged]
    claims = [{**claim, "badge": _badge(claim["verdict"])} for claim in document["claims"]]
    failed = [way for way in ways if way["failed"]]
    failures = {title: [way for way in failed if bool(way["rates"]) == rated] for title, rated in FAILURES.items()}
    context = {
        "lab": lab,
        "report": document,
        "claims": claims,
        "verdicts": verdicts(lab),
        "rules": _NEXT_RULE.split(document["rule"]),
        "judged": judged,
        "others": others,
        "failures": failures,
    }
    return render(request, "lab/experiments/report.html", context)


def measured_ways(lab: Lab, measured: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The ways of an experiment as its page shows them, by what they have in common: of those one can be the fastest.

    `measured`: the ways of importer.lab.outcome(). The figures of the article are those of the report, as far as there
    is one. Of a run that has ended without it, the fastest way comes first.
    """
    reported = {way["way"]: way for way in (lab.report_json or {}).get("ways", ())}
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in measured:
        rates = each["rates"]
        plain = {"way": each["way"], "rate": {"median": median(rates)} if rates else None, "verdict": "", "why": ""}
        way = _shown(reported.get(each["way"], plain))
        groups.setdefault(way.get("among", ""), []).append(way)
    if not reported and lab.ended:
        rated = [way for group in groups.values() for way in group if way["rate"]]
        best = max(rated, key=lambda way: way["rate"]["median"], default=None)
        if best and len(rated) > 1:
            best["leads"] = True
            for way in rated:
                way["of_best"] = way["rate"]["median"] / best["rate"]["median"]
        for group in groups.values():
            group.sort(key=lambda way: -way["rate"]["median"] if way["rate"] else 0)
    return groups


def leading(ways: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any] | None:
    """The way that measured_ways() found to be the fastest of a run that has ended without a report."""
    return next((way for group in ways.values() for way in group if way.get("leads")), None)


def verdicts(lab: Lab) -> list[tuple[str, int]]:
    """The verdicts on the article's claims so far, as words to follow their number, and that number."""
    counted = Counter(claim["verdict"] for claim in (lab.report_json or {}).get("claims", ()))
    return [(words[counted[each] > 1], counted[each]) for each, words in ONE_OR_MORE.items() if counted[each]]


def _shown(way: dict[str, Any]) -> dict[str, Any]:
    """A way with its badge; that the article has no figure is said once for all ways."""
    without = {"verdict": "", "why": ""} if way["why"] == NO_FIGURE else {}
    return {**way, "badge": _badge(way["verdict"])} | without


def compared(newest_first: Iterable[Lab]) -> dict[str, Any]:
    """The last report of each target and its claims: {"columns": [...], "claims": [...]}.

    A column is {"lab", "report"}; a claim {"says", "published", "unit", "cells"}, with a cell for each column: the
    name of its "target", and the claim's "verdict" there with its "badge", or None if that report does not have the
    claim.
    """
    last: dict[int, Lab] = {}
    for lab in newest_first:
        last.setdefault(lab.target_id, lab)
    columns = sorted(last.values(), key=lambda lab: lab.target.name)
    by_column = {lab.target.name: _claims(lab) for lab in columns}
    names = dict.fromkeys(says for claims in by_column.values() for says in claims)
    return {
        "columns": [{"lab": lab, "report": lab.report_json} for lab in columns],
        "claims": [_row(says, {target: claims.get(says) for target, claims in by_column.items()}) for says in names],
    }


def _claims(lab: Lab) -> dict[str, dict[str, Any]]:
    """The verdicts of the lab's report by claim."""
    return {claim["says"]: claim for claim in (lab.report_json or {}).get("claims", [])}


def _row(says: str, verdicts: dict[str, dict[str, Any] | None]) -> dict[str, Any]:
    """The row of a claim, from its verdict on each target."""
    return {
        "says": says,
        **next(({"published": each["published"], "unit": each.get("unit")} for each in verdicts.values() if each), {}),
        "cells": [
            {"target": target, "verdict": each and {**each, "badge": _badge(each["verdict"])}}
            for target, each in verdicts.items()
        ],
    }


def _badge(verdict: str) -> str:
    return BADGES.get(verdict, OTHER_BADGE)
