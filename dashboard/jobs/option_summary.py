"""The options of an import in words for its page: those that differ from the defaults first, then the rest."""

from dataclasses import dataclass

from dashboard.new_import.row_policy import ACCOUNTING
from importer.engine.plan.option_specs import SPEED, named
from importer.engine.plan.options import Options


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
    answers = [OptionValue("Mode", options.mode, usual=False), *_accounting(options), *_speed(options)]
    return OptionSummary([each for each in answers if not each.usual], [each for each in answers if each.usual])


def _accounting(options: Options) -> list[OptionValue]:
    usual = Options()
    values = []
    for name, (question, answers) in ACCOUNTING.items():
        value = getattr(options, name)
        words = answers[value][0] if value in answers else value
        if name == "on_error" and value == "reject":
            limit = options.reject_limit_words
            words = f"{words}, {limit}" if limit else words
        values.append(OptionValue(question, words, value == getattr(usual, name)))
    zone = named("time_zone")
    values.append(OptionValue(zone.label, options.time_zone or zone.unset, not options.time_zone))
    return values


def _speed(options: Options) -> list[OptionValue]:
    usual = Options()
    return [
        OptionValue(
            each.label.removesuffix(", MiB"),
            each.shown(getattr(options, each.name)) or each.unset,
            getattr(options, each.name) == getattr(usual, each.name),
        )
        for each in SPEED
    ]
