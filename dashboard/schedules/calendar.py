"""The calendar of a schedule: for each day of a month, the results of its runs and the due times to come."""

import calendar
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone

from importer.access.time_zones import zone_named
from importer.models import Schedule
from importer.models.outcomes import NEEDS_ANSWER, RESTORED, UNDECIDED, UNREACHABLE, WITH_REJECTS
from importer.models.outcomes.looks import MISSED, NO_COMPLETE_FILE, NO_NEW_FILE, OVERDUE, SETTLED, look_of
from importer.models.outcomes.runs import WORDS_OF, with_imports, words_of_run
from importer.models.outcomes.sequels import run_sequels
from importer.schedules import due_times_of, is_missed, missed, recurrence, timing_of

_WORST_FIRST = (
    "failed", UNREACHABLE.words, NEEDS_ANSWER.words, UNDECIDED.words, OVERDUE, MISSED, WITH_REJECTS.words, "cancelled",
    RESTORED.words, "loading", "finding", "waiting", "succeeded", SETTLED, NO_COMPLETE_FILE.words,
    NO_NEW_FILE.words, "skipped",
)  # fmt: skip
MOST_UPCOMING = 50_000  # a due time a minute for a month


@dataclass(frozen=True)
class Day:
    """A day in the schedule's zone: the number of runs by status, and of due times past without a run, and to come.

    Due times that were missed count as runs, each on its own day.
    """

    date: date
    runs: Counter[str]
    overdue: int
    to_come: int
    today: bool

    @property
    def ends(self) -> list[tuple[str, int]]:
        """Each status of the day's runs, and what is overdue, with their number, the worst first."""
        counts = self.runs | Counter({OVERDUE: self.overdue})
        return [(status, counts[status]) for status in _WORST_FIRST if counts[status]]


@dataclass(frozen=True)
class Month:
    """A month: weeks from Monday on, None for days of other months; `before` and `after` as in the URL (2026-11)."""

    first: date
    weeks: list[list[Day | None]]
    before: str
    after: str

    @property
    def legend(self) -> list[list[str]]:
        """The statuses of its days, the worst first; those of one colour and icon together."""
        shown = {status for week in self.weeks for day in week if day for status, _ in day.ends}
        alike: dict[tuple[str, str], list[str]] = {}
        for status in filter(shown.__contains__, _WORST_FIRST):
            alike.setdefault((look_of(status).colour.css, look_of(status).icon), []).append(status)
        return list(alike.values())


def month(schedule: Schedule, text: str) -> Month:
    """The calendar of the month in `text`, as 2026-11; of the present month in the schedule's zone for other text."""
    zone = zone_named(schedule.zone)
    now = timezone.now()
    today = now.astimezone(zone).date()
    first = _first_day(text) or today.replace(day=1)
    after = (first + timedelta(days=32)).replace(day=1)
    since, until = _begin(first, zone), _begin(after, zone)
    runs: dict[date, Counter[str]] = {}
    ended = with_imports(schedule.runs.exclude(is_missed()).filter(due_at__gte=since, due_at__lt=until))
    ends = list(ended.values_list("pk", "due_at", *WORDS_OF))
    later = run_sequels([pk for pk, *_ in ends])
    for pk, due_at, *end in ends:
        words = SETTLED if pk in later else words_of_run(*end)
        runs.setdefault(due_at.astimezone(zone).date(), Counter())[words] += 1
    for each in _missed(schedule, since, until):
        runs.setdefault(each.astimezone(zone).date(), Counter())[MISSED] += 1
    due = Counter((each.astimezone(zone).date(), each < now) for each in _upcoming(schedule, until))

    def shown(day: date) -> Day | None:
        if day.month != first.month:
            return None
        return Day(day, runs.get(day, Counter()), due[day, True], due[day, False], day == today)

    weeks = [list(map(shown, week)) for week in calendar.Calendar().monthdatescalendar(first.year, first.month)]
    return Month(first, weeks, f"{first - timedelta(days=1):%Y-%m}", f"{after:%Y-%m}")


def span_of(schedule: Schedule, day: date) -> tuple[datetime, datetime]:
    """The start of a day in the schedule's zone, and of the next day, in UTC."""
    zone = zone_named(schedule.zone)
    return _begin(day, zone), _begin(day + timedelta(days=1), zone)


def _begin(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _first_day(text: str) -> date | None:
    """The first day of the month in `text`; None for other text, or a year before 1970 or after 9998."""
    try:
        day = datetime.strptime(text, "%Y-%m").date()
    except ValueError:
        return None
    return day if 1970 <= day.year < 9999 else None


def _missed(schedule: Schedule, since: datetime, until: datetime) -> Iterator[datetime]:
    """The due times that were missed between two moments."""
    for run in missed(schedule).filter(due_at__lt=until).filter(Q(due_at__gte=since) | Q(last_due_at__gte=since)):
        yield from (each for each in islice(due_times_of(run), MOST_UPCOMING) if since <= each < until)


def _upcoming(schedule: Schedule, until: datetime) -> list[datetime]:
    if schedule.paused or not schedule.next_due_at or schedule.trigger == Schedule.Trigger.ARRIVAL:
        return []
    first = schedule.next_due_at
    if first >= until:
        return []
    later = takewhile(lambda each: each < until, recurrence.due_times(timing_of(schedule), first))
    return [first, *islice(later, MOST_UPCOMING)]
