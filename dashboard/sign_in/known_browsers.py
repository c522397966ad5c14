"""Remembers in which browsers a person has signed in (OWASP, "Device cookies"), for the limit on guessing."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

COOKIE = "known_browser"
SALT = "dashboard.sign_in.known_browsers"
KEPT = timedelta(days=180)


def remember_browser(response: HttpResponse, whom: str) -> None:
    """Set the cookie that shows that `whom` has signed in in this browser. It opens nothing by itself."""
    response.set_cookie(
        COOKIE,
        signing.dumps([whom, secrets.token_urlsafe(12)], salt=SALT),
        max_age=KEPT,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def known_browser(request: HttpRequest, whom: str) -> str:
    """The identification of the browser if `whom` has signed in in it, else ""."""
    try:
        name, browser = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=KEPT)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return browser if name == whom else ""
