"""allauth's forms in which a password or code could be guessed, each try counted before it is evaluated."""

from typing import Any

from allauth.account.forms import ChangePasswordForm
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import LoginWebAuthnForm
from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.core.exceptions import ValidationError

from dashboard.sign_in.adapter import too_many, whom
from dashboard.sign_in.guesses import count_code, use_code
from importer.access.counts import Counted
from importer.access.tokens import end_all


def counted_code(name: str) -> Counted:
    """Count a try of the person of this name. Raises ValidationError if there were too many."""
    attempt = count_code(whom(name))
    if attempt is None:
        raise ValidationError(too_many())
    return attempt


class EndsTokens(forms.Form):
    """Sets a password. Offers to end the person's tokens with the old one: somebody else may have both."""

    end_tokens = forms.BooleanField(required=False)
    user: User

    @property
    def tokens(self) -> int:
        """How many tokens the person has."""
        return self.user.access_tokens.count()

    @property
    def password_rule(self) -> str:
        """What a password has to be like, in sentences."""
        return " ".join(map(str, password_validators_help_texts()))

    def save(self, *args: Any, **kwargs: Any) -> Any:
        saved = super().save(*args, **kwargs)  # type: ignore[misc]
        if self.cleaned_data["end_tokens"]:
            end_all(self.user)
        return saved


class InvitedForm(EndsTokens, SetPasswordForm):  # type: ignore[type-arg]
    """The password of somebody new, or of somebody who forgot it."""


class PasswordForm(EndsTokens, ChangePasswordForm):
    """A new password, with the current one."""

    def clean_oldpassword(self) -> str:
        """The current password. Raises ValidationError if it is wrong, or after too many tries."""
        attempt = counted_code(self.user.get_username())
        password: str = super().clean_oldpassword()
        attempt.give_back()
        return password


class CountedCode:
    """A code from an app, or a recovery code: each try is counted, and each right one works once."""

    def clean_code(self) -> str:
        """The code. Raises ValidationError if it is wrong or was used before, or after too many tries."""
        name = self.user.get_username()  # type: ignore[attr-defined]
        attempt = counted_code(name)
        code: str = super().clean_code()  # type: ignore[misc]
        if not use_code(whom(name), "".join(code.split())):
            raise ValidationError("This code was used before. Wait for the next one.")
        attempt.give_back()
        return code


class PasskeyForm(LoginWebAuthnForm):
    """The passkey of a sign-in without a password."""

    def clean_credential(self) -> Authenticator:
        """The passkey. Raises ValidationError if it is wrong, and also if what was sent has another structure."""
        try:
            return super().clean_credential()
        except (AttributeError, KeyError, TypeError) as error:
            raise get_adapter().validation_error("incorrect_code") from error


class CodeForm(CountedCode, AuthenticateForm):
    """The code after the password."""


class ConfirmCodeForm(CountedCode, ReauthenticateForm):
    """A code instead of the password, before the way of signing in is changed."""
