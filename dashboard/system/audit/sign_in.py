"""Records signing in, failing to, and signing out.

The name of a failed attempt is recorded only if somebody has it: people type passwords into the field for the name.
"""

from typing import Any

from allauth.account.internal.userkit import get_user_by_username
from allauth.account.signals import user_logged_in
from allauth.mfa.signals import authentication_failed
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.signals import user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from importer.access import audit


@receiver(user_logged_in)
def signed_in(user: User, **_: Any) -> None:
    audit.record("sign_in", user, who=user)


@receiver(user_login_failed)
def sign_in_failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Record a wrong password, or an unknown name without it. Calls outside of a request are no attempts."""
    if request is not None:
        user = get_user_by_username(credentials.get("username") or "")
        why = "wrong password" if user else "unknown name"
        audit.record("sign_in", user, audit.Outcome.FAILED, user or AnonymousUser(), reason=why)


@receiver(authentication_failed)
def second_factor_failed(user: User, reauthentication: bool = False, **_: Any) -> None:
    """Record a wrong code after a right password. When somebody signed in confirms, the request itself is recorded."""
    if not reauthentication:
        audit.record("sign_in", user, audit.Outcome.FAILED, user, reason="wrong second factor")


@receiver(user_logged_out)
def signed_out(user: User | None, **_: Any) -> None:
    if user:
        audit.record("sign_out", user, who=user)
