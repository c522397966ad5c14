"""How pages write numbers: figures that people compare must not mislead."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard import formatting
from dashboard.templatetags import millrace
from importer.engine.mapping.date_formats import format_words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1000, "1,000 bytes"),
        (31_000_000, "29.6 MiB"),
        (3_700_000_000, "3.45 GiB"),
        (999_999, "977 KiB"),
        (1000 * 2**20, "0.977 GiB"),
        (2**20, "1 MiB"),
        (32 * 2**20, "32 MiB"),
        (2**30, "1 GiB"),
        (100 * 2**30, "100 GiB"),
        (None, ""),
    ],
)
def test_size(value, text):
    assert formatting.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.00"),
        (0.5, "0.50"),
        (9.996, "10.0"),
        (950, "950"),
        (41_234, "41.2k"),
        (412_000, "412k"),
        (None, ""),
        (1_240_000, "1.24M"),
        (2_000_000_000, "2.00G"),
    ],
)
def test_rate(value, text):
    assert formatting.rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"),
        (0.00002, "0 s"),
        (0.0018, "1.8 ms"),
        (0.0714, "71 ms"),
        (0.0994, "99 ms"),
        (0.0996, "0.10 s"),
        (0.42, "0.42 s"),
        (9.996, "10.0 s"),
        (12.34, "12.3 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (113, "1 min 53 s"),
        (None, ""),
        (3599.6, "1 h 0 min"),
        (3725, "1 h 2 min"),
        (timedelta(seconds=90), "1 min 30 s"),
    ],
)
def test_duration(value, text):
    assert formatting.duration(value) == text


@pytest.mark.parametrize(("part", "whole", "shown"), [(999, 1000, 99), (1000, 1000, 100), (0, 0, 0), (5, None, 0)])
def test_percent_is_a_hundred_only_for_all_of_it(part, whole, shown):
    assert formatting.percent(part, whole) == shown


@pytest.mark.parametrize(
    ("fix", "parts"),
    [
        ("", []),
        ("Upgrade the server.", [{"text": "Upgrade the server."}]),
        ("SET GLOBAL a = 1;\nGRANT b TO c;", [{"sql": "SET GLOBAL a = 1;\nGRANT b TO c;"}]),
        (
            "On the server: SET GLOBAL a = 1; and in my.cnf",
            [{"text": "On the server:"}, {"sql": "SET GLOBAL a = 1;"}, {"text": "and in my.cnf"}],
        ),
    ],
)
def test_only_statements_of_a_fix_are_offered_to_be_copied(fix, parts):
    assert millrace.fix_parts(fix) == parts


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("%d.%m.%Y", "31.12.2026 (day.month.year)"),
        ("%m/%d/%y %h:%i %p", "12/31/26 02:05 PM (month/day/year hour:minute AM or PM)"),
        ("percent as a number", "percent as a number"),
        ("5 % off", "5 % off"),
        ("", ""),
    ],
)
def test_a_date_format_is_told_by_an_example(form, words):
    assert format_words(form) == words


def test_what_is_older_than_a_day_has_its_date():
    now = timezone.now()
    assert formatting.when(now - timedelta(hours=23)).endswith("ago")
    assert formatting.when(now + timedelta(days=3)).endswith("from now")
    assert re.fullmatch(r"[0-9]+ [A-Z][a-z]{2}( [0-9]{4})?, [0-9:]{5}", formatting.when(now - timedelta(hours=25)))
    assert f" {now.year - 1}, " in formatting.when(now.replace(month=6, day=1, year=now.year - 1))
