"""Whether a person has the second factor that settings.REQUIRE_SECOND_FACTOR asks for."""

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpRequest

from dashboard.access.middleware import token_of

FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]


def lacks_second_factor(request: HttpRequest) -> bool:
    """Whether a second factor is required of this person and missing.

    A person who signed in through an identity provider needs none here: the provider asks for it. A token
    was made by somebody who was signed in.
    """
    if not settings.REQUIRE_SECOND_FACTOR or request.user.is_anonymous or token_of(request):
        return False
    methods = {each.get("method") for each in get_authentication_records(request, request.user)}
    return "socialaccount" not in methods and not is_mfa_enabled(request.user, FACTORS)
