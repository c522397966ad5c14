"""The form of an import's options, made from their declarations (importer.engine.plan.option_specs)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from dashboard.fields.option_values import option_field
from dashboard.formatting import size
from importer.engine.errors import Problem
from importer.engine.mysql.variables.global_variables import SERVER_VARIABLES
from importer.engine.mysql.variables.session_variables import SESSION_VARIABLES
from importer.engine.plan.methods import AUTO, METHODS
from importer.engine.plan.option_kinds import NONE, Group, OptionSpec
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.plan.options import OF_CREATING, Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.target.write_modes import COMPARING, UNDOING

# Names in the form that differ from those of the options: this field is in MiB.
NAMES = {"chunk_bytes": "chunk_mib"}
# The check box that confirms changes of server variables.
AGREED = "server_variables_agreed"
OF_CONSENT = {"server_variables", AGREED}
ALLOWED = {"session": sorted(SESSION_VARIABLES), "server_variables": sorted(SERVER_VARIABLES)}
# The most important settings of speed, for their summary.
IN_SHORT = ("method", "parallelism", "chunk_bytes", "indexes", "sort")


class OptionInput(forms.BoundField):
    """An option in the form, as the page shows it."""

    form: "OptionsForm"

    @property
    def spec(self) -> OptionSpec:
        return _SPECS[self.name]

    @property
    def text(self) -> str:
        """What stands in the field."""
        return str(self.form.data[self.html_name])

    @property
    def answers(self) -> list[tuple[str, str, bool]]:
        """For a choice: value, words, whether chosen; what was sent stays, even if nobody offers it."""
        words = self.spec.offered
        if words and self.text not in words:
            words[self.text] = self.text
        return [(value, word, value == self.text) for value, word in words.items()]

    @property
    def words(self) -> str:
        """The chosen answer."""
        return next((words for _, words, chosen in self.answers if chosen), self.text)

    @property
    def hint(self) -> str:
        """What the option, or its chosen answer, does."""
        return self.spec.hint(self.text)

    @property
    def default(self) -> str:
        """The text of its default."""
        return self.form.made[self.name].written(getattr(Options(), self.name))

    @property
    def usual(self) -> bool:
        """Whether it is at its default."""
        return self.text.strip() == self.default

    @property
    def planned(self) -> str:
        """What the plan decided, or the meaning of an empty field."""
        plan = self.form.plan
        if plan and self.name == "parallelism":
            return f"{plan.parallelism}, as planned"
        if plan and self.name == "chunk_bytes":
            return f"{size(plan.chunk_bytes)}, as planned"
        return self.spec.unset

    @property
    def now(self) -> list[str]:
        """The plan's reasons for the option."""
        reasons = self.form.plan.reasons if self.form.plan and self.spec.group is Group.SPEED else ()
        return [f"{each.choice}: {each.why}" for each in reasons if each.option == self.name]

    @property
    def allowed(self) -> str:
        """The names of the variables that may be set."""
        return ", ".join(ALLOWED.get(self.name, ()))


class OptionsForm(forms.Form):
    """The options of an import. A field that was not sent is as in `before`: those of a preset, or the defaults.

    An option that has no effect with the other choices is neither shown nor read.
    """

    plan: ImportPlan | None = None

    def __init__(self, values: Mapping[str, str], before: Options, mode: str) -> None:
        self.made = made = {spec.name: option_field(spec) for spec in OPTIONS}
        written = {NAMES.get(name, name): each.written(getattr(before, name)) for name, each in made.items()}
        agreed = values.get(AGREED) == "yes" if "server_variables" in values else bool(before.server_variables)
        sent = {name: values[name] for name in written if name in values}
        self._before = {**written, AGREED: "yes" if before.server_variables else ""}
        super().__init__({**written, **sent, "mode": mode, AGREED: "yes" if agreed else ""})
        self.fields: dict[str, forms.Field] = {name: each for name, each in made.items() if self._applies(name)}

    def add_prefix(self, field_name: str) -> str:
        return NAMES.get(field_name, field_name)

    @property
    def changed(self) -> dict[str, str]:
        """The values that are not those of `before`, by the names of their fields; the consent with its variables."""
        names = {name for name, text in self._before.items() if self.data[name] != text}
        names |= OF_CONSENT if names & OF_CONSENT else set()
        return {name: self.data[name] for name in self._before if name in names}

    def _applies(self, name: str) -> bool:
        method, mode = self.data["method"], self.data["mode"]
        applies: dict[str, bool] = {
            "rows_per_statement": method not in METHODS or METHODS[method].inserts,
            **dict.fromkeys(OF_CREATING, mode == "create"),
            "key": mode in COMPARING,
            "scope": mode == "sync",
            "missing": mode == "sync",
            "stop_if": mode in COMPARING,
            "preview": mode in COMPARING,
            "undo": mode in UNDOING,
            "max_rejects": self.data["on_error"] == "reject",
            "max_reject_percent": self.data["on_error"] == "reject",
        }
        return applies.get(name, True)

    def __getitem__(self, name: str) -> OptionInput:
        return OptionInput(self, self.fields[name], name)

    @property
    def agreed(self) -> bool:
        """Whether the user has allowed changes of server variables."""
        return bool(self.data[AGREED])

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("server_variables") and not self.agreed:
            self.add_error(
                "server_variables",
                "Server variables change the server for everybody on it. Say that they may be set, or leave them out.",
            )
        return self.cleaned_data

    @property
    def options(self) -> Options:
        """The options. Raises Problem, with the option, for an invalid one."""
        for name, errors in self.errors.items():
            raise Problem(f"{_SPECS[name].label}: {errors[0]}", option=name)
        values = self.cleaned_data
        if values.get("max_rejects") == NONE:
            return Options(**values).without_limit()
        return Options(**values)

    def show(self, plan: ImportPlan | None, problem: Problem | None) -> "OptionsForm":
        """The form with what the plan made of it, and with the problem at its field."""
        self.plan = plan
        if problem and problem.option in self.fields and not self.has_error(problem.option):
            self.add_error(problem.option, f"{problem.what} {problem.advice}".strip())
        return self

    def group(self, group: Group) -> list[OptionInput]:
        """The options of a group, as far as the page shows them."""
        return [self[name] for name in self.fields if _SPECS[name].group is group and self._shown(name)]

    def _shown(self, name: str) -> bool:
        """Whether the page shows the field: the rows of a statement, only if the plan or the user makes statements."""
        if name != "rows_per_statement" or self.data["method"] != AUTO or self.data[name]:
            return True
        return bool(self.plan and METHODS[self.plan.statements.method].inserts)

    @property
    def groups(self) -> dict[str, list[OptionInput]]:
        """The options of each group, by its name in lower case."""
        return {each.name.lower(): self.group(each) for each in Group}

    @property
    def in_trouble(self) -> set[str]:
        """The groups with an error, by their names in lower case."""
        return {_SPECS[name].group.name.lower() for name in self.errors if name in _SPECS}

    @property
    def chosen(self) -> dict[str, int]:
        """How many options of each group are not at their defaults, the mode aside, by its name in lower case."""
        return {name: sum(not each.usual for each in some if each.name != "mode") for name, some in self.groups.items()}

    @property
    def defaults(self) -> str:
        """The value of the button that sets all of them to their defaults; "" if they are."""
        chosen = [each for some in self.groups.values() for each in some if not each.usual and each.name != "mode"]
        return json.dumps({each.html_name: each.default for each in chosen}) if chosen else ""

    @property
    def speed_in_short(self) -> str:
        """The plan's choices for the most important settings of speed; the file's own order is not mentioned."""
        return " · ".join(self._in_short())

    def _in_short(self) -> Iterator[str]:
        if self.plan:
            reasons, silent = self.plan.reasons, set() if self.plan.sorted_by else {"sort"}
            for name in IN_SHORT:
                yield from (each.choice for each in reasons if each.option == name and name not in silent)


_SPECS = {spec.name: spec for spec in OPTIONS}
