"""Years of due times in zones that move their clocks, with everything that happens to those who take them up.

Not collected by itself: `DUE_YEARS=2 pytest -rP --timeout=0 tests/faults/simulated_years.py` runs it, and
tests/importer/schedules takes some of it. A schedule runs for so many years in every zone whose clocks are moved (of
those that are always moved alike, in one), from a year on in which they are. Each due time must have run exactly once,
or be on record as left out. DUE_PART=1/2 takes the first of two halves of the zones: for two processes at once.
"""

import os
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from unittest.mock import patch
from zoneinfo import ZoneInfo, available_timezones

import pytest
from django.utils import timezone

from importer.models import Schedule, ScheduleRun
from importer.queue import Message
from importer.schedules import recurrence, scheduler
from importer.schedules.scheduler import process_due, tick
from importer.schedules.transitions import claim, held
from tests.importer.schedules.conftest import database, folder, make  # noqa: F401

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
# Rules of zones are known from about the one on, and continue without an end; clocks are looked at so far.
FIRST_YEAR, LAST_YEAR = 1998, 2038

Move = tuple[datetime, timedelta]


@dataclass(frozen=True)
class Cron:
    """A cron text, and what it names: minutes, hours and days of the week (Monday is 0).

    `by_the_world`: it has a star for the minute or the hour, so it continues through an hour that comes twice.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    weekdays: tuple[int, ...] = tuple(range(7))
    by_the_world: bool = False


CRONS = (
    Cron("30 2 * * *", (30,), (2,)),
    Cron("0 0 * * *", (0,), (0,)),
    Cron("5,35 1-3 * * *", (5, 35), (1, 2, 3)),
    Cron("59 23 * * 1-5", (59,), (23,), tuple(range(5))),
    Cron("0 2,3 * * 0,6", (0,), (2, 3), (5, 6)),
    Cron("*/30 1-3 * * *", (0, 30), (1, 2, 3), by_the_world=True),
    Cron("15 * * * 0", (15,), tuple(range(24)), (6,), by_the_world=True),
)


def expected(cron: Cron, zone: ZoneInfo, first: datetime, last: datetime) -> list[datetime]:
    """The due times between two moments as the manual of Debian's cron has them, found without cronsim."""
    found = set()
    day = first.astimezone(zone).date() - DAY
    while day <= last.astimezone(zone).date() + DAY:
        if day.weekday() in cron.weekdays:
            for hour in cron.hours:
                for minute in cron.minutes:
                    found.update(_moments(datetime.combine(day, time(hour, minute)), zone, cron.by_the_world))
        day += DAY
    return sorted(each for each in found if first < each <= last)


def _moments(wall: datetime, zone: ZoneInfo, by_the_world: bool) -> Iterator[datetime]:
    """When a clock on the wall shows this: never, once or twice. What names an hour runs once in any case."""
    shown = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    real = [each for each in shown if each.astimezone(zone).replace(tzinfo=None) == wall]
    if by_the_world:
        yield from real
    elif real:
        yield real[0]
    else:
        while not real:
            wall += MINUTE
            there = wall.replace(tzinfo=zone).astimezone(UTC)
            real = [there] if there.astimezone(zone).replace(tzinfo=None) == wall else []
        yield real[0]


@cache
def moving_zones() -> dict[str, list[int]]:
    """Zones whose clocks are moved, with the years in which they are; of those that are always moved alike, one."""
    alike: dict[tuple[Move, ...], str] = {}
    for name in sorted(available_timezones()):
        if not name.startswith(("posix", "right", "Etc")) and (found := tuple(_moves(ZoneInfo(name)))):
            alike.setdefault(found, name)
    return {name: sorted({moment.year for moment, _ in found}) for found, name in alike.items()}


def _moves(zone: ZoneInfo) -> Iterator[Move]:
    """When its clocks are moved, to the minute, and how far it is from UTC then; but for what is back in a week."""
    begin, weeks = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), range((LAST_YEAR - FIRST_YEAR) * 52)
    for before, after in pairwise(begin + 7 * DAY * n for n in weeks):
        old = _offset(zone, before)
        if _offset(zone, after) != old:
            minutes = range((after - before) // MINUTE + 1)
            moved = before + MINUTE * bisect_right(
                minutes, False, key=lambda n: _offset(zone, before + MINUTE * n) != old
            )
            yield moved, _offset(zone, moved)


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    found = moment.astimezone(zone).utcoffset()
    assert found is not None
    return found


class Killed(BaseException):
    """SIGKILL, as far as the code can tell."""


class Simulation:
    """A schedule whose time passes. `chance` decides what goes wrong, and when."""

    def __init__(self, schedule: Schedule, cron: Cron, chance: random.Random) -> None:
        self.schedule, self.cron, self.chance = schedule, cron, chance
        self.began = schedule.created_at
        self.now = self.began
        self.started: dict[int, int] = {}

    def pass_until(self, end: datetime) -> None:
        """Let the time pass, with a look whenever something is due, and sometimes only long after."""
        while self.now < end:
            due_at = Schedule.objects.values_list("next_due_at", flat=True).get(pk=self.schedule.pk)
            self.now = max(self.now, due_at) + timedelta(seconds=self.chance.uniform(0, 8))
            if self.chance.random() < 0.02:
                self.now += timedelta(minutes=self.chance.choice((1, 7, 90, 1500, 40_000)) * self.chance.random())
            self._at(self.now, self._two_beats)
            if self.chance.random() < 0.02:
                # The clock of one of them is wrong.
                self._at(self.now + timedelta(minutes=self.chance.uniform(-2000, 2000)), self._two_beats)
        while self._unended():
            self.now += timedelta(seconds=90)
            self._at(self.now, self._look)

    def _at(self, moment: datetime, do: Callable[[], None]) -> None:
        with patch.object(timezone, "now", lambda: moment), suppress(Killed):
            do()

    def _two_beats(self) -> None:
        """Both have read the schedule before either takes it up."""
        read = [Schedule.objects.get(pk=self.schedule.pk) for _ in range(2)]
        for schedule in read:
            if schedule.next_due_at and schedule.next_due_at <= timezone.now():
                with self._perhaps_killed(), suppress(Killed):
                    self._work(process_due(schedule, timezone.now()))
        if self.chance.random() < 0.1:
            self._look()

    def _look(self) -> None:
        tick(self._work)

    def _perhaps_killed(self):
        """Now and then, after the due time has moved on and before that is committed."""
        killed = self.chance.random() < 0.02

        def touch(_schedule_id: int) -> None:
            if killed:
                raise Killed

        return patch.object(scheduler, "touch", touch)

    def _work(self, steps: list[Message]) -> None:
        """A worker for each message, if it is not lost; some die with the run in their hands, some messages double."""
        for step in steps:
            for _ in range(self.chance.choices((0, 1, 2), (2, 95, 3))[0]):
                run = claim(step.id)
                if (
                    run
                    and self.chance.random() > 0.03
                    and held(run).update(status=ScheduleRun.Status.SUCCEEDED, lease=None)
                ):
                    self.started[step.id] = self.started.get(step.id, 0) + 1

    def _unended(self) -> bool:
        return self.schedule.runs.exclude(status__in=ScheduleRun.ENDED).exists()

    def check(self) -> tuple[int, int]:
        """Each due time has run exactly once, or is on record as left out; how many have run, and how many not."""
        until = Schedule.objects.values_list("next_due_at", flat=True).get(pk=self.schedule.pk)
        due = expected(self.cron, ZoneInfo(self.schedule.zone), self.began, until)
        assert due.pop() == until
        covered = [0] * len(due)
        skipped = 0
        for run in self.schedule.runs.all():
            first, last = bisect_left(due, run.due_at), bisect_right(due, run.last_due_at or run.due_at)
            assert last - first == run.due_times, (self.schedule.zone, self.cron.text, run.due_at, run.last_due_at)
            for number in range(first, last):
                covered[number] += 1
            if run.status == ScheduleRun.Status.SKIPPED:
                skipped += run.due_times
            else:
                assert self.started.pop(run.pk) == 1
        assert covered == [1] * len(due), (self.schedule.zone, self.cron.text)
        assert self.started == {}
        return len(due) - skipped, skipped


def simulate(schedule: Schedule, zone: str, began: datetime, days: int, seed: int) -> tuple[int, int]:
    """Let the schedule run for this many days in the zone. Returns how many due times have run and were left out."""
    chance = random.Random(seed)
    cron = CRONS[seed % len(CRONS)]
    schedule.runs.all().delete()
    schedule.trigger, schedule.cron, schedule.zone = Schedule.Trigger.CRON, cron.text, zone
    schedule.misfire = chance.choice(Schedule.Misfire.values)
    schedule.overlap = chance.choice(Schedule.Overlap.values)
    schedule.misfire_most = 3
    schedule.created_at = began + timedelta(minutes=chance.randrange(60 * 24))
    schedule.next_due_at = next(recurrence.due_times(scheduler.timing_of(schedule), schedule.created_at))
    schedule.save()
    simulation = Simulation(schedule, cron, chance)
    simulation.pass_until(schedule.created_at + timedelta(days=days))
    return simulation.check()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each zone, of which this process may have every so-many-th only."""
    part, parts = map(int, os.environ.get("DUE_PART", "1/1").split("/"))
    metafunc.parametrize("number", range(part - 1, len(moving_zones()), parts))


def test_every_due_time_once(number: int, make):  # noqa: F811
    zone, moved_in = list(moving_zones().items())[number]
    year, years = random.Random(number).choice(moved_in), int(os.environ.get("DUE_YEARS", "1"))
    ran, left_out = simulate(make(), zone, datetime(year, 1, 1, tzinfo=UTC), 365 * years, number)
    print(f"{number}: {zone} from {year}, {CRONS[number % len(CRONS)].text}: {ran} ran, {left_out} were left out")
