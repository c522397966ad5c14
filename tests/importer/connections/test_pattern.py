"""File patterns: dates in the schedule's zone, offsets, matches, and invalid patterns."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from importer.connections.file_pattern import Pattern, fill_in_dates
from importer.engine.errors import SourceProblem

# An hour before the clocks of Vienna go back, and already the next day there.
MOMENT = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)
VIENNA = ZoneInfo("Europe/Vienna")


@pytest.mark.parametrize(
    ("pattern", "zone", "expected"),
    [
        ("sales-{date:%Y%m%d}.csv", UTC, "sales-20261024.csv"),
        ("sales-{date:%Y%m%d}.csv", VIENNA, "sales-20261025.csv"),
        ("{date}.csv", VIENNA, "2026-10-25.csv"),
        ("{date-1d:%Y/%m/%d}/*.csv", VIENNA, "2026/10/24/*.csv"),
        ("{date+2w:%d}", UTC, "07"),
        ("{date-8m:%Y%m}-{date:%H}", UTC, "202602-22"),
        # 02:30 comes twice that night: hours pass, days are the calendar's.
        ("{date+3h:%d %H}", VIENNA, "25 02"),
        ("{date+1d:%d %H}", VIENNA, "26 00"),
    ],
)
def test_dates_are_in_the_schedules_zone(pattern, zone, expected):
    assert fill_in_dates(pattern, MOMENT, zone).text == expected


def test_a_month_earlier_than_the_31st_is_the_months_last_day():
    assert fill_in_dates("{date-1m:%d}", datetime(2026, 3, 31, tzinfo=UTC), UTC).text == "28"


@pytest.mark.parametrize(
    "pattern",
    ["../x", "a/../b", "/etc/passwd", "a//b", "", " ", "a\\b", "{day}", "{date", "date}", "{date:%s}", "{date:%}",
     "{date-99999m}", "{date-1y:%Y}", "a/."],
)  # fmt: skip
def test_an_invalid_pattern_is_refused_and_quoted(pattern):
    with pytest.raises(SourceProblem) as caught:
        fill_in_dates(pattern, MOMENT, UTC)
    assert caught.value.where == pattern
    assert caught.value.advice


@pytest.mark.parametrize(
    ("pattern", "subfolders", "names"),
    [
        ("*.csv", False, ["a.csv"]),
        ("*.csv", True, ["a.csv", "in/b.csv", "in/deep/c.csv"]),
        ("in/*.csv", False, ["in/b.csv"]),
        ("in/*.csv", True, ["in/b.csv", "in/deep/c.csv"]),
        ("i?/[b-c].csv", False, ["in/b.csv"]),
        ("*/*/*", False, ["in/deep/c.csv"]),
        ("A.CSV", False, []),
    ],
)
def test_matches_names_and_folders(pattern, subfolders, names):
    every = ["a.csv", "in/b.csv", "in/deep/c.csv", "x.txt"]
    meant = Pattern(pattern, subfolders)
    assert [name for name in every if meant.matches(name)] == names
    assert all(name.startswith(meant.prefix) for name in names)
    assert all(meant.may_lie_below(tuple(name.split("/")[:-1])) for name in names)


@pytest.mark.parametrize(
    ("pattern", "subfolders", "prefix"),
    [("in/2026/a*.csv", False, "in/2026/a"), ("in/a*.csv", True, "in/"), ("*/a", False, ""), ("a.csv", False, "a.csv")],
)
def test_the_prefix_is_as_long_as_can_be(pattern, subfolders, prefix):
    assert Pattern(pattern, subfolders).prefix == prefix
