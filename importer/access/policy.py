"""The policy: what a person may see, and what a person may do to it. Every view, command and task asks here.

An admin may do everything. A viewer's grants allow looking only. An operator may do what the grants of the person and
of the person's groups say; imports, schedules, presets and labs follow their target and table. What people made
themselves they may always see. A thing that somebody may not see does not exist for that person.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from importer.access.acting import Somebody, acting
from importer.engine.errors import Problem
from importer.models import (
    Channel,
    Grant,
    ImportJob,
    JobRecord,
    Lab,
    Level,
    MappingPreset,
    Notification,
    Role,
    Schedule,
    ScheduleRun,
    SourceConnection,
    SourceFile,
    Target,
)

Thing = TypeVar("Thing", bound=models.Model)
Kind = Grant.Kind
_READ_GRANTS = "_read_grants"
VIEWER_REASON = "You are a viewer: you may look, and change nothing."


class Forbidden(Problem):
    """A person may see a thing, but not do this to it."""


@dataclass(frozen=True)
class _Granted:
    """The grants of a person on one kind of thing; `most` is the highest level that the person's role allows."""

    grants: tuple[Grant, ...]
    most: Level

    def level(self, pk: int, schema: str = "", table: str = "") -> int:
        """The highest level on the thing of this key, and on a table of it if one is given; 0 for none."""
        fitting = (each for each in self.grants if _is_for(each, pk) and _covers(each.tables, schema, table))
        return min(max((each.level for each in fitting), default=0), self.most)


def role_of(user: Somebody) -> Role:
    """The role of a user; a user without one, or who is not active, is a viewer, to whom nothing is granted."""
    return stored_role(user) if user.is_active and not user.is_anonymous else Role.VIEWER


def stored_role(user: Somebody) -> Role:
    """The role of a user, active or not."""
    if user.is_staff or user.is_superuser:
        return Role.ADMIN
    person = getattr(user, "person", None)
    return Role(person.role) if person else Role.VIEWER


def is_admin(user: Somebody) -> bool:
    return role_of(user) is Role.ADMIN


def level(user: Somebody, thing: models.Model, schema: str = "", table: str = "") -> int:
    """The highest level that the person has on a thing, and on a table if one is given; 0: the person may not see it.

    `thing` is a target, a connection, a channel, a file, or something that belongs to one of them.
    """
    if is_admin(user):
        return Level.ADMINISTER
    return _LEVELS[type(thing)](user, thing, schema, table)


def may(user: Somebody, needed: Level, thing: models.Model, schema: str = "", table: str = "") -> bool:
    return level(user, thing, schema, table) >= needed


def visible(user: Somebody, things: models.QuerySet[Thing]) -> models.QuerySet[Thing]:
    """The things of a queryset that the person may see."""
    return things if is_admin(user) else things.filter(_VISIBLE[things.model](user))


def seen(things: models.QuerySet[Thing]) -> models.QuerySet[Thing]:
    """The things of a queryset that the acting person may see; all of them for the system itself."""
    user = acting()
    return things if user is None else visible(user, things)


def sees_everything() -> bool:
    """Whether the acting person is an admin, or the system itself acts."""
    user = acting()
    return user is None or is_admin(user)


def may_now(needed: Level, thing: models.Model, schema: str = "", table: str = "") -> bool:
    """Whether the acting person has the level on the thing; the system itself has every level."""
    user = acting()
    return user is None or may(user, needed, thing, schema, table)


def require(needed: Level, thing: models.Model, schema: str = "", table: str = "", *, owner: bool = False) -> None:
    """Raise Forbidden, with the reason and who can help, unless the acting person has the level on the thing.

    `owner`: the person who made the thing needs no level on it, unless that is a viewer.
    """
    user = acting()
    if user is None or may(user, needed, thing, schema, table):
        return
    if owner and _own(user, thing) and role_of(user) is not Role.VIEWER:
        return
    raise Forbidden(_reason(user, needed, thing, schema, table), advice="Ask an admin for a grant.")


def require_admin(doing: str) -> None:
    """Raise Forbidden unless the acting person is an admin. `doing` completes "Only admins may"."""
    if not sees_everything():
        raise Forbidden(f"Only admins may {doing}.", advice="Ask an admin.")


def require_operator() -> None:
    """Raise Forbidden if the acting person is a viewer, who changes nothing."""
    user = acting()
    if user is not None and role_of(user) is Role.VIEWER:
        raise Forbidden(VIEWER_REASON, advice="Ask an admin to make you an operator.")


def grants_of(user: Somebody, kind: str) -> tuple[Grant, ...]:
    """The grants of the person and of the person's groups on things of a kind; read once for each user object."""
    if not user.is_active or user.is_anonymous:
        return ()
    if not hasattr(user, _READ_GRANTS):
        own = Q(user_id=user.pk) | Q(group__in=user.groups.all())
        setattr(user, _READ_GRANTS, tuple(Grant.objects.filter(own)))
    return tuple(each for each in getattr(user, _READ_GRANTS) if each.kind == kind)


def _granted(user: Somebody, kind: str) -> _Granted:
    most = Level.LOOK if role_of(user) is Role.VIEWER else Level.ADMINISTER
    return _Granted(grants_of(user, kind), most)


def _is_for(grant: Grant, pk: int) -> bool:
    return getattr(grant, f"{grant.kind}_id") in (None, pk)


def _covers(patterns: Sequence[str], schema: str, table: str) -> bool:
    """Whether a table is covered by a grant's limits. Without a table: any grant on the target shows the target."""
    if not patterns or not schema:
        return True
    limits = (each for each in map(_Limit.of, patterns) if each.schema == schema)
    return any(table.startswith(each.table) if each.begins else table == each.table for each in limits)


class _Limit(NamedTuple):
    """A limit of a grant: a schema, and the name of a table in it or what the names begin with."""

    schema: str
    table: str
    begins: bool

    @classmethod
    def of(cls, pattern: str) -> Self:
        """The limit that is written so. A schema with a dot in its name has none (TABLE_PATTERN)."""
        schema, _, name = pattern.partition(".")
        return cls(schema, name.removesuffix("*"), name.endswith("*"))


def narrow(things: models.QuerySet[Thing]) -> models.QuerySet[Thing]:
    """The things with the fields alone that level() reads: their other columns can be large."""
    return things.only(*_FIELDS.get(things.model, ()))


def _own(user: Somebody, thing: Any) -> int:
    """What the owner of a thing may always do: see it."""
    made_by = getattr(thing, "created_by_id", None)
    return Level.LOOK if user.is_active and not user.is_anonymous and made_by == user.pk else 0


def _level_on(kind: str) -> Callable[[Somebody, Any, str, str], int]:
    return lambda user, thing, schema, table: _granted(user, kind).level(thing.pk, schema, table)


def _level_by_table(user: Somebody, thing: Any, _schema: str, _table: str) -> int:
    """The level on something that has a target, a table and an owner."""
    granted = _granted(user, Kind.TARGET).level(thing.target_id, thing.schema_name, thing.table_name)
    return max(granted, _own(user, thing))


def _level_on_file(user: Somebody, file: SourceFile, _schema: str, _table: str) -> int:
    """An upload is its owner's; a file that is read at a connection is for those who may load from that."""
    if role_of(user) is Role.VIEWER:
        return 0
    if user.is_active and not user.is_anonymous and file.uploaded_by_id == user.pk:
        return Level.ADMINISTER
    there = file.connection_id if not file.owned else None
    granted = _granted(user, Kind.CONNECTION).level(there) if there else 0
    return Level.LOAD if granted >= Level.LOAD else 0


_BY_TABLE = ("created_by", "target", "schema_name", "table_name")
_FIELDS: dict[type[models.Model], tuple[str, ...]] = dict.fromkeys((ImportJob, Schedule, MappingPreset, Lab), _BY_TABLE)

_LEVELS: dict[type[models.Model], Callable[[Somebody, Any, str, str], int]] = {
    Target: _level_on(Kind.TARGET),
    SourceConnection: _level_on(Kind.CONNECTION),
    Channel: _level_on(Kind.CHANNEL),
    ImportJob: _level_by_table,
    JobRecord: _level_by_table,
    Schedule: _level_by_table,
    MappingPreset: _level_by_table,
    Lab: _level_by_table,
    ScheduleRun: lambda user, run, schema, table: _level_by_table(user, run.schedule, schema, table),
    Notification: lambda user, notice, _schema, _table: _granted(user, Kind.CHANNEL).level(notice.channel_id),
    SourceFile: _level_on_file,
}


def _q_on(kind: str) -> Callable[[Somebody], Q]:
    def condition(user: Somebody) -> Q:
        granted = [getattr(each, f"{kind}_id") for each in grants_of(user, kind)]
        return ~Q(pk__in=[]) if None in granted else Q(pk__in=granted)

    return condition


def _q_by_table(before: str = "") -> Callable[[Somebody], Q]:
    """The condition on something with a target, a table and an owner; `before` is the path to it (`schedule__`)."""

    def condition(user: Somebody) -> Q:
        found = Q(**{f"{before}created_by_id": user.pk}) if user.pk else Q(pk__in=[])
        for grant in grants_of(user, Kind.TARGET):
            on_target = Q(**{f"{before}target_id": grant.target_id}) if grant.target_id else ~Q(pk__in=[])
            found |= on_target & _q_of_tables(grant.tables, before)
        return found

    return condition


def _q_of_tables(patterns: Iterable[str], before: str) -> Q:
    limits = Q()
    for limit in map(_Limit.of, patterns):
        table = _q_begins if limit.begins else _q_equals
        limits |= _q_equals(f"{before}schema_name", limit.schema) & table(f"{before}table_name", limit.table)
    return limits


def _q_equals(field: str, name: str) -> Q:
    """Exactly this name: MySQL takes `=` for names that differ in case, but not startswith (LIKE BINARY)."""
    return Q(**{field: name, f"{field}__startswith": name})


def _q_begins(field: str, prefix: str) -> Q:
    """Exactly this prefix: SQLite takes startswith (LIKE) for prefixes that differ in case, but not `=`."""
    return Q(Exact(Left(field, len(prefix)), prefix), **{f"{field}__startswith": prefix}) if prefix else Q()


def _q_of_files(user: Somebody) -> Q:
    own = Q(uploaded_by_id=user.pk) if user.pk else Q(pk__in=[])
    loads = [each.connection_id for each in grants_of(user, Kind.CONNECTION) if each.level >= Level.LOAD]
    if role_of(user) is Role.VIEWER or not loads:
        return own
    there = Q(connection__isnull=False) if None in loads else Q(connection__in=loads)
    return own | (Q(owned=False) & there)


_VISIBLE: dict[type[models.Model], Callable[[Somebody], Q]] = {
    Target: _q_on(Kind.TARGET),
    SourceConnection: _q_on(Kind.CONNECTION),
    Channel: _q_on(Kind.CHANNEL),
    ImportJob: _q_by_table(),
    JobRecord: _q_by_table(),
    Schedule: _q_by_table(),
    MappingPreset: _q_by_table(),
    Lab: _q_by_table(),
    ScheduleRun: _q_by_table("schedule__"),
    Notification: lambda user: Q(channel__in=Channel.objects.filter(_q_on(Kind.CHANNEL)(user))),
    SourceFile: _q_of_files,
}


def _reason(user: Somebody, needed: Level, thing: models.Model, schema: str, table: str) -> str:
    if not user.is_active:
        return f"{user} is deactivated."
    if role_of(user) is Role.VIEWER:
        return VIEWER_REASON
    where = f" the table {schema}.{table} of" if schema else ""
    target = getattr(thing, "target", thing)
    loads = "load into" if isinstance(target, Target) else "use"
    verb = {Level.LOOK: "look at", Level.LOAD: loads, Level.ADMINISTER: "administer"}[needed]
    return f"You may not {verb}{where} {target._meta.verbose_name} {target}."
