"""Finds combinations that have turned out to do the same, as all sizes above that of the sample do: they are one trial.

Most are found before anything runs (dry_plan.py). What only the imports show, after the warm-up round, is compared here
in the same way. Only one of such combinations continues: the planned one, or else the first.
"""

from importer.engine.tuning.effective_plan import effective_key
from importer.engine.tuning.rounds import WARM_UP
from importer.lab.dry_plan import why_same
from importer.lab.results import planned_number
from importer.models import ImportJob, Lab, Trial

# The key in a trial's timings: the effect of its import.
EFFECT = "effect"


def effect_of(job: ImportJob, trial: Trial) -> str:
    """A digest of the effect of the import of a trial; "" without chunks."""
    chunks = [each.range for each in job.chunks.order_by("number")]
    return effective_key(job.plan, chunks, trial.settings.get("partitions")) if chunks else ""


def same_as(lab: Lab) -> dict[int, int]:
    """For each combination that did the same as another, the number of the one that continues for both."""
    if lab.experiment:
        return {}
    planned, leaders, same = planned_number(lab), dict[str, int](), dict[int, int]()
    done = lab.trials.filter(round=WARM_UP, status=Trial.Status.DONE)
    for trial in sorted(done, key=lambda each: (each.combination != planned, each.combination)):
        if effect := trial.timings.get(EFFECT):
            leader = leaders.setdefault(effect, trial.combination)
            if leader != trial.combination:
                same[trial.combination] = leader
    return same


def why_left_out(lab: Lab, trial: Trial) -> str:
    """Why a trial after the warm-up is left out: another combination stands for it; "" if it is not."""
    leader = None if trial.round == WARM_UP else same_as(lab).get(trial.combination)
    return "" if leader is None else why_same(trial.settings, lab.combinations[leader], lab.planned_json)
