"""Deletes old rows that no file belongs to: runs of schedules, sessions, notifications, and events of the audit log."""

from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef

from importer.access import audit
from importer.models import DiscoveredFile, ScheduleRun
from importer.notifications import delivery
from importer.retention.policies import before

Outcome = DiscoveredFile.Outcome
# Files with these outcomes say nothing that a later run needs to know.
_FORGETTABLE = [Outcome.ALREADY_LOADED, Outcome.FAILED_BEFORE, Outcome.STILL_WRITTEN, Outcome.GONE, Outcome.LEFT]


def remove_runs(now: datetime, most: int) -> int:
    """Delete at most `most` ended runs that imported nothing. Returns their number."""
    cutoff = before("runs", now)
    if cutoff is None:
        return 0
    remembered = DiscoveredFile.objects.filter(run=OuterRef("pk")).exclude(outcome__in=_FORGETTABLE, job=None)
    old = ScheduleRun.objects.filter(status__in=ScheduleRun.ENDED, due_at__lt=cutoff).exclude(Exists(remembered))
    keys = list(old.order_by("pk").values_list("pk", flat=True)[:most])
    ScheduleRun.objects.filter(pk__in=keys).delete()
    return len(keys)


def remove_sessions(now: datetime, most: int) -> int:
    """Delete at most `most` sessions that have ended, and as many of the list of one's own. Returns their number."""
    cutoff = before("sessions", now)
    if cutoff is None:
        return 0
    keys = list(Session.objects.filter(expire_date__lt=cutoff).values_list("pk", flat=True)[:most])
    Session.objects.filter(pk__in=keys).delete()
    going_on = Session.objects.filter(pk=OuterRef("session_key"))
    listed = UserSession.objects.filter(last_seen_at__lt=cutoff).exclude(Exists(going_on))
    UserSession.objects.filter(pk__in=list(listed.values_list("pk", flat=True)[:most])).delete()
    return len(keys)


def remove_notifications(now: datetime, most: int) -> int:
    """Delete at most `most` notifications that were sent or given up. Returns their number."""
    cutoff = before("notifications", now)
    return 0 if cutoff is None else delivery.delete_old(cutoff, most)


def remove_events(now: datetime, most: int) -> int:
    """Delete at most `most` events of the audit log. Returns their number."""
    cutoff = before("audit", now)
    return 0 if cutoff is None else audit.remove_old(cutoff, most)
