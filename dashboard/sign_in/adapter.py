"""What Millrace decides for allauth: no open sign-up, the limit on guessing, and the words of refusals."""

from pathlib import Path
from typing import Any, ClassVar, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.userkit import get_user_by_username
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from dashboard.sign_in.address import client_address, is_address
from dashboard.sign_in.guesses import count_password
from dashboard.sign_in.known_browsers import remember_browser
from importer.access.counts import Counted
from importer.engine.errors import Problem
from importer.security import encryption

# What the ciphertext of an app's secret is bound to.
SECOND_FACTOR = "second factor"
UNKNOWN_ADDRESS = "::"
SHOWN_BY_THE_PAGE = ("logged_in", "logged_out")


def too_many() -> str:
    """What is said instead of evaluating another try."""
    minutes = max(1, round(settings.SIGN_IN_SECONDS / 60))
    return f"Too many attempts. Wait {minutes} minute{'s' if minutes > 1 else ''} and try again."


def whom(name: str) -> str:
    """Whom a name means for the limit on guessing: all spellings that the database takes for one name are one."""
    user = get_user_by_username(name)
    return f"user {user.pk}" if user else f"name {name.strip().casefold()}"


class AccountAdapter(DefaultAccountAdapter):
    """Accounts come from an admin, and each try of a password is counted before it is evaluated."""

    error_messages: ClassVar = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "Please enter a correct user name and password. Both may be case-sensitive.",
        "incorrect_password": "This is not your current password.",
        "enter_current_password": "This is not your current password.",
    }

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Nobody makes their own account."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address of the browser, for the list of sessions."""
        return client_address(request) if is_address(client_address(request)) else UNKNOWN_ADDRESS

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        """Say what has happened, unless the next page shows it anyway."""
        if Path(message_template or "").stem not in SHOWN_BY_THE_PAGE:
            super().add_message(request, level, message_template, *args, **kwargs)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the try. Raises ValidationError if there were too many."""
        self._try: Counted | None = count_password(request, whom(credentials.get("username", "")))
        if self._try is None:
            raise ValidationError(too_many())

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """The person whose password it is. Raises ValidationError, without looking, after too many tries."""
        user = cast("User | None", super().authenticate(request, **credentials))
        if user and self._try:
            self._try.give_back()
        return user

    def post_login(self, request: HttpRequest, user: User, **how: Any) -> HttpResponse:
        """Lead on to the page that was asked for, and remember the browser."""
        response = cast(HttpResponse, super().post_login(request, user, **how))
        remember_browser(response, whom(user.get_username()))
        return response


class SecondFactorAdapter(DefaultMFAAdapter):
    """Second factors: their secrets are encrypted like the passwords of targets."""

    error_messages: ClassVar = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This was not accepted. Try again with the next code, or another passkey.",
    }

    def _get_site_name(self) -> str:
        return "Millrace"

    def _get_user_identifier(self, user: User) -> str:
        return user.get_username()

    def encrypt(self, text: str) -> str:
        """The stored form of a secret."""
        return encryption.encrypt(text, bound_to=SECOND_FACTOR)

    def decrypt(self, encrypted_text: str) -> str:
        """The secret. Raises ValidationError if no encryption key fits."""
        try:
            return encryption.decrypt(encrypted_text, bound_to=SECOND_FACTOR)
        except Problem as problem:
            raise ValidationError("The second factor cannot be read: its encryption key is missing.") from problem
