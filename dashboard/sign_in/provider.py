"""Signing in with the identity provider that settings.OIDC_ISSUER names (OpenID Connect)."""

import logging
from typing import Any
from urllib.parse import urlencode

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from requests import RequestException

PROVIDER = "oidc"
logger = logging.getLogger(__name__)


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Who comes from the provider is known here already, or becomes a viewer if settings.OIDC_SIGN_UP says so."""

    def list_apps(self, *_: Any, **__: Any) -> list[SocialApp]:
        """The provider of the settings. Those in allauth's table are not used."""
        if not settings.OIDC_ISSUER:
            return []
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=PROVIDER,
                name=settings.OIDC_NAME,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET or "",
                settings={"server_url": settings.OIDC_ISSUER.rstrip("/"), "oauth_pkce_enabled": True},
            )
        ]

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Connect a first sign-in with the person who has the same address. Raises ImmediateHttpResponse to refuse."""
        if sociallogin.is_existing:
            return
        claimed = [each.email.lower() for each in sociallogin.email_addresses]
        # Some providers send the text "false", which is true.
        verified = [each.email.lower() for each in sociallogin.email_addresses if each.verified is True]
        people = [person for email in claimed for person in User.objects.filter(email__iexact=email)]
        if len(people) == 1 and people[0].email.lower() in verified:
            sociallogin.connect(request, people[0])
        elif people:
            raise _refusal(request, "ambiguous" if verified else "unverified", claimed)
        elif not settings.OIDC_SIGN_UP:
            raise _refusal(request, "unknown", claimed)
        else:
            _forget_unverified(sociallogin)

    def is_open_for_signup(self, _request: HttpRequest, _sociallogin: SocialLogin) -> bool:
        """Whether people whom nobody has invited get an account."""
        return bool(settings.OIDC_SIGN_UP)

    def on_authentication_error(self, request: HttpRequest, *_: Any, exception: Any = None, **how: Any) -> None:
        """Show our page instead of allauth's."""
        logger.warning("sign-in with %s failed: %s %s", settings.OIDC_NAME, how.get("error"), exception)
        raise ImmediateHttpResponse(failed(request))


@login_not_required
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send the browser to the provider."""
    if not settings.OIDC_ISSUER:
        raise Http404
    if request.user.is_authenticated:
        return redirect("jobs")
    # Nothing but the page to go to: allauth would also connect accounts or only redirect.
    request.GET = QueryDict(urlencode({"next": request.GET.get("next", "")}))
    try:
        response: HttpResponse = openid_connect.login(request, provider_id)
    except (RequestException, ValueError, KeyError) as problem:
        logger.warning("%s does not answer as a provider: %s", settings.OIDC_ISSUER, problem)
        return failed(request)
    return response


@login_not_required
def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in whom the provider has sent back."""
    if not settings.OIDC_ISSUER:
        raise Http404
    try:
        response: HttpResponse = openid_connect.callback(request, provider_id)
    except (RequestException, ValueError, KeyError) as problem:
        logger.warning("%s does not answer as a provider: %s", settings.OIDC_ISSUER, problem)
        return failed(request)
    return response


def failed(request: HttpRequest) -> HttpResponse:
    """The page that says that the provider has not signed anybody in."""
    return render(request, "sign_in/provider_failed.html", {"oidc_name": settings.OIDC_NAME}, status=401)


def _forget_unverified(sociallogin: SocialLogin) -> None:
    """Leave a new account only addresses that the provider has verified.

    By its address the account is found again: whose address it really is would be connected with this account.
    """
    sociallogin.email_addresses = [each for each in sociallogin.email_addresses if each.verified is True]
    verified = [each.email.lower() for each in sociallogin.email_addresses]
    if sociallogin.user.email.lower() not in verified:
        sociallogin.user.email = ""


def _refusal(request: HttpRequest, reason: str, claimed: list[str]) -> ImmediateHttpResponse:
    shown = {"reason": reason, "address": ", ".join(claimed), "oidc_name": settings.OIDC_NAME}
    return ImmediateHttpResponse(render(request, "sign_in/provider_refused.html", shown, status=403))
