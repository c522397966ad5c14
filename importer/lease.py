"""Leases on rows of the application's database: one worker at a time works on an import's step, a lab or a run.

A worker claims a row, renews its lease while it works, and releases it at the end. A lease that was not renewed for
LEASE_SECONDS has expired, and another worker may claim the row. Each claim increases the row's `attempt`, and each
update of a holder names the attempt, so that a worker that has lost its lease changes nothing.

All updates are compare-and-set: they name the state that they leave and check the number of changed rows. So two
deliveries of one message, or a click and a worker, never both win.
"""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

Leased = TypeVar("Leased", bound=Model)

LONGEST_BACKOFF = 30  # seconds
MOST_FAILURES = 1000  # below the largest value of the smallest column that counts failures


def holder() -> str:
    """The process that claims, for people: its id and its host, such as 4711@load-1."""
    return f"{os.getpid()}@{socket.gethostname()}"


def lease_end() -> datetime:
    """The end of a lease that is claimed or renewed now."""
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


def backoff_seconds(failures: int) -> int:
    """Seconds until the next attempt after this many earlier failures: 1, 2, 4 ... up to LONGEST_BACKOFF."""
    delay: int = min(LONGEST_BACKOFF, 2**failures)
    return delay


def is_overdue(due: datetime | None) -> bool:
    """Whether what was to begin by itself at `due` has not, for a minute: no process works on it."""
    return bool(due and due < timezone.now() - timedelta(minutes=1))


def longest_lease() -> timedelta:
    """How far ahead the end of a lease may lie: of one that is claimed or renewed now, or postponed for longest."""
    return timedelta(seconds=max(settings.LEASE_SECONDS, LONGEST_BACKOFF))


def shorten(rows: QuerySet[Any], field: str, most: timedelta | None = None) -> int:
    """Shorten the times that lie further ahead than `most`, by default longest_lease(). Returns the number of rows.

    They were written before the clock was set back, or by a host whose clock is ahead. A living holder renews its lease
    from now on, and that of a dead one ends after at most this time, whatever clocks have shown.
    """
    latest = timezone.now() + (longest_lease() if most is None else most)
    ahead = rows.filter(**{f"{field}__gt": latest})
    # An update that finds nothing takes SQLite's lock for writing all the same.
    return ahead.update(**{field: latest}) if ahead.exists() else 0


def change(rows: QuerySet[Any], **values: Any) -> bool:
    """Set the values and increase `version`, which pages compare. False: no row is in the expected state."""
    return bool(rows.update(version=F("version") + 1, **values))


@dataclass(frozen=True)
class Lease(Generic[Leased]):
    """The lease of a model's rows.

    `prefix` begins the names of its fields: attempt and lease, and for postpone() connection_id and failures.
    """

    model: type[Leased]
    prefix: str = ""

    def expired(self) -> Q:
        """Rows whose lease has expired. A row without a lease is not among them."""
        return Q(**{f"{self.prefix}lease__lte": timezone.now()})

    def free(self) -> Q:
        """Rows without a lease, and rows whose lease has expired."""
        return Q(**{f"{self.prefix}lease": None}) | self.expired()

    def claim(self, rows: QuerySet[Leased], **values: Any) -> bool:
        """Take the lease of the row, and set the values. False: another worker has it, or the row's state differs."""
        attempt = f"{self.prefix}attempt"
        return bool(rows.update(**{attempt: F(attempt) + 1, f"{self.prefix}lease": lease_end()}, **values))

    def held(self, row: Leased) -> QuerySet[Leased]:
        """The row, if the attempt that was claimed with it still holds it; otherwise no row."""
        attempt = f"{self.prefix}attempt"
        return self.model._default_manager.filter(pk=row.pk, **{attempt: getattr(row, attempt)})

    def renew(self, rows: QuerySet[Leased], **values: Any) -> bool:
        """Renew the lease, and set the values. False: `rows`, taken from held(), is empty, or the lease was released.

        A holder's other thread may renew it just after the release. The row would then wait for nobody.
        """
        leased = rows.filter(**{f"{self.prefix}lease__isnull": False})
        return bool(leased.update(**{f"{self.prefix}lease": lease_end()}, **values))

    def release(self, row: Leased, **values: Any) -> None:
        """Give up the lease, and set the values, unless another worker has claimed the row."""
        self.held(row).update(**{f"{self.prefix}lease": None}, **values)

    def postpone(self, row: Leased, **values: Any) -> int:
        """After a failure: no worker may claim the row for backoff_seconds(). Returns these seconds."""
        failures: int = getattr(row, f"{self.prefix}failures")
        delay = backoff_seconds(failures)
        after = {
            "lease": timezone.now() + timedelta(seconds=delay),
            "connection_id": None,
            "failures": min(failures + 1, MOST_FAILURES),
        }
        self.held(row).update(**{f"{self.prefix}{name}": value for name, value in after.items()}, **values)
        return delay
