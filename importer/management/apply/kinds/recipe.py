"""The keys of a preset, which a schedule may have, too: those of `millrace preset export`, with defaults."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any, get_args, get_origin

from importer.engine.errors import Problem
from importer.engine.stored import to_json
from importer.management.apply.kinds.kind import about
from importer.management.apply.yaml_file import Hint, keys_of
from importer.management.build_import import named_target
from importer.models import MappingPreset, Schedule
from importer.preparation import presets
from importer.preparation.presets import ExportedPreset

# Without the name, which is the key of the thing.
KEYS: Mapping[str, Hint] = {name: hint for name, hint in keys_of(ExportedPreset).items() if name != "name"}
DEFAULTS: Mapping[str, Any] = {"dialect": {}, "fillings": [], "options": {}}
REQUIRED = tuple(name for name in KEYS if name not in DEFAULTS)


def wanted(name: str, given: Mapping[str, Any]) -> ExportedPreset:
    """The preset that the file describes; its table has its schema. Raises Problem for a wrong value."""
    for lacking in (each for each in REQUIRED if each not in given):
        raise Problem(f"The recipe has no {lacking}.", advice=f"Add {lacking}.")
    read = presets.read_exported({**DEFAULTS, **given, "name": name})
    with about("target"):
        target = named_target(read.target)
    return read if "." in read.table else replace(read, table=f"{target.database}.{read.table}")


def unsaved(preset: ExportedPreset) -> MappingPreset:
    """The preset, not saved. Raises Forbidden unless the acting person may load into its table."""
    return presets.unsaved(preset, named_target(preset.target), preset.table)


def state_of(recipe: MappingPreset | Schedule) -> dict[str, Any]:
    """A preset, or the recipe of a schedule, as JSON has it."""
    values: dict[str, Any] = json.loads(json.dumps(to_json(presets.exported(recipe))))
    del values["name"]
    return values


def written(state: Mapping[str, Any]) -> dict[str, Any]:
    """The keys and values of a recipe that are not the default."""
    values = {name: _without_defaults(KEYS[name], value) for name, value in state.items()}
    return {name: value for name, value in values.items() if value != DEFAULTS.get(name)}


def _without_defaults(hint: Hint, value: Any) -> Any:
    origin: Any = get_origin(hint)
    if origin is tuple and get_args(hint)[-1] is Ellipsis:
        return [_without_defaults(get_args(hint)[0], each) for each in value]
    if not is_dataclass(hint):
        return value
    return {each.name: value[each.name] for each in fields(hint) if value[each.name] != _default(each)}


def _default(of: Any) -> Any:
    default = of.default_factory() if of.default_factory is not MISSING else of.default
    return list(default) if isinstance(default, tuple) else default
