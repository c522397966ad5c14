"""The speed settings of the new import page: reads them from the form, and prepares their card."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dashboard.formatting import size
from importer.engine.errors import Problem
from importer.engine.mysql.global_variables import SERVER_VARIABLES
from importer.engine.mysql.session_variables import SESSION_VARIABLES
from importer.engine.plan.methods import AUTO, METHODS
from importer.engine.plan.option_specs import SPEED, OptionKind, OptionSpec, named
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.target import write_modes
from importer.engine.units import MIB

# The most important settings, for the summary of the closed card.
IN_SHORT = ("method", "parallelism", "chunk_bytes", "indexes", "sort")
# The form's field for the chunk size, which is in MiB there.
CHUNK = "chunk_mib"
ALLOWED = {"session": sorted(SESSION_VARIABLES), "server_variables": sorted(SERVER_VARIABLES)}
# The check box that confirms changes of server variables.
AGREED = "server_variables_agreed"


def form_name(setting: OptionSpec) -> str:
    """The name of the setting's field in the form."""
    return CHUNK if setting.name == "chunk_bytes" else setting.name


@dataclass(frozen=True)
class SpeedChoices:
    """The form's values; settings that it did not send are as in `initial`: a preset's options, or the defaults."""

    values: Mapping[str, str]
    mode: str
    initial: Options = field(default_factory=Options)

    def text(self, setting: OptionSpec) -> str:
        """The text of the setting's field."""
        name = form_name(setting)
        return self.values[name] if name in self.values else _text(setting, getattr(self.initial, setting.name))

    def applies(self, setting: OptionSpec) -> bool:
        """Whether the setting has an effect with the other choices; if not, it is neither shown nor read."""
        method = self.text(named("method"))
        return {
            "rows_per_statement": method not in METHODS or METHODS[method].inserts,
            "partitions": self.mode == "create",
            "load_as": write_modes.stages(self.mode),
        }.get(setting.name, True)

    @property
    def agreed(self) -> bool:
        """Whether the user has allowed changes of server variables."""
        if "server_variables" in self.values:
            return self.values.get(AGREED) == "yes"
        return bool(self.initial.server_variables)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Values for fields of Options. Raises Problem, with its option, for an invalid one."""
        options = {each.name: _value(each, self.text(each).strip()) for each in SPEED if self.applies(each)}
        if options["server_variables"] and not self.agreed:
            raise Problem(
                "Server variables change the server for everybody on it.",
                advice="Say that they may be set, or leave them out.",
                option="server_variables",
            )
        return options


def _text(setting: OptionSpec, value: Any) -> str:
    match setting.kind:
        case OptionKind.SWITCH:
            return "yes" if value else "no"
        case OptionKind.VARIABLES:
            return "\n".join(f"{name} = {text}" for name, text in sorted(value.items()))
        case OptionKind.SIZE:
            return "" if value is None else f"{value / MIB:.12g}"
    return "" if value is None else str(value)


def _value(setting: OptionSpec, text: str) -> Any:
    match setting.kind:
        case OptionKind.CHOICE:
            return text
        case OptionKind.SWITCH:
            return text == "yes"
        case OptionKind.VARIABLES:
            return _variables(setting, text)
        case OptionKind.SIZE:
            return _bytes(setting, text)
    return whole_number(text, setting.label, *setting.limits, option=setting.name)


def whole_number(text: str, label: str, least: int, most: int, option: str) -> int | None:
    """Read a whole number; None for "". Raises Problem, with label and option, for invalid text or out of bounds."""
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    raise Problem(
        f"{label}: {text!r} cannot be.",
        advice=f"Give a whole number from {least} to {most:,}, or leave it empty.",
        option=option,
    )


def _bytes(setting: OptionSpec, text: str) -> int | None:
    most = setting.limits[1] // MIB
    if not text:
        return None
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,12})?", text) and 1 <= (number := round(float(text) * MIB)) <= most * MIB:
        return number
    raise Problem(
        f"{setting.label}: {text!r} cannot be.",
        advice=f"Give a number of MiB up to {most:,}, or leave it empty.",
        option=setting.name,
    )


def _variables(setting: OptionSpec, text: str) -> dict[str, str]:
    variables: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals and value):
            raise Problem(
                f"{setting.label}: {line!r} cannot be.",
                advice="Write one on each line, as name = value.",
                option=setting.name,
            )
        if name.lower() in variables:
            raise Problem(
                f"{setting.label}: {name} stands there twice.", advice="Leave one of them.", option=setting.name
            )
        variables[name.lower()] = value
    return variables


@dataclass(frozen=True)
class ShownSetting:
    """A setting as the card shows it. `answers`: value, label, whether chosen; `now`: the plan's reasons in words."""

    setting: OptionSpec
    name: str
    text: str
    # The placeholder of the empty field.
    planned: str
    answers: tuple[tuple[str, str, bool], ...] = ()
    now: tuple[str, ...] = ()
    problem: Problem | None = None

    @property
    def kind(self) -> str:
        return self.setting.kind.value

    @property
    def allowed(self) -> str:
        """The names of the variables that may be set."""
        return ", ".join(ALLOWED.get(self.name, ()))


@dataclass(frozen=True)
class Card:
    """All settings that apply, and a summary of the plan's choices."""

    settings: list[ShownSetting]
    short: str
    agreed: bool
    # How many settings differ from the defaults.
    chosen: int
    problem: bool


def card(choices: SpeedChoices, plan: ImportPlan | None, problem: Problem | None) -> Card:
    """The card for the choices, with the plan made from them, or the problem with them."""
    shown = [_shown(each, choices, plan, problem) for each in SPEED if choices.applies(each)]
    if not (plan and METHODS[plan.statements.method].inserts) and choices.text(named("method")) == AUTO:
        shown = [each for each in shown if each.name != "rows_per_statement" or each.text]
    usual = Options()
    chosen = sum(each.text.strip() != _text(each.setting, getattr(usual, each.setting.name)) for each in shown)
    return Card(shown, " · ".join(_in_short(plan)), choices.agreed, chosen, any(each.problem for each in shown))


def _shown(
    setting: OptionSpec, choices: SpeedChoices, plan: ImportPlan | None, problem: Problem | None
) -> ShownSetting:
    text = choices.text(setting)
    words = setting.offered if setting.kind is OptionKind.CHOICE else setting.answers
    if words and text not in words:
        words = {**words, text: text}
    return ShownSetting(
        setting,
        form_name(setting),
        text,
        _planned(setting, plan),
        tuple((value, word, value == text) for value, word in words.items()),
        tuple(f"{each.choice}: {each.why}" for each in plan.reasons if each.option == setting.name) if plan else (),
        problem if problem and problem.option == setting.name else None,
    )


def _planned(setting: OptionSpec, plan: ImportPlan | None) -> str:
    if plan and setting.name == "parallelism":
        return f"{plan.parallelism}, as planned"
    if plan and setting.name == "chunk_bytes":
        return f"{size(plan.chunk_bytes)}, as planned"
    return setting.unset


def _in_short(plan: ImportPlan | None) -> Iterator[str]:
    """The plan's choices for the settings of IN_SHORT, in that order."""
    reasons = plan.reasons if plan else ()
    for name in IN_SHORT:
        yield from (each.choice for each in reasons if each.option == name)
