"""Counts against limits, in the application's database, which all processes share.

A use is counted before it is allowed, in one transaction: of many at the same time no more than the limit are. Not in
Redis, which may lose everything at any time and only wakes workers: a limit must not be gone with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from importer.models import LimitCount

REMOVED_AT_ONCE = 500
LONGEST_KEY = 64  # characters, as LimitCount stores


@dataclass(frozen=True)
class Counted:
    """Uses that were counted."""

    keys: tuple[str, ...]
    uses: int = 1

    def give_back(self) -> None:
        """Do not count them after all."""
        LimitCount.objects.filter(key__in=self.keys, uses__gte=self.uses).update(uses=F("uses") - self.uses)


def count(limits: Mapping[str, int], seconds: float, uses: int = 1) -> Counted | None:
    """Add the uses to the count of each key, or to none if one would exceed its limit: then None.

    A count starts with its first use, and again `seconds` later. One key always has the same `seconds`.
    """
    now, window = timezone.now(), timedelta(seconds=seconds)
    most = {key: limit - uses for key, limit in limits.items()}
    if min(most.values()) < 0 or _above(most, now - window).exists():
        return None  # Without a write, so that repeated tries do not block the writes of others.
    _remove_old(now)
    with transaction.atomic():
        rows = [LimitCount(key=key, began=now, kept_until=now + window) for key in sorted(limits)]
        # The update of `kept_until` locks the rows until the commit, always in the same order.
        unique = ["key"] if connection.features.supports_update_conflicts_with_target else None
        LimitCount.objects.bulk_create(rows, update_conflicts=True, update_fields=["kept_until"], unique_fields=unique)
        if _above(most, now - window).exists():
            return None
        counted = LimitCount.objects.filter(key__in=limits)
        counted.filter(began__lte=now - window).update(uses=0, began=now)
        counted.update(uses=F("uses") + uses)
    return Counted(tuple(limits), uses)


def seconds_until_reset(keys: Iterable[str], seconds: float) -> float:
    """The seconds until the count of each key starts again; at least 0."""
    began = LimitCount.objects.filter(key__in=list(keys)).values_list("began", flat=True)
    return max([0.0, *(seconds - (timezone.now() - each).total_seconds() for each in began)])


def _above(most: Mapping[str, int], expired: datetime) -> QuerySet[LimitCount]:
    above = Q()
    for key, uses in most.items():
        above |= Q(key=key, uses__gt=uses)
    return LimitCount.objects.filter(above, began__gt=expired)


def _remove_old(now: datetime) -> None:
    old = LimitCount.objects.filter(kept_until__lt=now)
    # By their keys, in the order in which they are locked above: no deadlock.
    keys = sorted(old.values_list("key", flat=True)[:REMOVED_AT_ONCE])
    if keys:
        old.filter(key__in=keys).delete()
