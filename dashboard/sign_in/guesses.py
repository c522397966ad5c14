"""The limit on guessing of passwords and codes.

A try is counted before it is evaluated, and given back when it was right; a guesser's own sign-ins clear no earlier
tries. Counting failures afterwards, as django-axes does, lets through as many parallel guesses as there are threads.
"""

from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from dashboard.sign_in.address import client_address, network_of
from dashboard.sign_in.known_browsers import known_browser
from importer.access.counts import Counted, count


def count_password(request: HttpRequest, whom: str) -> Counted | None:
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


def count_code(whom: str) -> Counted | None:
    """Count a try of a code, or of the current password of somebody signed in; None if there were too many."""
    return _count({_key("code", whom): settings.SIGN_IN_TRIES})


def count_wrong(request: HttpRequest, what: str) -> Counted | None:
    """Count a wrong token or passkey (`what`) from the request's address; None if there were too many.

    After its evaluation: nobody guesses a right one, and it must not be refused for its neighbours' wrong ones.
    """
    place = network_of(client_address(request))
    return _count({_key(what, place): settings.SIGN_IN_TRIES_ADDRESS})


def use_code(whom: str, code: str) -> bool:
    """Note that a right code was used; False if it was used within SIGN_IN_SECONDS, at whichever process."""
    return _count({_key("used", whom, code): 1}) is not None


def _count(limits: Mapping[str, int]) -> Counted | None:
    return count(limits, settings.SIGN_IN_SECONDS)


def _key(*parts: str) -> str:
    """A key of fixed length from which no name can be read."""
    return salted_hmac("dashboard.sign_in.guesses", "\n".join(parts), algorithm="sha256").hexdigest()
