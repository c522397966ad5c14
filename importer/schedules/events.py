"""Records the events of a run, each once, and notifies the channels that subscribe to them."""

import logging

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from importer.models import ScheduleRun
from importer.models.channel import Event
from importer.notifications import import_events

log = logging.getLogger(__name__)


def record_event(run: ScheduleRun, event: Event) -> None:
    """Record the event and notify people, unless it is recorded already. An error in notifying does not undo it."""
    if event == Event.SUCCEEDED:  # The run's status records it.
        _notify(run, event)
        return
    with transaction.atomic():
        events = ScheduleRun.objects.select_for_update().values_list("events", flat=True).get(pk=run.pk)
        if any(each["event"] == event for each in events):
            return
        events.append({"event": event.value, "at": timezone.now().isoformat()})
        ScheduleRun.objects.filter(pk=run.pk).update(events=events, version=F("version") + 1)
        # Notified when the import's record is written.
        if event != Event.REGRESSION:
            _notify(run, event)


def _notify(run: ScheduleRun, event: Event) -> None:
    try:
        with transaction.atomic():
            import_events.run_event(run.pk, event)
    except Exception:
        log.exception("%s: no notification of the event %s", run, event.value)
