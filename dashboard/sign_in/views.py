"""The pages of allauth that show more than allauth gives them."""

import re
from typing import Any, cast

from allauth.account.views import LoginView
from allauth.mfa.base.views import IndexView
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from dashboard.sign_in.browsers import browser_name
from dashboard.sign_in.guesses import count_wrong
from dashboard.sign_in.second_factor import lacks_second_factor
from importer.access import audit


class SignInView(LoginView):
    """The sign-in, with a way to the identity provider if there is one."""

    template_name = "sign_in/login.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What allauth gives, and the name of the provider."""
        oidc_name = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return {**super().get_context_data(**kwargs), "oidc_name": oidc_name}


class PasskeySignInView(LoginWebAuthnView):
    """The sign-in with a passkey alone."""

    def form_invalid(self, form: Form) -> HttpResponse:
        """Say why nobody is signed in, and record a wrong passkey. After too many: no further event."""
        if form.data.get("credential") and count_wrong(self.request, "passkey"):
            audit.record("sign_in", None, audit.Outcome.FAILED, AnonymousUser(), reason="wrong passkey")
        return cast(HttpResponse, super().form_invalid(form))


class SecurityView(IndexView):
    """The page of one's own passkeys, app, recovery codes and password."""

    template_name = "sign_in/security.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What allauth gives, and whether a required second factor is missing."""
        return {**super().get_context_data(**kwargs), "lacks_second_factor": lacks_second_factor(self.request)}


class SessionsView(ListUserSessionsView):
    """Where the person is signed in. Signs one browser out, or all others."""

    template_name = "sign_in/sessions.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What allauth gives, with the name of each browser. One that is not listed yet, this one, joins now."""
        if not UserSession.objects.filter(session_key=self.request.session.session_key).exists():
            UserSession.objects.create_from_request(self.request)
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context["browsers"] = [(browser_name(each.user_agent), each) for each in context["sessions"]]
        return context

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session that the form names, or all others."""
        named = request.POST.get("session", "")
        if not named:
            return cast(HttpResponse, super().post(request, *args, **kwargs))
        key = int(named) if re.fullmatch("[0-9]{1,18}", named) else 0
        get_object_or_404(UserSession, pk=key, user=request.user).end()
        return redirect("usersessions_list")


@require_safe
@login_not_required
def signed_in(request: HttpRequest) -> JsonResponse:
    """Whether the session lasts: pages ask before they send a form (static/sign_in/session.js)."""
    return JsonResponse({"signed_in": request.user.is_authenticated})
