"""Creates the trials of a lab in their order: all rounds at the beginning, the finals after these.

Trials of combinations that do the same, as all sizes above that of the sample do, are one trial. Most are found before
anything runs (dry_plan.py). What only the imports show, after the warm-up round, is compared here in the same way. Only
one of such combinations continues: the planned one, or else the first.
"""

from collections.abc import Sequence

from django.db import transaction

from importer.engine.errors import Cancelled
from importer.engine.tuning.effective_plan import effective_key
from importer.engine.tuning.finals import finalists, is_choice
from importer.engine.tuning.rounds import WARM_UP, Turn, final_turns
from importer.lab.dry_plan import why_same
from importer.lab.results import measured_of, planned_number
from importer.lab.transitions import change_held
from importer.models import ImportJob, Lab, Trial

# The key in a trial's timings: the effect of its import.
EFFECT = "effect"


def lay_out(lab: Lab, turns: Sequence[Turn]) -> None:
    """Create a trial for each turn, numbered after the existing ones."""
    present = lab.trials.count()
    Trial.objects.bulk_create(
        Trial(lab=lab, number=number, round=turn.round, combination=turn.combination)
        for number, turn in enumerate(turns, start=present + 1)
    )


def lay_out_finals(lab: Lab) -> bool:
    """Create the trials of the finals, unless they exist or there are no finalists. Returns whether it created any.

    Raises Cancelled if the lab is no longer wanted.
    """
    so_far = list(lab.trials.all())
    measured = measured_of(so_far, lab.repeats)
    again = finalists(measured, planned_number(lab))
    if not again or any(each.final for each in so_far):
        return False
    following = final_turns(again, lab.repeats, lab.seed, chosen=is_choice(again, measured))
    with transaction.atomic():
        if not change_held(lab):
            raise Cancelled("The lab is no longer wanted.", where=str(lab))
        lay_out(lab, following)
    return bool(following)


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
