"""Tokens: what lets a program act on behalf of a person, with at most that person's rights, until it expires.

A token has 256 random bits, so that a digest without salt is safe, and finds its row.
"""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from importer.access import audit
from importer.access.acting import acting, acting_address
from importer.access.policy import Forbidden, require_admin
from importer.engine.errors import Problem
from importer.models import AccessToken, Scope

# So a token is recognised, by us and by programs that look for secrets in files.
PREFIX = "millrace_"
LONGEST_DAYS = 366
# What a new token is for, unless somebody says otherwise.
USUAL = (Scope.READ, Scope.IMPORT)
MOST = 50  # tokens of a person
# A use is noted once in so long a time: a program may send many requests a second.
NOTED_EVERY = timedelta(minutes=1)


def make(user: User, name: str, days: int, scopes: Collection[str] = USUAL) -> tuple[AccessToken, str]:
    """Create a token for the person: its row, and its text, which is known only now.

    Raises Problem for a missing or taken name, a wrong number of days, no scope or an unknown one, or too many tokens;
    and Forbidden for anybody but the person and the system: who has a token acts on behalf of its person.
    """
    if acting() not in (None, user):
        raise Forbidden(f"Only {user.username} may create tokens of {user.username}.", advice="Ask the person.")
    name = name.strip()
    if not name or len(name) > 80:
        raise Problem("A token needs a name of at most 80 characters.", advice="Name it by what will use it.")
    if not 1 <= days <= LONGEST_DAYS:
        raise Problem(f"A token lasts 1 to {LONGEST_DAYS} days.", advice="Choose another number.")
    chosen = _scopes(scopes)
    text = PREFIX + secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=days)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if AccessToken.objects.filter(user=user, name=name).exists():
            raise Problem(f"{user.username} has a token {name} already.", advice="Choose another name.")
        if AccessToken.objects.filter(user=user).count() >= MOST:
            raise Problem(f"{user.username} has {MOST} tokens.", advice="Revoke one that is not used any more.")
        made = AccessToken.objects.create(user=user, name=name, digest=_digest(text), scopes=chosen, expires_at=expires)
    audit.about(made)
    audit.note(of=user.username, until=expires.isoformat(timespec="seconds"), scopes=chosen)
    return made, text


def _scopes(chosen: Collection[str]) -> list[str]:
    """The scopes in their order, each once. Raises Problem without one, and for an unknown one."""
    if not chosen or set(chosen) - set(Scope.values):
        raise Problem("A token needs one or more scopes.", advice=f"Choose from: {', '.join(Scope.values)}.")
    return [each for each in Scope.values if each in chosen]


def require_scope(token: AccessToken, scope: Scope) -> None:
    """Raise Forbidden unless the token is for this."""
    if scope not in token.scopes:
        raise Forbidden(
            f"The token {token.name} is not for this: it needs the scope {scope.value}.",
            advice=f"It has: {', '.join(token.scopes)}. Make another token under Your account.",
        )


def revoke(token: AccessToken) -> None:
    """End a token. Raises Forbidden unless its person, an admin or the system acts."""
    if acting() != token.user:
        require_admin("revoke the tokens of others")
    audit.about(token)
    audit.note(of=token.user.username)
    token.delete()


def end_all(user: User) -> int:
    """End all tokens of a person who has just set a password; their number."""
    ended, _ = AccessToken.objects.filter(user=user).delete()
    audit.note(tokens_ended=ended)
    return ended


def valid(text: str) -> AccessToken | None:
    """The token of this text, if it has not expired and its person is active. Notes its use."""
    found = AccessToken.objects.select_related("user__person").filter(digest=_digest(text)).first()
    now = timezone.now()
    if found is None or found.expires_at <= now or not found.user.is_active:
        return None
    if found.last_used_at is None or found.last_used_at <= now - NOTED_EVERY:
        AccessToken.objects.filter(pk=found.pk).update(last_used_at=now, last_used_from=acting_address()[:45])
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
