"""The audit log: who did what to which thing, from where, with what outcome (docs/people.md). Events are only added.

A request or command opens an entry, and the code that does the work adds to it with about() and note(). Never pass a
password, a token or a secret: everything in the log is shown and exported.
"""

import getpass
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from importer.access import counts
from importer.access.acting import Somebody, acting, acting_address
from importer.models import AuditEvent, Grant, ImportJob, Notification, ScheduleRun, Target

Outcome = AuditEvent.Outcome
LONGEST_REASON = 500
SELDOM_SECONDS = 60
# The fields of a target whose old and new values are recorded.
RECORDED = (*Target.PASSWORD_GOES_TO, "label", "needs_approval")


@dataclass(frozen=True)
class Thing:
    """What an event is about, in words that outlive it."""

    kind: str = ""
    id: str = ""
    name: str = ""
    target: str = ""
    table: str = ""


@dataclass
class Entry:
    """An event that is still being gathered; `at` is its begin. Without an action it is not written.

    `seldom`: of the same person, thing and outcome, the first one in a minute is written.
    """

    action: str = ""
    who: Somebody | None = None
    thing: Thing = Thing()
    details: dict[str, Any] = field(default_factory=dict)
    outcome: str = ""
    seldom: bool = False
    at: datetime = field(default_factory=timezone.now)


_open: ContextVar[Entry | None] = ContextVar("audit_entry", default=None)


@contextmanager
def opened(entry: Entry) -> Iterator[Entry]:
    """Gather what the block notes in the entry; write() stores it."""
    token = _open.set(entry)
    try:
        yield entry
    finally:
        _open.reset(token)


def write(entry: Entry, outcome: str) -> None:
    """Store a gathered entry. `outcome` is used unless the code has said which it was."""
    outcome = entry.outcome or outcome
    if entry.action and not (entry.seldom and _was_written(entry, outcome)):
        _add(entry, outcome)


def _was_written(entry: Entry, outcome: str) -> bool:
    """Whether such an event was written within a minute; from now on it was."""
    person = entry.who.pk if entry.who else ""
    key = f"event {entry.action} {person} {outcome} {entry.thing.id}"[: counts.LONGEST_KEY]
    return counts.count({key: 1}, SELDOM_SECONDS) is None


def record(
    action: str,
    thing: models.Model | None = None,
    outcome: str = Outcome.DONE,
    who: Somebody | None = None,
    **details: Any,
) -> None:
    """Store an event at once. `who` is the acting person by default."""
    _add(Entry(action, who, described(thing), details), outcome)


def about(thing: models.Model | None) -> None:
    """Say which thing the open entry is about, where its address cannot: a new one, or that of a command."""
    if entry := _open.get():
        entry.thing = described(thing)


def note(**details: Any) -> None:
    """Add details to the open entry, if there is one."""
    if entry := _open.get():
        entry.details.update(details)


def failed(reason: str) -> None:
    """The open entry's action has failed for this reason, with any status of the answer."""
    if (entry := _open.get()) and not entry.outcome:
        entry.outcome = Outcome.FAILED
        entry.details["reason"] = reason[:LONGEST_REASON]


def done() -> None:
    """The open entry's action is done, also if something goes wrong afterwards."""
    if entry := _open.get():
        entry.outcome = Outcome.DONE


def leave_out() -> None:
    """Store no event for the open entry."""
    if entry := _open.get():
        entry.action = ""


def import_created(job: ImportJob) -> None:
    """Note a new import, its file and the digest of its plan: in the open entry, or else as an event of its own."""
    details = {"file": job.source.name, "plan": plan_digest(job)}
    if _open.get():
        about(job)
        note(**details)
    else:
        _add(Entry("import", None, described(job), details), Outcome.DONE)


def saved(thing: models.Model, changed: Sequence[str]) -> None:
    """Note which fields of a connection or channel were entered, without their values: some are secrets."""
    about(thing)
    note(entered=list(changed))


def target_saved(target: Target, before: Mapping[str, Any], password_entered: bool) -> None:
    """Note where a target is, or what of that has changed: old and new value. Of the password only that it was entered.

    `before` are the old values of RECORDED; none for a new target.
    """
    about(target)
    for name in RECORDED:
        value = getattr(target, name)
        if not before and value:
            note(**{name: value})
        elif before and before[name] != value:
            note(**{name: {"old": before[name], "new": value}})
    if password_entered:
        note(entered=["password"])


def plan_digest(job: ImportJob) -> str:
    """SHA-256 of everything that was decided for an import before it began: plan, mapping, format and options."""
    decided = [job.plan_json, job.mapping_json, job.fillings_json, job.dialect_json, job.options_json]
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()


def count() -> int:
    """The number of events that are stored."""
    return models.QuerySet(AuditEvent).count()


def last_actor(thing: models.Model, actions: Collection[str], since: datetime, until: datetime) -> str:
    """The name of who last did one of the actions to a thing between these moments; "" if no event says so."""
    of = described(thing)
    events: models.QuerySet[AuditEvent] = models.QuerySet(AuditEvent).filter(object_kind=of.kind, object_id=of.id)
    done = events.filter(action__in=actions, outcome=AuditEvent.Outcome.DONE, at__range=(since, until))
    last = done.order_by("-at").first()
    return last.actor_name if last else ""


def remove_old(before: datetime, most: int) -> int:
    """Delete at most `most` events of before this moment: the only place that deletes any. Returns their number."""
    old: models.QuerySet[AuditEvent] = models.QuerySet(AuditEvent).filter(at__lt=before)
    keys = list(old.order_by("at").values_list("pk", flat=True)[:most])
    models.QuerySet(AuditEvent).filter(pk__in=keys).delete()
    return len(keys)


def described(thing: models.Model | None) -> Thing:
    """The kind, key and names of a thing."""
    if thing is None:
        return Thing()
    target, table = _place(thing)
    return Thing(str(thing._meta.verbose_name), str(thing.pk), str(thing), target, table)


def _place(thing: models.Model) -> tuple[str, str]:
    """The names of the target and table that a thing belongs to."""
    if isinstance(thing, Target):
        return thing.name, ""
    if isinstance(thing, Grant):
        return thing.target.name if thing.target else "", ""
    belongs: Any = thing
    if isinstance(thing, ScheduleRun):
        belongs = thing.schedule
    elif isinstance(thing, Notification):
        belongs = thing.job
    if not getattr(belongs, "target_id", None):
        return "", ""
    return belongs.target.name, f"{belongs.schema_name}.{belongs.table_name}"


def _add(entry: Entry, outcome: str) -> None:
    who = entry.who or acting()
    user = who if isinstance(who, User) or (who is not None and who.is_authenticated) else None
    event = AuditEvent(
        at=entry.at,
        actor_id=user.pk if user else None,
        actor_name=user.get_username() if user else "" if who else system_user(),
        address=acting_address(),
        action=entry.action,
        object_kind=entry.thing.kind,
        object_id=entry.thing.id,
        object_name=entry.thing.name,
        target=entry.thing.target,
        table=entry.thing.table,
        outcome=outcome,
        details=entry.details,
    )
    for each in event._meta.fields:
        if isinstance(each, models.CharField):
            setattr(event, each.name, getattr(event, each.name)[: each.max_length])
    event.save()


def system_user() -> str:
    """The account of the operating system that the code runs in, for what nobody of Millrace's people asked for."""
    try:
        return f"system user {getpass.getuser()}"
    except (KeyError, OSError):  # An account without a name, as in containers.
        return f"system user {os.getuid()}"
