"""What a lab amounts to: its figures, ranked, and what to import with. Changes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.contrib.auth.models import User

from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.engine.tuning.grid import Settings, changes, with_settings, words
from importer.engine.tuning.ranking import Measured, rank
from importer.engine.tuning.recommendation import Recommendation, recommend
from importer.engine.tuning.rounds import WARM_UP
from importer.models import Lab, MappingPreset, Trial
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, prepare

State = Trial.Status


def outcome(lab: Lab) -> dict[str, Any]:
    """What `lab show --json` prints: a contract. Filled in while the lab runs. Rates are rows per second."""
    trials = list(lab.trials.all())
    measured = measured_of(trials)
    advice = _advice(lab, measured)
    return {
        "lab": lab.pk,
        "status": lab.status,
        "grid": lab.grid_json,
        "file": lab.source_name,
        "target": lab.target.name,
        "table": lab.table,
        "sample": {"asked": str(lab.requested_sample), "rows": lab.sample_rows, "bytes": lab.sample_bytes},
        "repeats": lab.repeats,
        "seed": lab.seed,
        "budget": lab.budget_json,
        "waits_for": lab.waits_for,
        "running": _running(trials, lab),
        "trials": {state: sum(each.status == state for each in trials) for state in State.values},
        "ranking": [
            {
                "settings": lab.combinations[each.measured.combination],
                "words": words(lab.combinations[each.measured.combination]),
                "planned": each.measured.combination == planned_number(lab),
                "median": each.measured.median,
                "quartiles": each.measured.quartiles,
                "rates": each.measured.rates,
                "failed": each.measured.failed,
                "final": each.measured.final,
                "of_best": each.of_best,
                "chance": each.behind,
            }
            for each in rank(measured)
        ],
        "failed": _not_tried(lab, trials, State.FAILED),
        "left_out": [*lab.left_out_json, *_not_tried(lab, trials, State.LEFT_OUT)],
        "recommendation": asdict(advice) if advice else None,
        "caveats": _caveats(lab, advice),
        "options": to_json(options_of(lab)) if advice else None,
        "problem": lab.problem or None,
    }


def _running(trials: Sequence[Trial], lab: Lab) -> dict[str, Any] | None:
    """The trial that runs now."""
    running = next((each for each in trials if each.status == State.RUNNING), None)
    if not running:
        return None
    return {"trial": running.number, "round": running.round, "words": words(lab.combinations[running.combination])}


def planned_number(lab: Lab) -> int:
    """The number of the combination that would be done without the lab."""
    return next(n for n, each in enumerate(lab.combinations) if not changes(each, lab.planned_json))


def whole(lab: Lab, settings: Settings) -> Settings:
    """The planned combination, which names nothing, with the values that it has; the others as they are."""
    varied = {name: lab.planned_json.get(name) for name in lab.grid.values}
    return settings or {name: value for name, value in varied.items() if value is not None}


def options_of(lab: Lab) -> Options:
    """How to import the file by the lab's advice: as was asked for, with the settings that it recommends.

    Raises Problem if it recommends nothing (yet).
    """
    return with_settings(lab.options, _advised(lab))


def options_to_apply(lab: Lab) -> Options:
    """The same for doing the import again that the lab began with: in its mode.

    Raises Problem as options_of() does.
    """
    advised = options_of(lab)
    if not lab.of_job:
        return advised
    before = lab.of_job.options
    return replace(advised, mode=before.mode, load_as=before.load_as)


def save_preset(lab: Lab, name: str, user: User | None = None) -> MappingPreset:
    """Keep how such files are to be imported by the lab's advice.

    Raises Problem as options_of() and presets.save() do, and if file or table are no longer there.
    """
    if lab.source is None:
        raise Problem("The file is no longer known here.", lab.source_name, "Save the preset from an import of it.")
    prepared = prepare(
        lab.source,
        lab.target,
        lab.table,
        ImportRequest(dialect=lab.file_dialect, mapping=lab.mapping, fillings=lab.fillings, options=options_of(lab)),
    )
    return presets.save(name, prepared, user)


def _advised(lab: Lab) -> Settings:
    advice = _advice(lab, measured_of(list(lab.trials.all())))
    if not advice:
        raise Problem(f"{lab} has measured nothing yet.", advice="Wait until its first round is through.")
    return advice.settings


def _advice(lab: Lab, measured: Sequence[Measured]) -> Recommendation | None:
    if lab.experiment:
        return None  # It is about a server, and about a file that nobody has.
    return recommend([whole(lab, each) for each in lab.combinations], measured, planned_number(lab))


def measured_of(trials: Sequence[Trial]) -> list[Measured]:
    """The figures of each combination, without those of the warm-up round."""
    counted = [each for each in trials if each.round != WARM_UP]
    return [
        Measured(
            number,
            tuple(each.rows_per_second or 0 for each in own if each.status == State.DONE and each.rows_per_second),
            sum(each.status == State.FAILED for each in own),
            any(each.final and each.status != State.LEFT_OUT for each in own),
        )
        for number in sorted({each.combination for each in counted})
        if (own := [each for each in counted if each.combination == number])
    ]


def _not_tried(lab: Lab, trials: Sequence[Trial], state: str) -> list[dict[str, Any]]:
    """Each combination with trials in that state: how many, and why (the first one's reason)."""
    found: dict[int, list[Trial]] = {}
    for each in trials:
        if each.status == state:
            found.setdefault(each.combination, []).append(each)
    return [
        {
            "settings": lab.combinations[number],
            "words": words(lab.combinations[number]),
            "trials": len(own),
            "why": own[0].problem.get("what", ""),
        }
        for number, own in sorted(found.items())
    ]


def _caveats(lab: Lab, advice: Recommendation | None) -> list[str]:
    """What the figures do not show, in sentences."""
    said = [f"Measured with {lab.sample_rows:,} rows in an empty table; a longer load, or a fuller table, may differ."]
    if advice:
        said += _of_deferred_keys(lab, advice.settings)
    if "partitions" in lab.grid.values:
        said.append("Partitions are the table's: no import changes those of a table that is there.")
    if lab.beside_imports:
        said.append("Imports may have run beside the trials.")
    return said


def _of_deferred_keys(lab: Lab, settings: Settings) -> Iterator[str]:
    """Where keys that come off the scratch tables stay on (engine/planner/decisions/index_deferral.py)."""
    chosen = {**lab.planned_json, **settings}
    mode = (lab.of_job or lab).options.mode
    if "defer" not in (chosen.get("indexes"), chosen.get("foreign_keys")):
        return
    if mode == "append":
        yield (
            "Keys come off only a table that is empty: as long as it has rows, mode append leaves them on and is"
            " slower than this. Mode replace, where the table allows it, loads into an empty one beside it."
        )
    elif mode in ("atomic", "upsert"):
        yield f"Mode {mode} leaves the keys on, since its last step needs them: deferring them changes nothing there."
