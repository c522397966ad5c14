"""allauth's forms in which a password or code could be guessed, each try counted before it is evaluated."""

from allauth.account.forms import ChangePasswordForm
from django.core.exceptions import ValidationError

from dashboard.sign_in.adapter import too_many, whom
from dashboard.sign_in.guesses import Try, count_code


def counted_code(name: str) -> Try:
    """Count a try of the person of this name. Raises ValidationError if there were too many."""
    attempt = count_code(whom(name))
    if attempt is None:
        raise ValidationError(too_many())
    return attempt


class PasswordForm(ChangePasswordForm):
    """A new password, with the current one."""

    def clean_oldpassword(self) -> str:
        """The current password. Raises ValidationError if it is wrong, or after too many tries."""
        attempt = counted_code(self.user.get_username())
        password: str = super().clean_oldpassword()
        attempt.give_back()
        return password
