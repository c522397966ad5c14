"""Names of a lab's settings, values and combinations for its pages."""

from importer.engine.plan.option_kinds import NONE
from importer.engine.plan.option_specs import named
from importer.engine.tuning.grid import WAY, Settings, Value, words
from importer.lab import whole
from importer.models import Lab

AS_IT_IS = "table as it is"
_KEYS = {"keep": "kept on", "defer": "put back after"}


def name_of(lab: Lab, settings: Settings) -> str:
    """A combination of settings in words; the planned combination, which has no settings, by its planned values.

    A plan has no partitions: where they alone are tried, the planned combination is the table as it is.
    """
    planned = whole(lab, settings)
    return AS_IT_IS if not planned and [*lab.grid.values] == ["partitions"] else words(planned)


def label(name: str) -> str:
    """The label of a setting, or of an experiment's ways to load."""
    return WAY if name == WAY else named(name).label.removesuffix(", MiB")


def value_words(name: str, value: Value) -> str:
    """One value of a setting in few words, as a chart has room for."""
    if name == WAY:
        return str(value)
    if name in ("indexes", "foreign_keys"):
        return _KEYS.get(str(value), str(value))
    return NONE if value is None else named(name).kind.words(value) or "default"


def answer_words(name: str, value: Value) -> str:
    """One value of a setting in words, an answer as the form has it."""
    return value_words(name, value) if name == WAY or value is None else named(name).shown(value)
