"""Due times on the calendar of a zone, with skipped and repeated hours."""

from datetime import UTC, date, datetime, timedelta

import pytest

from importer.engine.errors import Problem
from importer.schedules import recurrence
from importer.schedules.recurrence import DueRange, Timing, decide

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def local(cron: str, zone: str, after: str, count: int) -> list[str]:
    """The next due times, as a clock in the zone shows them."""
    return [each.strftime("%d %H:%M") for each in recurrence.next_due_times(Timing(cron, None, zone), at(after), count)]


@pytest.mark.parametrize(
    ("cron", "after", "expected"),
    [
        # 29 March 2026 has no hour from two to three.
        ("30 2 * * *", "2026-03-28T00:00", ["28 02:30", "29 03:00", "30 02:30"]),
        ("0,30 2 * * *", "2026-03-28T02:00", ["29 03:00", "30 02:00", "30 02:30"]),
        ("0 * * * *", "2026-03-28T23:30", ["29 01:00", "29 03:00", "29 04:00"]),
        # 25 October 2026 has it twice.
        ("30 2 * * *", "2026-10-24T12:00", ["25 02:30", "26 02:30"]),
        ("30 2 * * *", "2026-10-25T01:10", ["26 02:30"]),
        ("*/30 * * * *", "2026-10-24T23:45", ["25 02:00", "25 02:30", "25 02:00", "25 02:30", "25 03:00"]),
    ],
)
def test_the_hour_that_a_zone_leaves_out_or_repeats(cron, after, expected):
    assert local(cron, BERLIN, after, len(expected)) == expected


def test_in_words_and_the_moment_of_a_past_day():
    nightly = Timing("30 2 * * 1-5", None, BERLIN)
    assert recurrence.describe(nightly) == "At 02:30 on Monday through Friday, Europe/Berlin"
    assert recurrence.describe(Timing("", 15, BERLIN)) == "Every 15 minutes"
    assert recurrence.moment_on(nightly, date(2026, 1, 5)) == at("2026-01-05T01:30")
    assert recurrence.moment_on(nightly, date(2026, 1, 4)) == at("2026-01-03T23:00")


@pytest.mark.parametrize(
    ("timing", "said"),
    [
        (Timing("61 2 * * *", None, BERLIN), "bad minute"),
        (Timing("@daily", None, BERLIN), "1 field, and not five"),
        (Timing("0 0 0 2 * *", None, BERLIN), "6 fields, and not five"),
        (Timing("0 0 30 2 *", None, BERLIN), "bad day-of-month"),
        (Timing("0 0 * * *", None, "Europe/Berlim"), "Perhaps Europe/Berlin"),
        (Timing("", 0, "UTC"), "Every 0 minutes is not possible"),
    ],
)
def test_an_invalid_timing_is_refused_with_advice(timing, said):
    with pytest.raises(Problem) as caught:
        recurrence.check(timing)
    assert said in str(caught.value)


EVERY_HOUR = Timing("0 * * * *", None, "UTC")
BACK = at("2026-01-01T09:30")
MISSED = [at(f"2026-01-01T0{hour}:00") for hour in range(5, 10)]


@pytest.mark.parametrize(
    ("misfire", "left_out", "caught_up"),
    [
        ("skip", DueRange(MISSED[0], MISSED[-1], 5), ()),
        ("once", DueRange(MISSED[0], MISSED[-2], 4), MISSED[-1:]),
        ("all", DueRange(MISSED[0], MISSED[-4], 2), MISSED[-3:]),
    ],
)
def test_missed_due_times_are_skipped_or_caught_up(misfire, left_out, caught_up):
    decision = decide(EVERY_HOUR, MISSED[0], BACK, misfire, 3)
    assert (decision.left_out, decision.caught_up, decision.on_time) == (left_out, tuple(caught_up), ())
    assert decision.next_due_at == at("2026-01-01T10:00")


def test_a_due_time_on_time_replaces_missed_ones_with_misfire_once():
    decision = decide(EVERY_HOUR, MISSED[0], MISSED[-1] + timedelta(seconds=5), "once", 3)
    assert (decision.left_out, decision.caught_up, decision.on_time) == (
        DueRange(MISSED[0], MISSED[-2], 4),
        (),
        (MISSED[-1],),
    )


def test_after_years_one_decision_is_limited():
    every_minute, now = Timing("* * * * *", None, BERLIN), at("2026-01-31T00:00:30")
    next_due_at: datetime | None = at("2026-01-01T00:00")
    times, runs, looks = 0, [], 0
    while next_due_at and next_due_at <= now:
        decision = decide(every_minute, next_due_at, now, "all", 7)
        times += decision.left_out.times if decision.left_out else 0
        runs += [*decision.caught_up, *decision.on_time]
        next_due_at, looks = decision.next_due_at, looks + 1
    assert runs == [at("2026-01-31T00:00") - timedelta(minutes=minutes) for minutes in range(7, -1, -1)]
    assert (times + len(runs), looks) == (30 * 24 * 60 + 1, 5)
    assert next_due_at == at("2026-01-31T00:01").astimezone(UTC)
