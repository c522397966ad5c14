"""The navigation of all pages: `{% load navigation %}{% navigation as pages %}`."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.http import HttpRequest
from django.template import Context

from importer.access.policy import role_of
from importer.models import Role

register = template.Library()


@dataclass(frozen=True)
class Place:
    """A page in the navigation. `below`: how the names of its own URLs and of those below it begin; `who`: for whom."""

    words: str
    url_name: str
    below: tuple[str, ...]
    who: str = "everybody"
    starts_group: bool = False

    def is_current(self, url_name: str) -> bool:
        """Whether the page of this URL is the place, or is found below it."""
        return url_name.startswith(self.below)


@dataclass(frozen=True)
class Link:
    """A place for one reader. `current`: the reader is there, or below it."""

    place: Place
    current: bool


NEW_IMPORT = Place("New import", "new", ("new",))
MAIN = (
    Place("Home", "home", ("home",)),
    Place("Imports", "jobs", ("job",)),
    Place("Schedules", "schedules", ("schedule", "run_")),
    Place("Performance", "history", ("history",)),
    Place("Lab", "labs", ("lab",)),
)
# What imports are made of, and then what an installation needs.
MANAGED = (
    Place("Targets", "targets", ("target",)),
    Place("Connections", "connections", ("connection",), "operators"),
    Place("Presets", "presets", ("preset",), "operators"),
    Place("Channels", "channels", ("channel",), "operators"),
    Place("Workers", "workers", ("worker",), "operators", starts_group=True),
    Place("Storage", "storage", ("storage",), "admins"),
    Place("People", "people", ("people", "person", "group"), "admins"),
    Place("Audit log", "audit", ("audit",), "admins"),
)


@register.simple_tag(takes_context=True)
def navigation(context: Context) -> dict[str, Any]:
    """The links of the reader: `main`, and `managed` in a menu; `managing`: the reader is at one of these.

    `importing`: the reader makes a new import.

    Nothing on the page of an error, which knows no reader.
    """
    request: HttpRequest | None = context.get("request")
    if request is None:
        return {}
    url_name = request.resolver_match.url_name or "" if request.resolver_match else ""
    role = role_of(request.user)
    managed = _links(MANAGED, role, url_name)
    return {
        "main": _links(MAIN, role, url_name),
        "managed": managed,
        "importing": NEW_IMPORT.is_current(url_name),
        "managing": any(each.current for each in managed),
    }


def _links(places: tuple[Place, ...], role: Role, url_name: str) -> list[Link]:
    return [Link(each, each.is_current(url_name)) for each in places if _is_for(each.who, role)]


def _is_for(who: str, role: Role) -> bool:
    return who == "everybody" or role is Role.ADMIN or (who == "operators" and role is Role.OPERATOR)
