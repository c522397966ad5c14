"""A range of days as it stands in an address: from the first day to the last, both included."""

from datetime import date, datetime, time, timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_date


def problems_of_days(*texts: str) -> list[str]:
    """What is wrong with the days, in words; an empty text is none."""
    return [f"“{text}” is no date. Write it as 2026-11-20." for text in texts if text and not _day(text)]


def within(field: str, first: str, last: str) -> Q:
    """The condition that the moment in `field` is on these days, in the reader's time zone.

    An empty text does not narrow it; nothing is on a day that is none.
    """
    if problems_of_days(first, last):
        return Q(pk__in=[])
    condition = Q()
    # The midnight of these two days may be a moment that no datetime has.
    if (begin := _day(first)) and begin > date.min:
        condition &= Q(**{f"{field}__gte": _midnight(begin)})
    if (end := _day(last)) and end < date.max:
        condition &= Q(**{f"{field}__lt": _midnight(end + timedelta(days=1))})
    return condition


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:  # Such as 2026-02-30.
        return None


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
