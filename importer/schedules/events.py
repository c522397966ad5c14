"""What happens to a run: written down in it, each event once, and told to those who want to hear of it."""

import logging

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer import notifications
from importer.models import ScheduleRun
from importer.models.channel import Event

log = logging.getLogger(__name__)


def record_event(run: ScheduleRun, event: Event) -> None:
    """Write it down, and have it told unless that was done before; whatever goes wrong with telling, it happened."""
    with transaction.atomic():
        events = ScheduleRun.objects.select_for_update().values_list("events", flat=True).get(pk=run.pk)
        if any(each["event"] == event for each in events):
            return
        events.append({"event": event.value, "at": timezone.now().isoformat()})
        ScheduleRun.objects.filter(pk=run.pk).update(events=events, version=F("version") + 1)
        # Of an import's speed, its own record tells.
        if event != Event.REGRESSION:
            _tell(run, event)


def _tell(run: ScheduleRun, event: Event) -> None:
    try:
        with transaction.atomic():
            notifications.run_event(run.pk, event)
    except Exception:
        log.exception("%s: nobody is told that it is %s", run, event.value)
