"""Rates: a number of uses within a minute for each person, independent of others."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from importer.access import limits
from importer.access.acting import acting_as
from importer.access.counts import count, seconds_until_reset
from importer.access.limits import RATES, TooOften, use
from importer.models import LimitCount
from tests.people import admin, operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    return operator("ann")


@pytest.fixture(params=RATES, ids=lambda rate: rate.setting)
def rate(request: pytest.FixtureRequest, settings) -> limits.Rate:
    """Each rate in turn, twice within a minute."""
    setattr(settings, request.param.setting, 2)
    return request.param


def age(**by: int) -> None:
    """Let so much time have passed since all counts began."""
    for each in LimitCount.objects.all():
        each.began -= timedelta(**by)
        each.kept_until -= timedelta(**by)
        each.save()


def test_one_use_too_many_names_the_limit_and_when_it_goes_on(rate, ann):
    with acting_as(ann):
        use(rate)
        use(rate)
        age(seconds=20)
        with pytest.raises(TooOften) as caught:
            use(rate)
    assert f"You may {rate.doing} 2 times in a minute" in str(caught.value)
    assert f"Try again in {caught.value.seconds} seconds, or ask an admin to raise {rate.setting}." in str(caught.value)
    assert 30 < caught.value.seconds <= 40


def test_several_uses_at_once_count_each_and_none_if_they_are_too_many(rate, ann, settings):
    setattr(settings, rate.setting, 5)
    with acting_as(ann):
        use(rate, 3)
        for times, advice in ((3, "Try again in"), (9, "Choose fewer at once, or ask an admin")):
            with pytest.raises(TooOften, match=f"5 times in a minute: {times} more are too many. {advice}"):
                use(rate, times)
        use(rate, 2)
        with pytest.raises(TooOften, match="and have done so"):
            use(rate)


def test_after_a_minute_it_goes_on(rate, ann):
    with acting_as(ann):
        use(rate)
        use(rate)
        age(seconds=60)
        use(rate)


def test_refused_uses_do_not_prolong_the_wait(rate, ann):
    with acting_as(ann):
        use(rate)
        use(rate)
        age(seconds=59)
        for _ in range(9):
            with pytest.raises(TooOften, match="Try again in 1 second,"):
                use(rate)


def test_others_and_other_rates_go_on(rate, ann, settings):
    with acting_as(ann):
        use(rate)
        use(rate)
        for other in RATES:
            if other is not rate:
                use(other)
    with acting_as(operator("ben")):
        use(rate)


def test_an_admin_has_the_same_rate(rate):
    with acting_as(admin("root")):
        use(rate)
        use(rate)
        with pytest.raises(TooOften):
            use(rate)


def test_the_system_itself_is_not_limited(rate):
    for _ in range(5):
        use(rate)
    assert not LimitCount.objects.exists()


def test_a_limit_of_0_is_none(rate, ann, settings):
    setattr(settings, rate.setting, 0)
    with acting_as(ann):
        for _ in range(5):
            use(rate)


def test_counts_are_removed_when_they_no_longer_matter():
    assert count({"short": 9}, 60)
    assert count({"long": 9}, 600)
    age(seconds=61)
    assert count({"other": 9}, 60)
    assert set(LimitCount.objects.values_list("key", flat=True)) == {"long", "other"}


def test_a_count_that_is_given_back_is_free_again():
    counted = count({"a": 1, "b": 5}, 60)
    assert counted
    assert count({"a": 1, "b": 5}, 60) is None
    assert LimitCount.objects.get(key="b").uses == 1
    counted.give_back()
    assert count({"a": 1, "b": 5}, 60)


def test_a_count_that_has_not_begun_does_not_wait():
    assert seconds_until_reset(["a"], 60) == 0
    LimitCount.objects.create(key="a", began=timezone.now() - timedelta(hours=1), kept_until=timezone.now())
    assert seconds_until_reset(["a"], 60) == 0
