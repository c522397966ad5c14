"""The form fields of a new lab's sample, rounds and limits."""

from collections.abc import Mapping

from django import forms
from django.core.exceptions import ValidationError

from dashboard.fields.option_values import OptionField
from importer.engine.errors import Problem
from importer.engine.plan.option_kinds import Number, Percent, Size
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.sampling import Sample
from importer.engine.units import GIB, short_size
from importer.lab.commands import MOST_REPEATS, REPEATS

MOST_ROWS = 10**12
ANY_SIZE = Size(1, 2**63)
USUAL_DISK = short_size(10 * GIB)
USUAL = {
    "sample": "rows",
    "share": "5",
    "repeats": str(REPEATS),
    "minutes": "10",
    "target_disk": USUAL_DISK,
    "disk": USUAL_DISK,
}
# The field that has the amount of each kind of sample, with the words for that kind.
SAMPLES = {"rows": "The first rows", "share": "Ranges taken evenly from the whole file"}
# What comes of several rounds, and of one (importer/engine/tuning/finals.py).
VERDICT = "The best few run again after these, as often as a verdict needs."
OVERVIEW = "One gives an overview; two or more can give a verdict."
# The fields that the page shows only on request.
MORE = ("most_rows", "target_disk", "disk", "schema", "during_imports")


def _input(**attrs: str) -> forms.TextInput:
    return forms.TextInput({"class": "form-control", "spellcheck": "false", **attrs})


def _whole(most: int, label: str, help_text: str = "", **attrs: str) -> OptionField:
    """A field for a whole number from 1 to `most`."""
    widget = _input(inputmode="numeric", **attrs)
    return OptionField(Number(1, most), label=label, help_text=help_text, widget=widget)


class AmountsForm(forms.Form):
    """How much a lab loads, how often, and what it may take. A name that was not sent has its default.

    The form has only that one of `rows` and `share` that the kind of sample needs.
    """

    sample = forms.ChoiceField(
        choices=tuple(SAMPLES.items()), widget=forms.RadioSelect({"class": "form-check-input"}), label="Sample"
    )
    rows = _whole(MOST_ROWS, "First rows", **{"aria-label": "How many first rows"})
    share = OptionField(
        Percent(), label="Share", widget=_input(inputmode="decimal", **{"aria-label": "Percent of the file"})
    )
    repeats = _whole(
        MOST_REPEATS,
        "Rounds that count",
        "Each has every combination once, after a round that only warms up.",
    )
    minutes = _whole(
        10**5,
        "At most, in minutes",
        "No trial begins that would end later; the result then names what was left out.",
        placeholder="no limit",
    )
    most_rows = _whole(10**15, "Most rows in all", placeholder="no limit")
    target_disk = OptionField(ANY_SIZE, label="Most bytes of a scratch table", widget=_input(placeholder="no limit"))
    disk = OptionField(ANY_SIZE, label="Most bytes of the sample here", widget=_input(placeholder="no limit"))
    schema = forms.CharField(label="Schema of scratch tables", required=False, widget=_input())
    during_imports = forms.BooleanField(
        label="Run trials while imports run",
        required=False,
        widget=forms.CheckboxInput({"class": "form-check-input", "value": "yes"}),
        help_text="Otherwise the lab waits while an import has this target. Together with an import, trials slow it"
        " down and measure only what it leaves, so their figures may be useless.",
    )

    def __init__(self, values: Mapping[str, str], suggested: int, schema: str = "") -> None:
        """`suggested`: the first rows that a trial needs to take some seconds. `schema`: that of the table."""
        sent = {name: values[name] for name in self.base_fields if name in values}
        # Rows that the page suggested, and nobody changed, follow the choice of another grid.
        if sent.get("rows") and sent["rows"] == values.get("rows_suggested"):
            del sent["rows"]
        if sent.get("sample") not in SAMPLES:
            sent["sample"] = USUAL["sample"]
        super().__init__({**USUAL, "rows": str(suggested), **sent}, auto_id="lab-%s")
        self._suggested = suggested
        for unused in SAMPLES.keys() - {self.data["sample"]}:
            del self.fields[unused]
        if not self.has_error("repeats"):
            self["repeats"].help_text += f" {VERDICT if self.rounds > 1 else OVERVIEW}"
        self.fields["schema"].widget.attrs["placeholder"] = schema
        for name in self.errors:
            self._mark(name)

    def _mark(self, name: str) -> None:
        self.fields[name].widget.attrs["class"] += " is-invalid"

    def clean_share(self) -> float:
        share: float | None = self.cleaned_data["share"]
        if share:
            return share
        raise ValidationError(f"{self.data['share']!r} percent cannot be taken. Give more than 0, and at most 100.")

    def show(self, problem: Problem | None) -> "AmountsForm":
        """The form with a problem of the lab at its field, if it has that field."""
        if problem and problem.option in self.fields and not self.has_error(problem.option):
            self.add_error(problem.option, f"{problem.what} {problem.advice}".strip())
            self._mark(problem.option)
        return self

    def check(self) -> None:
        """Raise Problem, with its field as the option, for the first invalid value."""
        for name, errors in self.errors.items():
            raise Problem(f"{self.fields[name].label}: {errors[0]}", option=name)

    # What the values mean; the form must be valid.

    @property
    def requested_sample(self) -> Sample:
        """What every trial loads: a share of the file, or its first rows."""
        if share := self.cleaned_data.get("share"):
            return Sample(share=share / 100)
        return Sample(rows=self.cleaned_data["rows"] or self._suggested)

    @property
    def rounds(self) -> int:
        """The rounds of trials that count."""
        return self.cleaned_data["repeats"] or REPEATS

    @property
    def budget(self) -> Budget:
        """The limits of the lab."""
        minutes: int | None = self.cleaned_data["minutes"]
        return Budget(
            seconds=minutes * 60 if minutes else None,
            rows=self.cleaned_data["most_rows"],
            target_bytes=self.cleaned_data["target_disk"],
            local_bytes=self.cleaned_data["disk"],
        )

    # What the page shows.

    @property
    def suggested(self) -> str:
        """The first rows as suggested."""
        return str(self._suggested)

    @property
    def amount(self) -> forms.BoundField:
        """The field of the chosen kind of sample."""
        return self[self.data["sample"]]

    @property
    def more(self) -> list[forms.BoundField]:
        """The limits that the page shows on request, without the check box."""
        return [self[name] for name in MORE if name != "during_imports"]

    @property
    def opens_more(self) -> bool:
        """Whether a field of MORE differs from its default or is invalid."""
        return any(self.has_error(name) or self.data.get(name, "") != USUAL.get(name, "") for name in MORE)
