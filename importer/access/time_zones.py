"""Time zones by name, and the one in which a person reads times."""

from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import User

from importer.access import audit
from importer.access.acting import Somebody
from importer.access.policy import stored_role
from importer.engine.errors import Problem
from importer.models import Person


@cache
def zone_names() -> tuple[str, ...]:
    """The names of all zones, sorted."""
    return tuple(sorted(available_timezones()))


def zone_named(name: str) -> ZoneInfo:
    """The time zone of this name. Raises Problem, with similar names, if it does not exist."""
    if name in zone_names():
        return ZoneInfo(name)
    close = get_close_matches(name, zone_names(), n=3, cutoff=0.5)
    advice = f"Perhaps {' or '.join(close)}?" if close else "Name it as in Europe/Berlin, or UTC."
    raise Problem(f"There is no time zone named {name!r}.", advice=advice)


def time_zone_of(user: Somebody) -> ZoneInfo | None:
    """The zone that the person has chosen; None for the setting's. One that the system no longer knows is none."""
    person = getattr(user, "person", None)
    return ZoneInfo(person.time_zone) if person and person.time_zone in zone_names() else None


def set_time_zone(user: User, name: str) -> None:
    """Choose the zone in which the person reads times; "" for the setting's. Raises Problem for an unknown one."""
    if name:
        zone_named(name)
    new = {"role": stored_role(user), "time_zone": name}
    Person.objects.update_or_create(user=user, defaults={"time_zone": name}, create_defaults=new)
    audit.about(user)
    audit.note(time_zone=name or "that of the installation")
