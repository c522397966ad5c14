"""The results of a lab: ranked rates and the recommended options. Changes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.contrib.auth.models import User

from importer.engine.errors import Problem, problem_values
from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.engine.tuning.finals import is_choice
from importer.engine.tuning.grid import WAY, Settings, changes, with_settings, words
from importer.engine.tuning.ranking import Measured, rank
from importer.engine.tuning.recommendation import Recommendation, recommend
from importer.engine.tuning.rounds import WARM_UP
from importer.engine.units import count_of
from importer.models import Lab, MappingPreset, Trial
from importer.preparation import presets
from importer.preparation.like import options_again
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest

State = Trial.Status
# What a recommended setting gives up for its speed.
GIVEN_UP: dict[tuple[str, Any], str] = {
    ("unique_checks", False): (
        "With unique checks off, a server with a change buffer can store duplicates in unique keys other than the"
        " primary one; the plan then shows the query that finds them."
    ),
    ("foreign_key_checks", False): (
        "With foreign key checks off, rows without a parent are stored, and nothing checks them later."
    ),
    ("foreign_keys", "defer"): (
        "Deferred foreign keys are checked after the load: if rows have no parent, the import fails then, and they stay"
        " in the table."
    ),
}


def outcome(lab: Lab) -> dict[str, Any]:
    """What `lab show --json` prints (a contract). It fills up while the lab runs. Rates are rows per second."""
    trials = list(lab.trials.all())
    measured = measured_of(trials, lab.repeats)
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
                "difference": "" if place == 0 else each.difference,
                "to_planned": asdict(each.ratio) if each.ratio else None,
            }
            for place, each in enumerate(rank(() if lab.experiment else measured, planned_number(lab)))
        ],
        "ways": _ways(lab, measured) if lab.experiment else [],
        "failed": _not_tried(lab, trials, State.FAILED),
        "left_out": [*lab.left_out_json, *_not_tried(lab, trials, State.LEFT_OUT)],
        "recommendation": asdict(advice) if advice else None,
        "caveats": _caveats(lab, advice),
        "options": to_json(options_of(lab)) if advice else None,
        "problem": problem_values(lab.problem) if lab.problem else None,
    }


def _ways(lab: Lab, measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """The ways of an experiment with their rates so far. They have no rank: not all of them do the same."""
    rates = {each.combination: each.rates for each in measured}
    return [
        {"way": str(each[WAY]), "rates": list(rates.get(number, ()))} for number, each in enumerate(lab.combinations)
    ]


def _running(trials: Sequence[Trial], lab: Lab) -> dict[str, Any] | None:
    """The trial that runs now."""
    running = next((each for each in trials if each.status == State.RUNNING), None)
    if not running:
        return None
    return {"trial": running.number, "round": running.round, "words": words(lab.combinations[running.combination])}


def planned_number(lab: Lab) -> int:
    """The number of the combination that is planned without the lab."""
    return next(n for n, each in enumerate(lab.combinations) if not changes(each, lab.planned_json))


def whole(lab: Lab, settings: Settings) -> Settings:
    """A combination with all its values: the planned one, which is stored empty, gets the planned values."""
    varied = {name: lab.planned_json.get(name) for name in lab.grid.values}
    return settings or {name: value for name, value in varied.items() if value is not None}


def options_of(lab: Lab) -> Options:
    """The options for importing the file: the requested ones with the lab's recommended settings.

    Raises Problem if the lab recommends nothing (yet).
    """
    return with_settings(lab.options, _advised(lab))


def options_to_apply(lab: Lab) -> Options:
    """The recommended options for repeating the import that the lab was started from, in the mode of a repetition.

    Raises Problem as options_of() does.
    """
    before = _options_before(lab)
    return replace(options_of(lab), mode=before.mode)


def _options_before(lab: Lab) -> Options:
    """The options for repeating the import that the lab was started from; the lab's own if it was not."""
    return options_again(lab.of_job) if lab.of_job else lab.options


def save_preset(lab: Lab, name: str, user: User | None = None) -> MappingPreset:
    """Save a preset with the recommended options.

    Raises Problem as options_of() and presets.save() do, and if the file or the table is gone.
    """
    if lab.source is None:
        raise Problem("The file is no longer known here.", lab.source_name, "Save the preset from an import of it.")
    prepared = prepare(lab.source, lab.target, lab.table, ImportRequest.like(lab, options=options_of(lab)))
    return presets.save(name, prepared, user)


def _advised(lab: Lab) -> Settings:
    advice = _advice(lab, measured_of(list(lab.trials.all()), lab.repeats))
    if not advice:
        raise Problem(f"{lab} has measured nothing yet.", advice="Wait until its first round is through.")
    return advice.settings


def _advice(lab: Lab, measured: Sequence[Measured]) -> Recommendation | None:
    if lab.experiment:
        return None  # An experiment measures a server with generated files.
    return recommend([whole(lab, each) for each in lab.combinations], measured, planned_number(lab))


def measured_of(trials: Sequence[Trial], repeats: int) -> list[Measured]:
    """The measured rates of each combination, without the warm-up round; `repeats` rounds come before the finals."""
    counted = [each for each in trials if each.round != WARM_UP]
    measured = [
        _measured(number, [each for each in counted if each.combination == number])
        for number in sorted({each.combination for each in counted})
    ]
    finalists = [each.combination for each in measured if each.final]
    chosen_after = repeats if finalists and is_choice(finalists, measured) else 0
    return [replace(each, chosen_after=chosen_after) if each.final else each for each in measured]


def _measured(number: int, own: Sequence[Trial]) -> Measured:
    rates = {each.round: each.rows_per_second for each in own if each.status == State.DONE and each.rows_per_second}
    return Measured(
        number,
        tuple(rates.values()),
        sum(each.status == State.FAILED for each in own),
        any(each.final and each.status != State.LEFT_OUT for each in own),
        tuple(rates),
    )


def _not_tried(lab: Lab, trials: Sequence[Trial], state: str) -> list[dict[str, Any]]:
    """Each combination with trials in that state: their number, and the reason of the first one."""
    by_combination: dict[int, list[Trial]] = {}
    for each in trials:
        if each.status == state:
            by_combination.setdefault(each.combination, []).append(each)
    return [
        {
            "settings": lab.combinations[number],
            "words": words(lab.combinations[number]),
            "trials": len(own),
            "why": own[0].problem.get("what", ""),
        }
        for number, own in sorted(by_combination.items())
    ]


def _caveats(lab: Lab, advice: Recommendation | None) -> list[str]:
    """Sentences on what the results do not show."""
    caveats = [
        f"Measured with {count_of(lab.sample_rows, 'row')} in an empty table; a longer load, or a fuller table,"
        " may differ."
    ]
    if advice:
        caveats += (GIVEN_UP[setting] for setting in advice.settings.items() if setting in GIVEN_UP)
        caveats += _about_deferred_keys(lab, advice.settings)
    if "partitions" in lab.grid.values:
        caveats.append(
            "Partitions are set when a table is made. An import into a table that exists leaves them as they are."
        )
        if advice and (number := advice.settings.get("partitions")):
            caveats.append(f"To have {number} of them, change the table first: ALTER TABLE … PARTITIONS {number}.")
    if lab.during_imports:
        caveats.append("Imports may have run during the trials.")
    return caveats


def _about_deferred_keys(lab: Lab, settings: Settings) -> Iterator[str]:
    """Sentences on modes that keep keys which scratch tables drop (engine/planner/decisions/index_deferral.py)."""
    chosen = {**lab.planned_json, **settings}
    mode = _options_before(lab).mode
    if "defer" not in (chosen.get("indexes"), chosen.get("foreign_keys")):
        return
    if mode == "append":
        yield (
            "Keys are dropped only from an empty table: while the table has rows, mode append keeps them and is slower"
            " than measured here. Mode replace, if the table allows it, loads into an empty staging table."
        )
