"""Records each request that changes something, or that hands out rows, in the audit log."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import resolve, reverse

from dashboard.access.api_rules import asked, is_api
from dashboard.access.middleware import token_of
from dashboard.access.rules import Rule, identifying, rule_of
from dashboard.sign_in.address import client_address
from importer.access import audit
from importer.access.acting import acting_from
from importer.access.policy import narrow

REFUSED = (401, 403, 404, 429)
# The pages on which people confirm their identity by password, code or passkey, before allauth continues the action.
CONFIRMING = ("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn")


class AuditMiddleware:
    """Opens an entry for each request, to which views add, and writes it with the outcome if the rule says so."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with acting_from(client_address(request)), audit.opened(audit.Entry()) as entry:
            request.audit_entry = entry  # type: ignore[attr-defined]
            path = request.path_info
            response = self.get_response(request)
            if entry.action and request.path_info != path:
                _go_on(entry, request)
            if entry.action and response.status_code != 405:
                audit.write(entry, _outcome(entry, request, response))
        return response

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        """Begin the entry, with the thing as it is before the view: afterwards it may be gone."""
        name = request.resolver_match.url_name if request.resolver_match else None
        wanted = asked(name or "", request.method)
        # Who is not signed in changes nothing; attempts to sign in have events of their own.
        if wanted and request.method in wanted.rule.in_log and request.user.is_authenticated:
            entry: audit.Entry = request.audit_entry  # type: ignore[attr-defined]
            entry.action, entry.who, entry.thing = wanted.action, request.user, _thing(wanted.rule, kwargs)
            entry.seldom = request.method not in wanted.rule.recorded
            if token := token_of(request):
                entry.details["by_token"] = token.name


def _thing(rule: Rule, named: Mapping[str, Any]) -> audit.Thing:
    """What the URL names, also if the person may not see it."""
    by = identifying(named)
    if not rule.thing or not by:
        return audit.Thing()
    found = narrow(rule.thing._default_manager.all()).filter(**by).first()
    if found is None:
        return audit.Thing(str(rule.thing._meta.verbose_name), str(next(iter(by.values()))))
    return audit.described(found)


def _go_on(entry: audit.Entry, request: HttpRequest) -> None:
    """Record a confirmation; from here on the entry is about the request that had waited for it.

    allauth turns the request that confirms into the one that waited, and calls its view.
    """
    audit.write(audit.Entry(entry.action, entry.who), audit.Outcome.DONE)
    entry.action = resolve(request.path_info).url_name or ""


def _must_be_confirmed(entry: audit.Entry, response: HttpResponseBase) -> bool:
    """Whether nothing is done yet: the answer leads to a page on which the person confirms who it is."""
    if entry.action in CONFIRMING or not isinstance(response, HttpResponseRedirect):
        return False
    return urlsplit(response.url).path in map(reverse, CONFIRMING)


def _outcome(entry: audit.Entry, request: HttpRequest, response: HttpResponseBase) -> str:
    if _must_be_confirmed(entry, response):
        entry.details["reason"] = "not confirmed"
        return audit.Outcome.REFUSED
    if response.status_code in REFUSED:
        return audit.Outcome.REFUSED
    rule = rule_of(entry.action)
    # A page of one's own account that does not lead on shows its form again, with what was wrong.
    page = rule is not None and rule.account and not is_api(request.path_info)
    again = page and response.status_code == 200
    return audit.Outcome.FAILED if again or response.status_code >= 400 else audit.Outcome.DONE
