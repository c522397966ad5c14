"""Requests that create something and may be sent twice: the second gets the answer of the first.

The sender names a request by a key. What was answered is kept for KEPT. The key is stored before anything is done, so
that of two requests at the same time only one is carried out; if the first ended without an answer, nobody knows what
it did, and the key is refused until then.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from importer.engine.errors import Problem
from importer.models import AnsweredRequest

KEPT = timedelta(hours=24)
LONGEST_KEY = 255
KEY = "[!-~]+"


class KeyReused(Problem):
    """The key was used for another request."""


class NotAnsweredYet(Problem):
    """The first request with this key has no answer."""


@dataclass(frozen=True)
class Answer:
    """What a request was answered: status, address of what it made, and body."""

    status: int
    location: str
    body: str


def digest_of(*parts: bytes) -> str:
    """The SHA-256 of a request, hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def begin(user: User, key: str, digest: str) -> Answer | None:
    """Store the key, if it is new: then the request is to be carried out. Otherwise the answer that it got.

    Raises Problem for a key that is none, KeyReused if the first request was another one, and NotAnsweredYet.
    """
    if len(key) > LONGEST_KEY or not re.fullmatch(KEY, key):
        what = f"An Idempotency-Key has 1 to {LONGEST_KEY} visible ASCII characters."
        raise Problem(what, "header.Idempotency-Key", "Send a UUID.")
    try:
        with transaction.atomic():
            AnsweredRequest.objects.create(user=user, key=key, digest=digest)
    except IntegrityError:
        return _earlier(user, key, digest)
    return None


def _earlier(user: User, key: str, digest: str) -> Answer | None:
    known = AnsweredRequest.objects.filter(user=user, key=key).first()
    if known is not None and known.digest != digest:
        raise KeyReused(f"The Idempotency-Key {key} was sent with another request.", advice="Send a new key.")
    if known is None or known.status is None:
        raise NotAnsweredYet(
            f"A request with the Idempotency-Key {key} has begun, and is not answered.",
            advice="Send it again in a moment. If that does not help, look at what it has made before you send a new"
            " key.",
            retryable=True,
        )
    return Answer(known.status, known.location, known.body)


def answered(user: User, key: str) -> Answer | None:
    """What the person's request with this key was answered; None without an answer."""
    known = AnsweredRequest.objects.filter(user=user, key=key).exclude(status=None).first()
    return Answer(known.status or 0, known.location, known.body) if known else None


def finish(user: User, key: str, answer: Answer | None) -> None:
    """Keep the answer; None: the request has done nothing, and may be sent again, also a corrected one."""
    stored = AnsweredRequest.objects.filter(user=user, key=key)
    if answer is None:
        stored.delete()
    else:
        stored.update(status=answer.status, location=answer.location, body=answer.body)


def remove_old(now: datetime, most: int) -> int:
    """Delete at most `most` answers that are older than KEPT. Returns their number."""
    old = AnsweredRequest.objects.filter(created_at__lt=now - KEPT)
    keys = list(old.order_by("created_at").values_list("pk", flat=True)[:most])
    AnsweredRequest.objects.filter(pk__in=keys).delete()
    return len(keys)
