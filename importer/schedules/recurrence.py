"""Computes due times, and decides which missed ones are run. Pure functions: the caller passes the current time.

A due time follows the calendar of the schedule's zone and is stored in UTC. Where a zone skips or repeats an hour,
cronsim does as Debian's cron (its manual, section "Daylight Saving Time"): an expression that names an hour runs once,
at the first moment after the gap, or in the first of the two hours; one with a star for the minute or the hour runs at
equal intervals of elapsed time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, takewhile

from cronsim import CronSim, CronSimError

from importer.access.time_zones import zone_named
from importer.engine.errors import Problem
from importer.engine.units import count_of

# A due time that is processed within this time is on time: ticks come every few seconds.
GRACE = timedelta(seconds=60)
# Due times that one tick decides on: after a year without a tick it must not take seconds.
MOST_AT_ONCE = 10_000
MOST_ON_TIME = 2  # due times within GRACE: there is at most one per minute
CRON_FIELDS = "minute, hour, day of the month, month, day of the week"
CRON_ADVICE = f"Write five fields, {CRON_FIELDS}, such as 30 2 * * 1-5 for 02:30 from Monday to Friday."
LONGEST_EVERY = 525_600  # minutes: a year


@dataclass(frozen=True)
class Timing:
    """When runs are due: at the times of a cron expression in a zone, or every `every_minutes` if `cron` is empty."""

    cron: str
    every_minutes: int | None
    zone: str


@dataclass(frozen=True)
class DueRange:
    """Consecutive due times that are skipped together."""

    first: datetime
    last: datetime
    times: int


@dataclass(frozen=True)
class Decision:
    """The due times up to now that are skipped (`left_out`), run late (`caught_up`) and run on time, and the next one.

    Every due time before `next_due_at` is in exactly one of the three. `next_due_at` is None if there is no other.
    """

    left_out: DueRange | None
    caught_up: tuple[datetime, ...]
    on_time: tuple[datetime, ...]
    next_due_at: datetime | None


def check(timing: Timing) -> None:
    """Raise Problem for an unknown zone, an invalid cron expression, or one that is never due."""
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
        raise Problem(f"{text!r} has {count_of(len(text.split()), 'field')}, and not five.", advice=CRON_ADVICE)
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
    """The timing in words, for people. Raises Problem as check() does."""
    if timing.cron:
        now = datetime.now(zone_named(timing.zone))
        return f"{_cron(timing.cron, now).explain()}, {timing.zone}"
    return "Every minute" if timing.every_minutes == 1 else f"Every {timing.every_minutes} minutes"


def beginning(timing: Timing, day: date) -> datetime:
    """The first moment of a day in the timing's zone (UTC)."""
    return datetime.combine(day, time(), zone_named(timing.zone)).astimezone(UTC)


def moment_on(timing: Timing, day: date) -> datetime:
    """The moment for a pattern's dates on a past day: the day's first due time, or its beginning if it has none."""
    begin = beginning(timing, day)
    first = next_due(timing, begin - timedelta(seconds=1)) if timing.cron else None
    return first if first and first.astimezone(zone_named(timing.zone)).date() == day else begin


def decide(timing: Timing, next_due_at: datetime, now: datetime, misfire: str, most: int) -> Decision:
    """Decide on the due times from `next_due_at` to `now`.

    Those of the last minute are on time. Of earlier ones, `skip` runs none, `once` the latest one unless one is on
    time, and `all` the last `most`. If there are more than MOST_AT_ONCE, the first MOST_AT_ONCE are skipped, and the
    next call continues after them.
    """
    room = MOST_AT_ONCE + MOST_ON_TIME + max(1, most)
    due = _due_until(timing, next_due_at, now, room)
    if len(due) == room:
        certain = due[:MOST_AT_ONCE]
        return Decision(_due_range(certain), (), (), due[MOST_AT_ONCE])
    on_time = tuple(each for each in due if each > now - GRACE)
    missed = due[: len(due) - len(on_time)]
    late = {"skip": 0, "once": 0 if on_time else 1, "all": most}[misfire]
    split = max(0, len(missed) - late)
    following = next_due(timing, due[-1]) if due else next_due_at
    return Decision(_due_range(missed[:split]), tuple(missed[split:]), on_time, following)


def _due_until(timing: Timing, first: datetime, now: datetime, most: int) -> list[datetime]:
    if first > now:
        return []
    later = takewhile(lambda each: each <= now, due_times(timing, first))
    return [first, *islice(later, most - 1)]


def _due_range(due: Sequence[datetime]) -> DueRange | None:
    return DueRange(due[0], due[-1], len(due)) if due else None
