"""Four eyes: who may approve what writes to a target that needs another person's approval (docs/people.md)."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User

from importer.access.acting import acting_user
from importer.access.policy import Forbidden, may, require
from importer.engine.errors import Problem
from importer.models import ImportJob, Lab, Level, Target

Approvable = ImportJob | Lab

SHORTEST_DIGEST = 12  # characters that tell a digest from all others
LONGEST_REASON = 500
NOBODY = "Nobody else may load into this table. An admin can grant it to somebody, or take the mark off the target."
OWN = "You started this, changed it or own it: another person has to approve it."


def starters(*people: User | None) -> list[int]:
    """The ids of the people who start something now: the acting person, and these. None of them may approve it."""
    return sorted({person.pk for person in (acting_user(), *people) if person})


def why_not(user: User | None, thing: Approvable) -> str:
    """Why the person may not approve the thing, although its table is granted to the person; "" if nothing says so."""
    if user is None:
        return "An approval is a person's: name one with --as USER."
    return OWN if user.pk in {thing.created_by_id, *thing.starters} else ""


def require_other(thing: Approvable) -> User:
    """The acting person, who may approve or refuse the thing. Raises Forbidden, with the reason, if that is not so."""
    require(Level.LOAD, thing)
    user = acting_user()
    why = why_not(user, thing)
    if why or user is None:
        raise Forbidden(why, advice=advice_for(thing))
    return user


def advice_for(thing: Approvable) -> str:
    """Who may approve the thing, or what to do if there is nobody."""
    names = [each.get_username() for each in approvers(thing)]
    return f"Ask {' or '.join(names)}." if names else NOBODY


def approvers(thing: Approvable) -> Iterator[User]:
    """The people who may approve the thing."""
    for user in User.objects.filter(is_active=True).select_related("person").order_by("username"):
        if not why_not(user, thing) and may(user, Level.LOAD, thing):
            yield user


def digest(thing: Approvable, decided: Any) -> str:
    """SHA-256 of what was decided for a thing, and of the target and table that it is for."""
    where = {name: getattr(thing.target, name) for name in Target.PASSWORD_GOES_TO}
    text = json.dumps([str(thing.target.key), where, thing.table, decided], sort_keys=True)
    # Names of tables contain the key, which a retry may change.
    key = str(thing.key)
    return hashlib.sha256(text.replace(key.replace("-", ""), "").replace(key, "").encode()).hexdigest()


def checked_digest(thing: Approvable, now: str, seen: str) -> str:
    """The digest of the thing as it is now. Raises Problem unless it begins with that of what the person has seen."""
    if len(seen) < SHORTEST_DIGEST or not now.startswith(seen):
        raise Problem(
            f"This is not what you have seen: its digest does not begin with {seen or 'nothing'}.",
            where=str(thing),
            advice="Look at it again, on its page or with millrace job plan or lab show; then approve that, with"
            f" {SHORTEST_DIGEST} or more characters of its digest.",
        )
    return now


def checked_reason(reason: str) -> str:
    """The reason of a refusal, in one line. Raises Problem if it is empty."""
    if line := " ".join(reason.split()):
        return line[:LONGEST_REASON]
    raise Problem("A refusal needs a reason, which the person who started this reads.", advice="Write one line.")
