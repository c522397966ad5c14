"""The form of a new lab: its values, and the lab request that they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dashboard.lab.amounts import AmountsForm
from dashboard.lab.grids import FIRST, OFFERS, OWN, Offer, offered
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.tuning.grid import Grid, Value
from importer.engine.tuning.value_syntax import read_values, write_values
from importer.engine.units import short_size
from importer.lab import LabRequest
from importer.models import ImportJob, Lab

# Seeds of the trial order are below this. A hidden field keeps the seed, so the order stays while the page is edited.
SEEDS = 2**31


@dataclass(frozen=True)
class LabForm:
    """The form's values; a name that the form did not send means the default."""

    values: Mapping[str, str]

    def text(self, name: str, usual: str = "") -> str:
        return self.values.get(name, usual).strip()

    @cached_property
    def job(self) -> ImportJob | None:
        """The past import to base the lab on."""
        text = self.text("job")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return seen(ImportJob.objects.select_related("target", "source")).filter(pk=int(text), trial=None).first()

    @property
    def offer(self) -> Offer:
        return offered(self.text("grid", FIRST))

    def written(self, name: str) -> str:
        """The text of the field with the values of a setting of the chosen grid."""
        if self.offer.name == OWN:
            return self.text(f"set_{name}", "" if self._has_values else offered(FIRST).written(name))
        shown = self.text("grid_shown", self.offer.name) == self.offer.name
        return self.text(f"set_{name}", self.offer.written(name)) if shown else self.offer.written(name)

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has chosen yet what to try."""
        return "grid" not in self.values and not self._has_values

    @property
    def _has_values(self) -> bool:
        """Whether the form has values of settings: the own mix begins with them, or else with the first grid's."""
        return any(name.startswith("set_") for name in self.values)

    def read(self) -> dict[str, tuple[Value, ...]]:
        """The values to try, by setting. Raises Problem, with the setting as its option, for an invalid value."""
        entered = {name: read_values(name, self.written(name)) for name in self.offer.settings}
        entered = {name: values for name, values in entered.items() if values}
        if not entered:
            raise Problem("Nothing is to be tried.", advice="Write values for one setting at least.", option="grid")
        return entered

    @property
    def shown_grid(self) -> Grid:
        """The chosen grid with the values of the form, or with its default values while one of these is invalid."""
        try:
            return self.offer.grid(self.read())
        except Problem:
            return self.offer.grid(self.offer.values)

    def lab_request(self, amounts: AmountsForm, offer: Offer | None = None) -> LabRequest:
        """The whole request; with `offer`, of that grid with its default values. Raises Problem with its option."""
        values = dict(offer.values) if offer else self.read()
        amounts.check()
        given: dict[str, Any] = {"seed": int(self.text("seed"))} if self._has_seed else {}
        return LabRequest(
            (offer or self.offer).grid(values),
            amounts.requested_sample,
            amounts.rounds,
            amounts.budget,
            amounts.cleaned_data["schema"],
            amounts.cleaned_data["during_imports"],
            **given,
        )

    @property
    def _has_seed(self) -> bool:
        text = self.text("seed")
        return text.isascii() and text.isdigit() and len(text) < 11 and int(text) < SEEDS


def form_of_lab(lab: Lab) -> LabForm:
    """The form filled in with the settings of an existing lab."""
    sample, budget, grid = lab.requested_sample, lab.budget, lab.grid
    basis = {"job": str(lab.of_job_id)} if lab.of_job_id else {}
    if lab.source and not basis:
        basis = {"source": str(lab.source.key), "target": str(lab.target_id), "table": lab.table}
    name = grid.name if grid.name in {each.name for each in OFFERS} else OWN
    amount = {"sample": "rows", "rows": str(sample.rows)} if sample.rows else {"sample": "share", "share": ""}
    if sample.share:
        amount["share"] = f"{sample.share * 100:g}"
    if name != OWN and set(grid.values) != set(offered(name).settings):
        name = OWN
    return LabForm(
        {
            **basis,
            **amount,
            "grid": name,
            "grid_shown": name,
            **{f"set_{key}": write_values(key, values) for key, values in grid.values.items()},
            "repeats": str(lab.repeats),
            "minutes": str(round(budget.seconds / 60) or 1) if budget.seconds else "",
            "most_rows": str(budget.rows or ""),
            "target_disk": short_size(budget.target_bytes) if budget.target_bytes else "",
            "disk": short_size(budget.local_bytes) if budget.local_bytes else "",
            "schema": "" if lab.scratch_schema == lab.schema_name else lab.scratch_schema,
            **({"during_imports": "yes"} if lab.during_imports else {}),
        }
    )
