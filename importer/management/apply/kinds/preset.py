"""Presets in a file: saved as `millrace preset import` does."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from importer.access import audit
from importer.access.acting import acting_user
from importer.management.apply.kinds import recipe
from importer.management.apply.kinds.kind import Kind, Wish
from importer.management.apply.yaml_file import Hint, Value
from importer.management.build_import import named_target
from importer.models import MappingPreset
from importer.preparation import presets


class PresetsInFile(Kind):
    """The keys of a recipe."""

    section, word, required = "presets", "preset", recipe.REQUIRED
    adds, changes, deletes = "preset import", "preset rename", "preset delete"

    def hints(self, _entries: Mapping[str, Value]) -> Mapping[str, Hint]:
        return recipe.KEYS

    def things(self) -> QuerySet[MappingPreset]:
        return MappingPreset.objects.select_related("target")

    def state(self, wish: Wish) -> dict[str, Any]:
        return recipe.state_of(recipe.unsaved(recipe.wanted(wish.name, wish.given)))

    def stored(self, thing: MappingPreset) -> dict[str, Any]:
        return recipe.state_of(thing)

    def save(
        self, thing: MappingPreset | None, wish: Wish, _state: dict[str, Any], _changed: set[str]
    ) -> MappingPreset:
        read = recipe.wanted(wish.name, wish.given)
        target = named_target(read.target)
        if thing is None:
            saved = presets.save_exported(read, target, read.table, acting_user())
        else:
            presets.replace_exported(thing, read, target)
            saved = thing
        audit.about(saved)
        return saved

    def remove(self, thing: MappingPreset) -> None:
        thing.delete()

    def written(self, thing: MappingPreset) -> dict[str, Any]:
        return recipe.written(self.stored(thing))
