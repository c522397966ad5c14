"""The page of a new lab: what to load, what to try, and the expected cost, shown before anything starts."""

import secrets
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.lab.amounts import AmountsForm
from dashboard.lab.form import SEEDS, LabForm, form_of_lab
from dashboard.lab.grids import OFFERS, OWN, Offer
from dashboard.lab.labels import label
from dashboard.lab.load_form import Loadable, LoadForm
from dashboard.new_import.form import NewImportForm
from dashboard.new_import.preview import Preview, read_preview
from dashboard.new_import.stated_fields import restored
from importer import lab
from importer.access import audit
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.plan.option_specs import named
from importer.engine.tuning.grid import words
from importer.models import ImportJob, Lab, SourceFile, Target
from importer.preparation import presets
from importer.preparation.prepare import PreparedImport
from importer.sources import uploads
from importer.worker.hosts import presence

JOBS_SHOWN = 20
FILES_SHOWN = 50
# A trial that loads for a shorter time measures mostly its own start.
LEAST_SECONDS = 1


@dataclass(frozen=True)
class Card:
    """A grid to choose: its expected cost with its default values, or why it is useless for this table.

    `alike` says that its default values give the same plan on this sample; others may not.
    """

    offer: Offer
    chosen: bool
    expected: lab.LabEstimate | None
    why_not: str
    alike: str = ""


@dataclass(frozen=True)
class GridSetting:
    """A setting of the chosen grid, with the text of its field, a hint and the problem with it.

    `ticks`: its values, each with the text that stands for it, its words, and whether it is chosen; none: it is
    entered as text.
    """

    name: str
    label: str
    text: str
    hint: str
    problem: Problem | None

    @property
    def ticks(self) -> list[tuple[str, str, bool]]:
        spec, chosen = named(self.name), [each.strip() for each in self.text.split(",")]
        texts = [*spec.kind.ticks, *(each for each in chosen if each == "auto")] if spec.kind.ticks else []
        return [(each, spec.shown(spec.kind.read(each)), each in chosen) for each in texts]


@dataclass
class LabPreview:
    """The lab as far as it can be planned: everything up to the first problem."""

    choices: LabForm
    source: SourceFile | None = None
    source_preview: Preview | None = None
    prepared: PreparedImport | None = None
    amounts: AmountsForm | None = None
    requested: lab.LabRequest | None = None
    expected: lab.LabEstimate | None = None
    problem: Problem | None = None
    cards: list[Card] = field(default_factory=list)

    @property
    def short_trial(self) -> float | None:
        """The seconds in which a trial loads the sample, if they are too few to tell settings apart; else None."""
        expected = self.expected
        seconds = expected.sample_rows / expected.rate if expected and expected.rate else None
        return seconds if seconds is not None and seconds < LEAST_SECONDS else None

    @property
    def untouched(self) -> list[GridSetting]:
        """The settings of an own mix without a value: they stay as planned."""
        return [each for each in self.tried if self._is_untouched(each)]

    @property
    def touched(self) -> list[GridSetting]:
        return [each for each in self.tried if not self._is_untouched(each)]

    def _is_untouched(self, setting: GridSetting) -> bool:
        return self.choices.offer.name == OWN and not setting.text and not setting.problem

    @property
    def tried(self) -> list[GridSetting]:
        problem = self.problem
        return [
            GridSetting(
                name,
                label(name),
                self.choices.written(name),
                named(name).examples,
                problem if problem and problem.option == name else None,
            )
            for name in self.choices.offer.settings
        ]

    @property
    def short_problem(self) -> str:
        """The first sentence of the problem, for the bar at the bottom."""
        return self.problem.what.partition(". ")[0].removesuffix(".") + "." if self.problem else ""

    @property
    def left_out(self) -> list[tuple[str, list[str]]]:
        """The combinations that are left out, in words, by the reason."""
        by_reason: dict[str, list[str]] = {}
        for each in self.expected.left_out if self.expected else []:
            by_reason.setdefault(str(each["why"]), []).append(words(each["settings"]))
        return list(by_reason.items())


@require_http_methods(["GET", "HEAD", "POST"])
def lab_new(request: HttpRequest) -> HttpResponse:
    """Show the form (GET), or start the lab (POST); a problem is shown on the page.

    A GET may choose `?job=`, `?source=` with target and table, or `?lab=` for a copy of a lab.
    """
    preview = _preview(_choices(request), request.user)
    if request.method == "POST" and preview.prepared and preview.requested and not preview.problem:
        try:
            created = lab.create(preview.prepared, preview.requested, cast(User, request.user), preview.choices.job)
        except Problem as problem:
            preview.problem = problem
        else:
            audit.about(created)
            lab.start(created.pk)
            return redirect("lab", pk=created.pk)
    return _page(request, preview)


def _choices(request: HttpRequest) -> LabForm:
    if request.method == "POST":
        return LabForm(_values(request.POST))
    text = request.GET.get("lab", "")
    if text.isascii() and text.isdigit() and len(text) < 19:
        like = get_object_or_404(seen(Lab.objects.select_related("source")), pk=int(text))
        if like.experiment:
            raise Http404("An experiment has no settings to fill in.")
        return form_of_lab(like)
    return LabForm(_values(request.GET))


def _values(sent: QueryDict) -> dict[str, str]:
    """The last value of each name; of a setting, all its ticked values with commas between."""
    ticked = {name: ", ".join(filter(None, texts)) for name, texts in sent.lists() if name.startswith("set_")}
    return {**{name: str(sent[name]) for name in sent}, **ticked}


def _preview(choices: LabForm, user: User | AnonymousUser) -> LabPreview:
    """Plan the import and estimate the cost of the lab; stops at the first Problem, which the preview keeps."""
    preview = LabPreview(choices)
    try:
        _prepare(preview, user)
        if preview.prepared:
            suggested = lab.suggest_sample(preview.prepared, choices.shown_grid)
            preview.amounts = AmountsForm(choices.values, suggested, preview.prepared.table.schema)
            rate = lab.rate_of(preview.prepared)
            preview.cards = [_card(preview, offer, preview.prepared, preview.amounts, rate) for offer in OFFERS]
            if choices.is_fresh:
                _choose_useful(preview)
            preview.requested = preview.choices.lab_request(preview.amounts)
            preview.expected = lab.estimate(preview.prepared, preview.requested, choices.job, rate)
    except Problem as problem:
        preview.problem = uploads.with_file_name(problem, preview.source) if preview.source else problem
    return preview


def _choose_useful(preview: LabPreview) -> None:
    """Choose the first grid that finds something out here, if any does."""
    useful = (card.offer for card in preview.cards if card.expected and not card.why_not)
    if offer := next(useful, None):
        preview.choices = LabForm({**preview.choices.values, "grid": offer.name})
        preview.cards = [replace(card, chosen=card.offer == offer) for card in preview.cards]


def _prepare(preview: LabPreview, user: User | AnonymousUser) -> None:
    job = preview.choices.job
    if job:
        preview.source = job.source
        preview.prepared = lab.prepare_again(job)
        return
    key = _uuid(preview.choices.text("source"))
    ready = uploads.importable_by(user).filter(status=SourceFile.Status.READY)
    preview.source = ready.filter(key=key).first() if key else None
    if not preview.source:
        return
    preview.source_preview = read_preview(preview.source, _import_choices(preview.choices, preview.source))
    preview.prepared, preview.problem = preview.source_preview.prepared, preview.source_preview.problem
    if preview.prepared and preview.source_preview.choices.preset:
        presets.check_header(preview.source_preview.choices.preset, preview.prepared.profile.header)


def _import_choices(choices: LabForm, source: SourceFile) -> NewImportForm:
    """The import form of the file: the choices stored from its own page, with the table that is chosen here."""
    here = {name: choices.text(name) for name in ("target", "table", "preset") if choices.text(name)}
    return NewImportForm({**restored(source.choices), **here, "mode": "append"})


def _card(
    preview: LabPreview, offer: Offer, prepared: PreparedImport, amounts: AmountsForm, rate: float | None
) -> Card:
    chosen, choices = offer == preview.choices.offer, preview.choices
    if offer.name == OWN:
        return Card(offer, chosen, None, "")
    try:
        expected = lab.estimate(prepared, choices.lab_request(amounts, offer), choices.job, rate)
    except Problem as problem:
        if problem.option == "grid":
            return Card(offer, chosen, None, "", f"{problem.what.partition('.')[0]}.")
        return Card(offer, chosen, None, "" if problem.option else problem.what)
    return Card(offer, chosen, expected, offer.why_not(expected.tried, expected.left_out))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _page(request: HttpRequest, preview: LabPreview) -> HttpResponse:
    values = preview.choices
    context = {
        "preview": preview,
        "problem": preview.problem,
        "load_form": _load_form(request, preview),
        "amounts": preview.amounts.show(preview.problem) if preview.amounts else None,
        "seed": values.text("seed") or secrets.randbelow(SEEDS),
        # A function: it runs only if the template uses it.
        "loads_at_once": partial(presence.parallel_loads, preview.prepared.target.label if preview.prepared else ""),
    }
    # A GET of an incomplete form is no error.
    status = 422 if preview.problem and request.method == "POST" else 200
    return render(request, "lab/new.html", context, status=status)


def _load_form(request: HttpRequest, preview: LabPreview) -> LoadForm:
    """The fields of what is loaded, with what may be chosen and what is."""
    with_file = ImportJob.objects.filter(trial=None).exclude(source__status=SourceFile.Status.REMOVED)
    succeeded = seen(with_file).select_related("source", "target").filter(status=ImportJob.Status.SUCCEEDED)
    files = uploads.importable_by(request.user).filter(status=SourceFile.Status.READY).order_by("-pk")
    shown = preview.source_preview
    offered = Loadable(
        jobs=list(succeeded.order_by("-pk")[:JOBS_SHOWN]),
        files=list(files[:FILES_SHOWN]),
        presets=presets.for_header(shown.profile.header) if shown and shown.profile else [],
        targets=list(seen(Target.objects.registered().order_by("name"))),
    )
    chosen = {
        "job": preview.choices.job,
        "source": None if preview.choices.job else preview.source,
        "preset": shown.choices.preset if shown else None,
        "target": shown.target if shown else None,
        "table": shown.table_name if shown else "",
    }
    return LoadForm(offered, chosen)
