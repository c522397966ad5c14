"""Access to pages: the sign-in form with its limit on failed attempts, and pages for staff only."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse

ATTEMPTS = 10
ATTEMPTS_SECONDS = 300


class SignInForm(AuthenticationForm):
    """The sign-in form, which slows down guessing of passwords.

    After ATTEMPTS failures from one address for one user name, more are refused for ATTEMPTS_SECONDS.
    """

    def clean(self) -> dict[str, Any]:
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        name = hashlib.sha256(self.cleaned_data.get("username", "").encode()).hexdigest()
        key = f"sign-in:{address}:{name}"
        failures = cache.get(key, 0)
        if failures >= ATTEMPTS:
            raise ValidationError(f"Too many attempts. Wait {ATTEMPTS_SECONDS // 60} minutes and try again.")
        try:
            return super().clean()
        except ValidationError:
            cache.set(key, failures + 1, ATTEMPTS_SECONDS)
            raise


def staff_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorate a view to answer 403 to users who are not staff."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not getattr(request.user, "is_staff", False):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return checked
