"""The filters of the list of imports, as they stand in its address."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Subquery, Value, When
from django.http import QueryDict

from dashboard.fields.day_range import within
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.models import DiscoveredFile, ImportJob
from importer.models.outcomes import CONDITIONS, PROBLEM_KIND

# What the list can be narrowed to: each status of an import under way, and each outcome.
STATES = [
    *(each for each in ImportJob.Status.choices if each[0] not in ImportJob.ENDED),
    *((words, words.capitalize()) for words in CONDITIONS),
]
# How people write the number of an import.
_NUMBER = re.compile(r"(?:import\s*|#)?([0-9]{1,12})", re.IGNORECASE)
OWN = "me"  # The owner that stands for the reader.
_PICKED = DiscoveredFile.objects.filter(job=OuterRef("pk"))
_BY_SCHEDULE = Q(Exists(_PICKED))
# Where the file of an import came from, by name; the first that fits.
ORIGINS: dict[str, Q] = {
    "schedule": _BY_SCHEDULE,
    "rejects": Q(rejects_of__isnull=False),
    "connection": Q(source__connection__isnull=False),
    "command": Q(source__owned=False),
    "upload": Q(),
}
ORIGIN = Case(
    *(When(condition, then=Value(name)) for name, condition in ORIGINS.items() if condition),
    default=Value("upload"),
    output_field=CharField(max_length=16),
)
# The name of the schedule that picked the file up first; None without one.
SCHEDULE_NAME = Subquery(_PICKED.order_by("pk").values("schedule__name")[:1])


@dataclass(frozen=True)
class Filters:
    """What the list is narrowed to: an empty text does not narrow it.

    `q`: a part of the name of file or table, or the number of an import; `status`: one of STATES; `target`, `owner`:
    names; `origin`: of ORIGINS; `first`, `last`: the days on which they were created, both included.
    """

    q: str = ""
    status: str = ""
    target: str = ""
    origin: str = ""
    owner: str = ""
    first: str = ""
    last: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> "Filters":
        """The filters of an address or a form."""
        return cls(**{each.name: str(query.get(each.name, "")).strip() for each in fields(cls)})

    @property
    def items(self) -> list[tuple[str, str]]:
        """The filters that narrow, by name."""
        return [(each.name, value) for each in fields(self) if (value := getattr(self, each.name))]

    @property
    def narrowed(self) -> bool:
        """Whether a filter is set, apart from the search text, which is always visible."""
        return any(name != "q" for name, _ in self.items)

    @property
    def query(self) -> str:
        """The filters as they stand in an address; "" without any."""
        return urlencode(self.items)


def matching(filters: Filters) -> QuerySet[ImportJob]:
    """The imports that match, among those that the acting person may see. Trials of labs are left out."""
    selected = seen(ImportJob.objects.filter(trial=None))
    for name, narrow in _NARROW.items():
        if value := getattr(filters, name):
            selected = narrow(selected, value)
    return selected


def _with_text(jobs: QuerySet[ImportJob], text: str) -> QuerySet[ImportJob]:
    numbered = Q(pk=int(found[1])) if (found := _NUMBER.fullmatch(text)) else Q(pk__in=[])
    named = Q(source__name__icontains=text) | Q(table_name__icontains=text) | Q(schema_name__icontains=text)
    return jobs.filter(numbered | named)


def _with_status(jobs: QuerySet[ImportJob], status: str) -> QuerySet[ImportJob]:
    if status in CONDITIONS:
        return jobs.annotate(kind=PROBLEM_KIND).filter(CONDITIONS[status])
    return jobs.filter(status=status)


def _with_origin(jobs: QuerySet[ImportJob], origin: str) -> QuerySet[ImportJob]:
    return jobs.annotate(origin=ORIGIN).filter(origin=origin)


def _with_owner(jobs: QuerySet[ImportJob], owner: str) -> QuerySet[ImportJob]:
    return jobs.filter(created_by=acting_user()) if owner == OWN else jobs.filter(created_by__username=owner)


_NARROW: dict[str, Callable[[QuerySet[ImportJob], str], QuerySet[ImportJob]]] = {
    "q": _with_text,
    "status": _with_status,
    "target": lambda jobs, name: jobs.filter(target__name=name),
    "origin": _with_origin,
    "owner": _with_owner,
    "first": lambda jobs, day: jobs.filter(within("created_at", day, "")),
    "last": lambda jobs, day: jobs.filter(within("created_at", "", day)),
}
