"""The last days at a glance: the imports that ended on each, by how they stand now, and their rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, IntegerField, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from importer.access.policy import seen
from importer.models import ImportJob
from importer.models.job import ROWS_IN_TABLE
from importer.models.outcomes import CANCELLED, CONDITIONS, FAILED, PREVIEWED, RESTORED, SUCCEEDED, WITH_REJECTS
from importer.models.outcomes.looks import SETTLED, look_of

DAYS = 14
Status = ImportJob.Status
# The outcomes that do not depend on the kind of a problem; what has none of them failed.
_PLAIN = (SUCCEEDED.words, CANCELLED.words, RESTORED.words, PREVIEWED.words, WITH_REJECTS.words)
# The outcome of an import that has ended, in the database.
KIND = Case(*(When(CONDITIONS[each], then=Value(each)) for each in _PLAIN), default=Value(FAILED.words))
# The parts of a day's bar, from the bottom: the outcomes, and what was dealt with since.
KINDS = (_PLAIN[0], SETTLED, *_PLAIN[1:], FAILED.words)
# The height of the highest bar, in units of its picture, of which a part has at least LEAST_UNITS.
HEIGHT, LEAST_UNITS = 60, 3


@dataclass(frozen=True)
class Part:
    """The imports of one kind (KINDS) in the bar of a day. `top` and `height` are their place in the picture."""

    kind: str
    imports: int
    top: int = 0
    height: int = 0

    @property
    def look(self) -> str:
        """The class of its colour, which several kinds share."""
        return SETTLED if self.kind == SETTLED else look_of(self.kind).colour


@dataclass(frozen=True)
class Day:
    """A day in the reader's time zone. `rows`: that its imports have put into their tables."""

    begin: datetime
    rows: int
    parts: tuple[Part, ...]

    @property
    def imports(self) -> int:
        return sum(each.imports for each in self.parts)


@dataclass(frozen=True)
class LastDays:
    """The last DAYS, the oldest first."""

    days: tuple[Day, ...]

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.days)

    @property
    def totals(self) -> tuple[Part, ...]:
        """The imports of each kind that has any."""
        counts = {kind: self._of(kind) for kind in KINDS}
        return tuple(Part(kind, count) for kind, count in counts.items() if count)

    @property
    def imports(self) -> int:
        return sum(each.imports for each in self.days)

    def _of(self, kind: str) -> int:
        return sum(part.imports for day in self.days for part in day.parts if part.kind == kind)


def ended_lately(days: int) -> QuerySet[ImportJob]:
    """The imports that ended since the beginning of the day `days - 1` days ago."""
    return _imports().filter(finished_at__gte=_begins(days)[0])


def unwell_lately() -> QuerySet[ImportJob]:
    """The imports of the last DAYS that failed or rejected rows, settled or not, with their `kind` and `day`."""
    ended = ended_lately(DAYS).annotate(kind=KIND, day=_day_of(_begins(DAYS)))
    return ended.filter(kind__in=(FAILED.words, WITH_REJECTS.words))


def under_way() -> QuerySet[ImportJob]:
    """The imports that have not ended."""
    return _imports().filter(status__in=ImportJob.UNENDED)


def _imports() -> QuerySet[ImportJob]:
    """Those that the acting person may see, without trials of labs.

    Not by trial=None: SQLite takes that for rare, and reads all imports by its index.
    """
    return seen(ImportJob.objects.alias(of_trial=Coalesce("trial_id", 0)).filter(of_trial=0))


def last_days(settled: Mapping[tuple[int, str], int]) -> LastDays:
    """The imports of the last DAYS by how they ended, counted in the database.

    `settled`: how many of those of each day and kind were dealt with since.
    """
    begins = _begins(DAYS)
    counted = ended_lately(DAYS).order_by().values(day=_day_of(begins), kind=KIND)
    counts = counted.annotate(imports=Count("pk"), rows=Sum(ROWS_IN_TABLE)).values_list(
        "day", "kind", "imports", "rows"
    )
    found = {(number, kind): (imports, rows or 0) for number, kind, imports, rows in counts}
    for (number, kind), since in settled.items():
        imports, rows = found.get((number, kind), (since, 0))
        found[number, kind] = max(0, imports - since), rows
        found[number, SETTLED] = found.get((number, SETTLED), (0, 0))[0] + since, 0
    most = max((sum(found.get((n, each), (0, 0))[0] for each in KINDS) for n in range(DAYS)), default=0)
    return LastDays(
        tuple(
            _day(begin, {each: found.get((n, each), (0, 0)) for each in KINDS}, most) for n, begin in enumerate(begins)
        )
    )


def _day_of(begins: Sequence[datetime]) -> Case:
    """The number of the day on which an import ended, in the database."""
    # The latest day first: the first condition that holds counts.
    latest_first = reversed(list(enumerate(begins)))
    whens = (When(finished_at__gte=begin, then=Value(number)) for number, begin in latest_first)
    return Case(*whens, output_field=IntegerField())


def _begins(days: int) -> list[datetime]:
    """When each of the last days began in the reader's time zone, the oldest first."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return [today - timedelta(days=days - 1 - number) for number in range(days)]


def _day(begin: datetime, counts: dict[str, tuple[int, int]], most: int) -> Day:
    parts = tuple(_placed({kind: imports for kind, (imports, _) in counts.items() if imports}, most))
    return Day(begin, sum(rows for _, rows in counts.values()), parts)


def _placed(imports: dict[str, int], most: int) -> Iterator[Part]:
    """The parts of a bar, from the bottom; none is too low to see, and the bar does not leave the picture."""
    heights = {kind: max(LEAST_UNITS, round(HEIGHT * count / most)) for kind, count in imports.items()}
    largest = max(heights, key=heights.__getitem__, default="")
    if (over := sum(heights.values()) - HEIGHT) > 0:
        heights[largest] -= over
    top = HEIGHT
    for kind, height in heights.items():
        top -= height
        yield Part(kind, imports[kind], top, height)
