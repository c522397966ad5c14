"""The options of an import in words for its page: those that differ from the defaults first, then the rest."""

from dataclasses import dataclass

from importer.engine.plan.option_kinds import OptionSpec
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.plan.options import Options

# Options that the words for rejected rows contain.
IN_WORDS_OF_LIMIT = ("max_rejects", "max_reject_percent")


@dataclass(frozen=True)
class OptionValue:
    """An option and its value in words; `usual`: whether that is the default."""

    label: str
    value: str
    usual: bool


@dataclass(frozen=True)
class OptionSummary:
    """All options of an import: those with chosen values, and those with default values."""

    chosen: list[OptionValue]
    usual: list[OptionValue]


def option_summary(options: Options) -> OptionSummary:
    """The options of an import; its mode always counts as chosen."""
    answers = [_value(each, options) for each in OPTIONS if each.name not in IN_WORDS_OF_LIMIT]
    return OptionSummary([each for each in answers if not each.usual], [each for each in answers if each.usual])


def _value(spec: OptionSpec, options: Options) -> OptionValue:
    value = getattr(options, spec.name)
    words = spec.shown(value) or spec.unset
    if spec.name == "on_error" and value == "reject" and options.reject_limit_words:
        words = f"{words}, {options.reject_limit_words}"
    usual = value == getattr(Options(), spec.name) and spec.name != "mode"
    return OptionValue(spec.label.removesuffix(", MiB"), words, usual)
