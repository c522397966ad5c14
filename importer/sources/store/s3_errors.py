"""Turns the errors of S3 and compatible stores into Problems."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from importer.engine.errors import NoConnection, SourceChanged, SourceProblem

log = logging.getLogger(__name__)

MISSING = ("404", "NoSuchKey", "NoSuchUpload", "NotFound")
CHANGED = ("412", "PreconditionFailed")
REFUSED = ("401", "403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken")


@dataclass(frozen=True)
class Wording:
    """The messages about an object that is missing (with what to do), or that was replaced.

    `away` and `gone`: the kinds of the problems that the store does not answer, and that an object is missing.
    `silent`: what is said of a store that does not answer, if the reason, which has its address, is for the log alone.
    """

    missing: tuple[str, str] = ("This is not there.", "Put it back, or correct the name.")
    changed: tuple[str, str] = (
        "The object is no longer the one that was found.",
        "Look for it again. It stays as it is.",
    )
    keys: str = "Look at the keys."
    no_keys: str = (
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, for the account that runs this; or use a"
        " connection with an access key of its own."
    )
    away: type[NoConnection] = NoConnection
    gone: type[SourceProblem] = SourceProblem
    silent: str = ""


@contextmanager
def translated(where: str, wording: Wording = Wording()) -> Iterator[None]:
    """Raise SourceChanged for an object of another version, and SourceProblem for one that is missing.

    Raises NoConnection where the account is refused, and one that is `retryable` for a store that may answer later.
    """
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

    try:
        yield
    except ClientError as error:
        code = code_of(error)
        if code in CHANGED:
            raise SourceChanged(wording.changed[0], where, wording.changed[1]) from error
        reason = error.response["Error"].get("Message") or code
        if code in MISSING:
            raise wording.gone(wording.missing[0], where, wording.missing[1]) from error
        if code in REFUSED:
            raise NoConnection(f"The store refuses it: {reason}.", where, wording.keys) from error
        raise _away(wording, where, f"The store answers {code}: {reason}.") from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise NoConnection("There are no credentials for the store.", where, wording.no_keys) from error
    except (BotoCoreError, OSError) as error:
        raise _away(wording, where, f"The store cannot be read: {error}.") from error


def _away(wording: Wording, where: str, what: str) -> NoConnection:
    if wording.silent:
        log.warning("%s: %s", where, what)
    return wording.away(wording.silent or what, where, "Try again later.", True)


def code_of(error: Any) -> str:
    """The code of a ClientError, such as NoSuchKey, or its status."""
    return str(error.response.get("Error", {}).get("Code", ""))
