"""When a schedule is due, and what becomes of due times that were missed. Pure: a clock reading in, moments out.

A due time lies on the calendar of the schedule's zone and is kept in UTC. Where a zone leaves an hour out or repeats
one, cronsim does as Debian's cron (its manual, section "Daylight Saving Time"): what names an hour runs once, at the
first moment after the gap, or in the first of the two hours; what has a star for the minute or the hour goes on by the
clock of the world.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from importer.engine.errors import Problem

# A due time that is taken up so much later was not missed: ticks come every few seconds.
GRACE = timedelta(seconds=60)
# Due times that are decided on at once: a tick must not last for seconds after a year without one.
MOST_AT_ONCE = 10_000
MOST_ON_TIME = 2  # there is one a minute at most
CRON_FIELDS = "minute, hour, day of the month, month, day of the week"
CRON_ADVICE = f"Write five fields, {CRON_FIELDS}, such as 30 2 * * 1-5 for 02:30 from Monday to Friday."
LONGEST_EVERY = 525_600  # minutes: a year


@dataclass(frozen=True)
class Timing:
    """When runs are due: at the times of a cron text in a zone, or every so many minutes where there is none."""

    cron: str
    every_minutes: int | None
    zone: str


@dataclass(frozen=True)
class DueRange:
    """Due times that are left out together."""

    first: datetime
    last: datetime
    times: int


@dataclass(frozen=True)
class Decision:
    """What becomes of the due times up to now: those `left_out`, `caught_up` and `on_time`; and when the next one is.

    Every due time before `next_due_at` is in exactly one of the three. None: there is no other one.
    """

    left_out: DueRange | None
    caught_up: tuple[datetime, ...]
    on_time: tuple[datetime, ...]
    next_due_at: datetime | None


def zone_named(name: str) -> ZoneInfo:
    """Raises Problem, with names that are like it, for a zone that does not exist."""
    if name in _zones():
        return ZoneInfo(name)
    close = get_close_matches(name, _zones(), n=3, cutoff=0.5)
    advice = f"Perhaps {' or '.join(close)}?" if close else "Name it as in Europe/Berlin, or UTC."
    raise Problem(f"There is no time zone named {name!r}.", advice=advice)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def check(timing: Timing) -> None:
    """Raise Problem for a zone that does not exist, a cron text that is wrong, or one that is never due."""
    zone_named(timing.zone)
    if timing.cron:
        if next_due(timing, datetime.now(UTC)) is None:
            raise Problem(f"There is no day that {timing.cron!r} names.", advice=CRON_ADVICE)
    elif not timing.every_minutes or timing.every_minutes > LONGEST_EVERY:
        raise Problem(
            f"Every {timing.every_minutes} minutes is not possible.", advice=f"Choose 1 to {LONGEST_EVERY:,}."
        )


def due_times(timing: Timing, after: datetime) -> Iterator[datetime]:
    """The due times after a moment, each later than the one before (UTC). Raises Problem as check() does."""
    if timing.cron:
        yield from _cron_times(timing, after)
        return
    step = timedelta(minutes=timing.every_minutes or LONGEST_EVERY)
    while True:
        after += step
        yield after


def _cron_times(timing: Timing, after: datetime) -> Iterator[datetime]:
    latest = after
    for each in _cron(timing.cron, after.astimezone(zone_named(timing.zone))):
        moment = each.astimezone(UTC)
        if moment > latest:
            latest = moment
            yield moment


def _cron(text: str, after: datetime) -> CronSim:
    if len(text.split()) != 5:
        raise Problem(f"{text!r} has {len(text.split())} fields, and not five.", advice=CRON_ADVICE)
    try:
        return CronSim(text, after)
    except CronSimError as error:
        raise Problem(f"{text!r} is no cron text: {str(error).lower()}.", advice=CRON_ADVICE) from error


def next_due(timing: Timing, after: datetime) -> datetime | None:
    """The first due time after a moment; None if there is none within fifty years."""
    return next(due_times(timing, after), None)


def next_due_times(timing: Timing, after: datetime, count: int = 5) -> list[datetime]:
    """The next due times, in the schedule's zone. Raises Problem as check() does."""
    zone = zone_named(timing.zone)
    return [each.astimezone(zone) for each in islice(due_times(timing, after), count)]


def describe(timing: Timing) -> str:
    """When it is due, for people. Raises Problem as check() does."""
    if timing.cron:
        now = datetime.now(zone_named(timing.zone))
        return f"{_cron(timing.cron, now).explain()}, {timing.zone}"
    return "Every minute" if timing.every_minutes == 1 else f"Every {timing.every_minutes} minutes"


def moment_on(timing: Timing, day: date) -> datetime:
    """What the dates in a pattern are filled from for a past day: its first due time, or its beginning without one."""
    zone = zone_named(timing.zone)
    begin = datetime.combine(day, time(), zone).astimezone(UTC)
    first = next_due(timing, begin - timedelta(seconds=1)) if timing.cron else None
    return first if first and first.astimezone(zone).date() == day else begin


def decide(timing: Timing, next_due_at: datetime, now: datetime, misfire: str, most: int) -> Decision:
    """What becomes of the due times from `next_due_at` to `now`.

    Those of the last minute are on time. What was missed before is left out (`skip`), or run for the latest one unless
    one is on time (`once`), or the last `most` of them are run (`all`). After so long a time that there are too many to
    decide on at once, those that are certainly left out are; the next call goes on from there.
    """
    room = MOST_AT_ONCE + MOST_ON_TIME + max(1, most)
    due = _due_until(timing, next_due_at, now, room)
    if len(due) == room:
        certain = due[:MOST_AT_ONCE]
        return Decision(_due_range(certain), (), (), due[MOST_AT_ONCE])
    on_time = tuple(each for each in due if each > now - GRACE)
    missed = due[: len(due) - len(on_time)]
    kept = {"skip": 0, "once": 0 if on_time else 1, "all": most}[misfire]
    split = max(0, len(missed) - kept)
    following = next_due(timing, due[-1]) if due else next_due_at
    return Decision(_due_range(missed[:split]), tuple(missed[split:]), on_time, following)


def _due_until(timing: Timing, first: datetime, now: datetime, most: int) -> list[datetime]:
    if first > now:
        return []
    later = takewhile(lambda each: each <= now, due_times(timing, first))
    return [first, *islice(later, most - 1)]


def _due_range(due: Sequence[datetime]) -> DueRange | None:
    return DueRange(due[0], due[-1], len(due)) if due else None
