"""Creates the trials of a lab in their order: all rounds at the beginning, the finals after these."""

from collections.abc import Sequence

from django.db import transaction

from importer.engine.errors import Cancelled
from importer.engine.tuning.finals import finalists, is_choice
from importer.engine.tuning.rounds import Turn, final_turns
from importer.lab.results import measured_of, planned_number
from importer.lab.transitions import change_held
from importer.models import Lab, Trial


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
