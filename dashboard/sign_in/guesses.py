"""The limit on guessing of passwords and codes, in the application's database, which all processes share.

A try is counted before it is evaluated, in one transaction, and given back when it was right. Counting failures
afterwards, as django-axes does, lets through as many parallel guesses as there are threads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from dashboard.sign_in.address import client_address, network_of
from dashboard.sign_in.known_browsers import known_browser
from importer.models import GuessCount

REMOVED_AT_ONCE = 500


@dataclass(frozen=True)
class Try:
    """A counted try of a password or code."""

    keys: tuple[str, ...]

    def give_back(self) -> None:
        """Do not count it: it was right. Earlier tries stay counted, so a guesser's own sign-ins clear nothing."""
        GuessCount.objects.filter(key__in=self.keys, tries__gt=0).update(tries=F("tries") - 1)


def count_password(request: HttpRequest, whom: str) -> Try | None:
    """Count a try of a password for `whom`; None if there were too many, and it must not be evaluated.

    Tries count for one name from one address, for one address, and for one name. In a browser in which `whom` has
    signed in before, only its own tries count: nobody can be locked out by others there.
    """
    browser = known_browser(request, whom)
    if browser:
        return _count({_key("browser", browser): settings.SIGN_IN_TRIES})
    place = network_of(client_address(request))
    return _count(
        {
            _key("pair", whom, place): settings.SIGN_IN_TRIES,
            _key("address", place): settings.SIGN_IN_TRIES_ADDRESS,
            _key("name", whom): settings.SIGN_IN_TRIES_NAME,
        }
    )


def count_code(whom: str) -> Try | None:
    """Count a try of a code, or of the current password of somebody signed in; None if there were too many."""
    return _count({_key("code", whom): settings.SIGN_IN_TRIES})


def use_code(whom: str, code: str) -> bool:
    """Note that a right code was used; False if it was used within SIGN_IN_SECONDS, at whichever process."""
    return _count({_key("used", whom, code): 1}) is not None


def _count(limits: Mapping[str, int]) -> Try | None:
    """Add one to each count, or to none if one has reached its limit."""
    now = timezone.now()
    expired = now - timedelta(seconds=settings.SIGN_IN_SECONDS)
    if _is_reached(limits, expired):
        return None  # Without a write: an attack does not keep others from writing.
    _remove_old(expired)
    with transaction.atomic():
        rows = [GuessCount(key=key, began=now, touched=now) for key in sorted(limits)]
        # The update of `touched` locks the rows until the commit, always in the same order.
        unique = ["key"] if connection.features.supports_update_conflicts_with_target else None
        GuessCount.objects.bulk_create(rows, update_conflicts=True, update_fields=["touched"], unique_fields=unique)
        if _is_reached(limits, expired):
            return None
        counted = GuessCount.objects.filter(key__in=limits)
        counted.filter(began__lte=expired).update(tries=0, began=now)
        counted.update(tries=F("tries") + 1)
    return Try(tuple(limits))


def _is_reached(limits: Mapping[str, int], expired: datetime) -> bool:
    reached = Q()
    for key, limit in limits.items():
        reached |= Q(key=key, tries__gte=limit)
    return GuessCount.objects.filter(reached, began__gt=expired).exists()


def _remove_old(expired: datetime) -> None:
    old = GuessCount.objects.filter(touched__lt=expired)
    # By their keys, in the order in which they are locked above: no deadlock.
    keys = sorted(old.values_list("key", flat=True)[:REMOVED_AT_ONCE])
    if keys:
        old.filter(key__in=keys).delete()


def _key(*parts: str) -> str:
    """A key of fixed length from which no name can be read."""
    return salted_hmac("dashboard.sign_in.guesses", "\n".join(parts), algorithm="sha256").hexdigest()
