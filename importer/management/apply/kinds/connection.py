"""Connections in a file: saved as `millrace connection add` does."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from importer.access import audit
from importer.connections import connection_settings
from importer.connections.connection_address import format_base, parse_base
from importer.connections.connection_kind import ConnectionField, ConnectionKind
from importer.connections.connection_kinds import BY_NAME, KINDS
from importer.engine.errors import Problem
from importer.management.apply.kinds.kind import Kind, Wish, without_defaults
from importer.management.apply.yaml_file import REFERENCES, SECRET, Hint, Value, read
from importer.models import SourceConnection


class ConnectionsInFile(Kind):
    """`place` and `private_allowed`, and the settings and secrets that its kind declares."""

    section, word, required = "connections", "connection", ("place",)
    kept = frozenset(field.name for kind in KINDS for field in kind.fields if field.confirmed)
    adds, changes, deletes = "connection add", "connection add", "connection remove"

    def hints(self, entries: Mapping[str, Value]) -> Mapping[str, Hint]:
        try:
            kind = BY_NAME[parse_base(read(entries["place"], str)).kind]
        except Problem as problem:
            raise entries["place"].problem(problem.what, problem.advice) if not problem.where else problem from problem
        own = {each.name: SECRET if each.secret else str for each in kind.fields if not each.in_place}
        return {"place": str, "private_allowed": bool, **own}

    def things(self) -> QuerySet[SourceConnection]:
        return SourceConnection.objects.all()

    def state(self, wish: Wish) -> dict[str, Any]:
        base = parse_base(wish.given["place"])
        named = SourceConnection(kind=base.kind, base=base.base, settings=base.settings)
        return _defaults(BY_NAME[base.kind]) | wish.given | {"place": format_base(named)}

    def stored(self, thing: SourceConnection) -> dict[str, Any]:
        defaults = _defaults(BY_NAME[thing.kind])
        settings = {name: thing.settings.get(name) or value for name, value in defaults.items()}
        return settings | {"place": format_base(thing), "private_allowed": thing.private_allowed}

    def secrets(self, thing: SourceConnection) -> dict[str, str]:
        return thing.secrets

    def save(
        self, thing: SourceConnection | None, wish: Wish, state: dict[str, Any], changed: set[str]
    ) -> SourceConnection:
        connection = thing or SourceConnection(name=wish.name)
        settings = {name: state[name] for name in _settings(BY_NAME[parse_base(state["place"]).kind]) if state[name]}
        allowed, base = state["private_allowed"], parse_base(state["place"])
        if not wish.secrets and (why := connection_settings.wants_secret(connection, base, settings)):
            raise Problem(f"A secret is needed. {why}", advice=f"Refer to it: {REFERENCES}.", option="place")
        connection_settings.save(connection, state["place"], settings, wish.secrets, private_allowed=allowed)
        audit.saved(connection, sorted(changed))
        return connection

    def remove(self, thing: SourceConnection) -> None:
        connection_settings.remove(thing)

    def written(self, thing: SourceConnection) -> dict[str, Any]:
        state = self.stored(thing)
        return {"place": state.pop("place"), **without_defaults(state, _defaults(BY_NAME[thing.kind]))}


def _settings(kind: ConnectionKind) -> dict[str, ConnectionField]:
    return {name: each for name, each in kind.settings.items() if not each.in_place}


def _defaults(kind: ConnectionKind) -> dict[str, Any]:
    settings = {name: next(iter(each.choices), "") for name, each in _settings(kind).items()}
    return {"private_allowed": False, **settings}
