"""Selects the schedules that need attention, and their missed due times. The only place that decides it."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast

from importer.models import Schedule, ScheduleRun
from importer.models.channel import Event
from importer.models.outcomes.looks import MISSED
from importer.models.outcomes.runs import CAME_TO
from importer.models.outcomes.sequels import run_sequels
from importer.schedules.transitions import UNENDED, Status


def needing_attention() -> QuerySet[Schedule]:
    """Schedules with a late run, or whose last completed run failed or needs an answer and has no sequel.

    Also those whose due time or files cannot be read. Paused schedules are left out: a person deals with them already.
    """
    own = ScheduleRun.objects.filter(schedule=OuterRef("pk"))
    ended = own.filter(status__in=(Status.SUCCEEDED, *ScheduleRun.UNSUCCESSFUL)).annotate(came_to=CAME_TO)
    ended = ended.order_by("-due_at", "-pk")
    # Not every database can search inside JSON.
    late = (
        own.filter(status__in=UNENDED)
        .alias(as_text=Cast("events", TextField()))
        .filter(as_text__contains=f'"{Event.LATE}"')
    )
    active = Schedule.objects.filter(paused=False).alias(
        last_status=Subquery(ended.values("came_to")[:1]), last_ended=Subquery(ended.values("pk")[:1])
    )
    unwell = active.filter(last_status__in=ScheduleRun.UNSUCCESSFUL)
    settled = run_sequels(unwell.annotate(last=F("last_ended")).values_list("last", flat=True))
    left = Q(last_status__in=ScheduleRun.UNSUCCESSFUL) & ~Q(last_ended__in=list(settled))
    return active.filter(~Q(problem={}) | left | Exists(late))


def missed(schedule: Schedule) -> QuerySet[ScheduleRun]:
    """The due times that no run was started for and that nobody has made up for, the newest first."""
    return schedule.runs.filter(is_missed()).order_by("-due_at")


def is_missed(of: str = "") -> Q:
    """The condition for such a run. `of`: the path to the runs in a query of other things, such as `runs__`."""
    return Q(**{f"{of}status": Status.SKIPPED, f"{of}note": MISSED})
