"""Which events of the audit log are shown: the filters of its page, read from the URL."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date

from importer.models import AuditEvent


@dataclass(frozen=True)
class Filters:
    """Only the events of this person, action, target and outcome, from one day to another, both included."""

    person: str = ""
    action: str = ""
    target: str = ""
    outcome: str = ""
    first: str = ""
    last: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Filters":
        """The filters in a URL's query."""
        return cls(*(values.get(name, "").strip() for name in ("person", "action", "target", "outcome", "from", "to")))

    @property
    def problems(self) -> list[str]:
        """What is wrong with the days, in words."""
        days = [text for text in (self.first, self.last) if text and not _day(text)]
        return [f"“{text}” is no date. Write it as 2026-11-20." for text in days]

    @property
    def any(self) -> bool:
        return self != Filters()

    def events(self) -> QuerySet[AuditEvent]:
        """The events, newest first; none for a day that is none."""
        found = AuditEvent.objects.order_by("-at", "-pk")
        if self.problems:
            return found.none()
        exact = {"actor_name": self.person, "action": self.action, "target": self.target, "outcome": self.outcome}
        found = found.filter(**{name: value for name, value in exact.items() if value})
        if first := _day(self.first):
            found = found.filter(at__gte=_midnight(first))
        if (last := _day(self.last)) and last < date.max:
            found = found.filter(at__lt=_midnight(last + timedelta(days=1)))
        return found


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:  # Such as 2026-02-30.
        return None


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
