"""Rates and caps: how often a person may do what costs others something, and how much of it a person may have.

A rate is for a minute. The rules of pages (dashboard/access/rules.py) and commands (importer/management/rules.py) name
it, and count each use before anything is done. Workers, and commands without `--as`, are not limited. Admins are, like
everybody: what a script does for one of them slows down others as much.

Each limit is a setting, 0 for none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model

from importer.access import audit
from importer.access.acting import acting_user
from importer.access.counts import count, seconds_until_reset
from importer.access.policy import Forbidden
from importer.engine.errors import Problem

SECONDS = 60


@dataclass(frozen=True)
class Rate:
    """How often a person may do something: the name of a setting, and what, in words."""

    setting: str
    doing: str

    @property
    def most(self) -> int:
        """How often within a minute."""
        most: int = getattr(settings, self.setting)
        return most


UPLOADS = Rate("UPLOADS_PER_MINUTE", "begin an upload")
STARTS = Rate("STARTS_PER_MINUTE", "start or retry an import")
CHECKS = Rate("CHECKS_PER_MINUTE", "have a target, connection or channel checked")
RATES = (UPLOADS, STARTS, CHECKS)


@dataclass(frozen=True)
class Cap:
    """How many things of a kind a person may have: the name of a setting, and their name, in words."""

    setting: str
    things: str


SCHEDULES = Cap("SCHEDULES_PER_PERSON", "schedules")
PRESETS = Cap("PRESETS_PER_PERSON", "presets")


@dataclass
class TooOften(Forbidden):
    """A person may do this, but has just done it as often as the limit allows. `seconds`: until it may continue."""

    seconds: int = 1


class TooMany(Problem):
    """A person has as many things of a kind as the limit allows."""


def use(rate: Rate, times: int = 1) -> None:
    """Count uses of the acting person. Raises TooOften, and counts nothing, if they are too many.

    The audit log has the first refusal of a minute: a script that keeps trying does not fill the disk with events.
    """
    if refusal := counted(rate, times):
        if count({f"{_key(rate)} refused": 1}, SECONDS) is None:
            audit.leave_out()
        raise refusal


def counted(rate: Rate, times: int = 1) -> TooOften | None:
    """Count uses of the acting person; None. If they are too many, count nothing: why, and until when.

    `times`: of several, the first was counted with the request.
    """
    if acting_user() is None or not rate.most or count({_key(rate): rate.most}, SECONDS, times):
        return None
    seconds = ceil(seconds_until_reset([_key(rate)], SECONDS)) or 1
    allowed = f"You may {rate.doing} {rate.most:,} time{'s' if rate.most > 1 else ''} in a minute"
    what = f"{allowed}, and have done so." if times == 1 else f"{allowed}: {times:,} more are too many."
    wait = f"Try again in {seconds} second{'' if seconds == 1 else 's'}"
    never = times > 1 and times >= rate.most
    advice = f"{'Choose fewer at once' if never else wait}, or ask an admin to raise {rate.setting}."
    return TooOften(what, advice=advice, seconds=seconds)


def _key(rate: Rate) -> str:
    user = acting_user()
    assert user
    return f"{rate.setting} {user.pk}"


@contextmanager
def alone(user: User | None) -> Iterator[None]:
    """A transaction in which nobody else adds to what the user has; for nobody, just a transaction."""
    with transaction.atomic():
        if user is not None:
            User.objects.select_for_update().get(pk=user.pk)
        yield


@contextmanager
def one_more(cap: Cap, model: type[Model], user: User | None) -> Iterator[None]:
    """Let the block, a transaction, make one more of these things for the user.

    Raises TooMany, before the block, if the user has made as many as allowed.
    """
    most: int = getattr(settings, cap.setting)
    with alone(user):
        if user is not None and most and model._default_manager.filter(created_by=user).count() >= most:
            raise TooMany(
                f"{user} has as many {cap.things} as each person may have: {most:,}.",
                advice=f"Delete those that are no longer needed, or ask an admin to raise {cap.setting}.",
            )
        yield
