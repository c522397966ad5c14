"""Which events of the audit log are shown: the filters of its page, read from the URL."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from dashboard.fields.day_range import problems_of_days, within
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
        return problems_of_days(self.first, self.last)

    @property
    def any(self) -> bool:
        return self != Filters()

    def events(self) -> QuerySet[AuditEvent]:
        """The events, newest first; none for a day that is none."""
        found = AuditEvent.objects.order_by("-at", "-pk")
        exact = {"actor_name": self.person, "action": self.action, "target": self.target, "outcome": self.outcome}
        found = found.filter(**{name: value for name, value in exact.items() if value})
        return found.filter(within("at", self.first, self.last))
