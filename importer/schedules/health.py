"""Which schedules somebody should look at: decided here and nowhere else."""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast

from importer.models import Schedule, ScheduleRun
from importer.models.channel import Event
from importer.schedules.transitions import UNENDED, Status


def needing_attention() -> QuerySet[Schedule]:
    """Those whose last run that came to an end has failed, that have a run under way that is late, or that cannot tell
    when they are due or which files there are. Paused ones are somebody's business already.
    """
    own = ScheduleRun.objects.filter(schedule=OuterRef("pk"))
    ended = own.filter(status__in=(Status.SUCCEEDED, Status.FAILED)).order_by("-due_at", "-pk")
    # Not every database looks for a part of JSON.
    late = (
        own.filter(status__in=UNENDED)
        .alias(as_text=Cast("events", TextField()))
        .filter(as_text__contains=f'"{Event.LATE}"')
    )
    found = Schedule.objects.filter(paused=False).alias(last_status=Subquery(ended.values("status")[:1]))
    return found.filter(~Q(problem={}) | Q(last_status=Status.FAILED) | Exists(late))
