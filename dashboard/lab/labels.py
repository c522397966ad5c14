"""Names of a lab's settings, values and combinations for its pages."""

from importer.engine.plan.option_kinds import NONE
from importer.engine.plan.option_specs import named
from importer.engine.tuning.grid import WAY, Settings, Value, words
from importer.lab import whole
from importer.models import Lab


def name_of(lab: Lab, settings: Settings) -> str:
    """A combination of settings in words; the planned combination, which has no settings, by its planned values."""
    return words(whole(lab, settings))


def label(name: str) -> str:
    """The label of a setting, or of an experiment's ways to load."""
    return WAY if name == WAY else named(name).label.removesuffix(", MiB")


def value_words(name: str, value: Value) -> str:
    """One value of a setting in words."""
    if name == WAY:
        return str(value)
    return NONE if value is None else named(name).kind.words(value) or "default"
