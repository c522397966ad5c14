"""Targets in a file: saved as `millrace target add` does."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.db.models import QuerySet

from importer import targets
from importer.engine.errors import Problem
from importer.lab import release_unmarked
from importer.management.apply.kinds.kind import Kind, Wish, about, without_defaults
from importer.management.apply.yaml_file import SECRET, Hint, Value, keys_of
from importer.models import Target
from importer.targets import Protection, Terms

PROTECTION = [each.name for each in fields(Protection)]
TERMS = [each.name for each in fields(Terms)]


class TargetsInFile(Kind):
    """`url` and `password`, and the fields of Protection and Terms."""

    section, word, required = "targets", "target", ("url",)
    adds, changes, deletes = "target add", "target add", "target remove"

    def hints(self, _entries: Mapping[str, Value]) -> Mapping[str, Hint]:
        return {"url": str, "password": SECRET, **keys_of(Protection), **keys_of(Terms)}

    def things(self) -> QuerySet[Target]:
        return Target.objects.registered()

    def state(self, wish: Wish) -> dict[str, Any]:
        with about("url"):
            url = targets.parse_url(wish.given["url"])
            if url.password:
                raise Problem("The URL has a password.", advice="Leave it out, and refer to it by password.")
        given = {name: value for name, value in wish.given.items() if value is not None}
        named = Target(host=url.host, port=url.port, user=url.user, database=url.database)
        return self._defaults(named) | given | {"url": targets.url_of(named)}

    def _defaults(self, target: Target) -> dict[str, Any]:
        new = Target()
        names = [*PROTECTION, *TERMS]
        return {name: getattr(new, name) for name in names} | {"tls": targets.default_tls(target.host)}

    def stored(self, thing: Target) -> dict[str, Any]:
        return {"url": targets.url_of(thing), **{name: getattr(thing, name) for name in (*PROTECTION, *TERMS)}}

    def secrets(self, thing: Target) -> dict[str, str]:
        return {"password": thing.address.password} if thing.password_ciphertext else {}

    def save(self, thing: Target | None, wish: Wish, state: dict[str, Any], _changed: set[str]) -> Target:
        saved = targets.add_or_replace(
            wish.name,
            targets.parse_url(state["url"]),
            password=wish.secrets.get("password"),
            protection=Protection(**{name: state[name] for name in PROTECTION}),
            terms=Terms(**{name: state[name] for name in TERMS}),
            replace=thing is not None,
        )
        release_unmarked(saved)
        return saved

    def remove(self, thing: Target) -> None:
        if names := ", ".join(thing.presets.order_by("name").values_list("name", flat=True)):
            raise Problem(f"{thing.name} stays: the presets {names} load into it.", advice="Delete them first.")
        targets.remove(thing)

    def written(self, thing: Target) -> dict[str, Any]:
        return without_defaults(self.stored(thing), self._defaults(thing))
