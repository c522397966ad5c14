"""The pages of allauth that show more than allauth gives them."""

from typing import Any

from allauth.account.views import LoginView
from allauth.mfa.base.views import IndexView
from django.conf import settings

from dashboard.sign_in.second_factor import lacks_second_factor


class SignInView(LoginView):
    """The sign-in, with a way to the identity provider if there is one."""

    template_name = "sign_in/login.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What allauth gives, and the name of the provider."""
        oidc_name = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return {**super().get_context_data(**kwargs), "oidc_name": oidc_name}


class SecurityView(IndexView):
    """The page of one's own passkeys, app, recovery codes and password."""

    template_name = "sign_in/security.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What allauth gives, and whether a required second factor is missing."""
        return {**super().get_context_data(**kwargs), "lacks_second_factor": lacks_second_factor(self.request)}
