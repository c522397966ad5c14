"""Rates: how often a person may do what costs others something, each within a minute; settings say how often.

The rules of addresses (dashboard/access/rules.py) and of commands (importer/management/rules.py) name the rate of each,
and count the use before anything is done. Admins have the same rates: what a script does for one of them slows down
others as much. Workers, and commands without `--as`, are not limited.
"""

from dataclasses import dataclass
from math import ceil

from django.conf import settings

from importer.access.acting import acting_user
from importer.access.counts import count, seconds_until_anew
from importer.access.policy import Forbidden

SECONDS = 60


@dataclass(frozen=True)
class Rate:
    """How often a person may do something: the name of a setting, 0 for no limit. `doing` is what, in words."""

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


@dataclass
class TooOften(Forbidden):
    """A person may do this, but has just done it as often as the limit allows. `seconds`: until it may go on."""

    seconds: int = 1


def use(rate: Rate) -> None:
    """Count a use of the acting person. Raises TooOften, and counts nothing, after too many of them."""
    user = acting_user()
    if user is None or not rate.most:
        return
    key = f"{rate.setting} {user.pk}"
    if count({key: rate.most}, SECONDS) is None:
        seconds = ceil(seconds_until_anew([key], SECONDS)) or 1
        raise TooOften(
            f"You may {rate.doing} {rate.most:,} times in a minute, and have done so.",
            advice=f"Go on in {seconds} second{'' if seconds == 1 else 's'}, or ask an admin to raise {rate.setting}.",
            seconds=seconds,
        )
