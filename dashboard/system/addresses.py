"""Addresses that people type although no page has them: other names of pages, and one instead of many."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.defaults import page_not_found

# Names of pages by what people may call them. Those of things also lead to one thing: imports/7 to import 7.
THINGS = {
    "import": "jobs",
    "imports": "jobs",
    "job": "jobs",
    "schedule": "schedules",
    "lab": "labs",
    "preset": "presets",
    "target": "targets",
    "server": "targets",
    "servers": "targets",
    "connection": "connections",
    "source": "connections",
    "sources": "connections",
    "channel": "channels",
    "notification": "channels",
    "notifications": "channels",
    "user": "people",
    "users": "people",
    "person": "people",
}
PAGES = THINGS | {
    "home": "home",
    "dashboard": "home",
    "upload": "new",
    "new-import": "new",
    "runs": "schedules",
    "calendar": "schedules",
    "performance": "history",
    "compare": "history_compare",
    "disk": "storage",
    "room": "storage",
    "worker": "workers",
    "hosts": "workers",
    "system": "workers",
    "log": "audit",
    "audit-log": "audit",
    "admin": "people",
    "settings": "account_own",
    "profile": "account_own",
    "tokens": "account_own",
    "security": "mfa_index",
    "password": "account_change_password",
    "sign-in": "login",
    "signin": "login",
}


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page that was probably meant; else the answer 404. The page itself asks who may see it."""
    word, _, number = request.path_info.strip("/").lower().partition("/")
    if request.method in ("GET", "HEAD"):
        if word in PAGES and not number:
            return HttpResponseRedirect(reverse(PAGES[word]))
        if word in THINGS and number.isascii() and number.isdigit():
            return HttpResponseRedirect(f"{reverse(THINGS[word])}{number}/")
    return page_not_found(request, exception)
