"""Rates, places and caps: what each person may do in a minute, have under way at a time, and have in all.

The rules of pages (dashboard/access/rules.py) and of commands (importer/management/rules.py) name a rate, which counts
each use before anything is done, or a kind of places (places.py). A cap is asked where a thing is made. Workers, and
commands without `--as`, are not limited. Admins are, like everybody: what a script does for one of them slows down
others as much.

Each limit is a setting, 0 for none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Model, Q

from importer.access import audit
from importer.access.acting import acting_user
from importer.access.counts import count, seconds_until_reset
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.models import Lab, MappingPreset, Schedule, SourceFile

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
class Places:
    """How much of a kind a person may have under way at a time, on each web host.

    `setting`: the name of a setting. `things`: what takes a place, in words. `seconds`: after which to ask again.
    """

    setting: str
    things: str
    seconds: int = 5

    @property
    def most(self) -> int:
        """How many at a time."""
        most: int = getattr(settings, self.setting)
        return most


PARTS = Places("UPLOAD_PARTS_AT_ONCE", "parts of uploads that arrive")
LISTENERS = Places("LISTENERS_AT_ONCE", "programs that follow imports by events", seconds=30)
EXPORTS = Places("EXPORTS_AT_ONCE", "downloads of history, reject files and the audit log")
SEARCHES = Places("SEARCHES_AT_ONCE", "searches of the history", seconds=2)
ERRANDS = Places("ERRANDS_AT_ONCE", "checks, previews, plans and lists of files")
PLACES = (PARTS, LISTENERS, EXPORTS, SEARCHES, ERRANDS)


@dataclass(frozen=True)
class Cap:
    """How many things of a kind a person may have.

    `setting`: the name of a setting. `things`: their name, in words. `model`, `owner`: their table, and its column with
    the person. `counted`: those that count. `advice`: how to have fewer. `seconds`: after which some have ended by
    themselves; 0 for things that stay.
    """

    setting: str
    things: str
    model: type[Model]
    owner: str = "created_by"
    counted: Q = field(default_factory=Q)
    advice: str = "Delete those that are no longer needed"
    seconds: int = 0

    @property
    def most(self) -> int:
        """How many at most; 0 for no limit."""
        most: int = getattr(settings, self.setting)
        return most

    def had_by(self, user: User | AnonymousUser) -> int:
        """How many the person has."""
        return self.model._default_manager.filter(self.counted, **{self.owner: user}).count()


SCHEDULES = Cap("SCHEDULES_PER_PERSON", "schedules", Schedule)
PRESETS = Cap("PRESETS_PER_PERSON", "presets", MappingPreset)
UNDER_WAY = Cap(
    "UPLOADS_UNDER_WAY_PER_PERSON",
    "uploads under way",
    SourceFile,
    "uploaded_by",
    Q(status=SourceFile.Status.UPLOADING),
    "Wait until some have arrived, or remove them",
    seconds=10,
)
LABS = Cap(
    "LABS_PER_PERSON",
    "labs that have not ended",
    Lab,
    counted=~Q(status__in=Lab.ENDED),
    advice="Cancel some",
    seconds=60,
)
CAPS = (SCHEDULES, PRESETS, UNDER_WAY, LABS)


@dataclass
class TooOften(Forbidden):
    """A person may do this, but has just done it as often as the limit allows. `seconds`: until it may continue."""

    seconds: int = 1


class TooManyAtOnce(TooOften):
    """A person may do this, but has as much of it under way as the limit allows."""


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
def one_more(cap: Cap, user: User | None) -> Iterator[None]:
    """Let the block, a transaction, make one more of these things for the user.

    Raises TooMany, or TooManyAtOnce for things that end by themselves, before the block, if the user has as many as
    allowed.
    """
    with alone(user):
        if user is not None and cap.most and cap.had_by(user) >= cap.most:
            what = f"{user} has as many {cap.things} as each person may have: {cap.most:,}."
            advice = f"{cap.advice}, or ask an admin to raise {cap.setting}."
            raise (
                TooManyAtOnce(what, advice=advice, seconds=cap.seconds) if cap.seconds else TooMany(what, advice=advice)
            )
        yield


class Allowed(NamedTuple):
    """A limit in words: what, how much at most, how much the person has where that is counted, and the setting."""

    what: str
    most: str
    has: int | None
    setting: str


def overview(user: User | AnonymousUser) -> list[Allowed]:
    """Every limit of what the person does and has, apart from the quotas of files."""
    return [
        *(Allowed(_begun(each.doing), _most(each.most, " in a minute"), None, each.setting) for each in RATES),
        *(Allowed(_begun(each.things), _most(each.most, " at a time"), None, each.setting) for each in PLACES),
        *(Allowed(_begun(each.things), _most(each.most), each.had_by(user), each.setting) for each in CAPS),
    ]


def _begun(things: str) -> str:
    return things[:1].upper() + things[1:]


def _most(most: int, when: str = "") -> str:
    return f"{most:,}{when}" if most else "no limit"
