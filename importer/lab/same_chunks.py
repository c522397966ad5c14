"""Finds combinations that come to the same chunks, as all sizes above that of the sample do: they are one trial.

That is known after the warm-up round. What counts as the same: equal byte ranges, as many of them at the same time, and
equal other settings. Only one of such combinations continues: the planned one, or else the first.
"""

from hashlib import sha256
from typing import Any

from importer.engine.tuning.grid import words
from importer.engine.tuning.rounds import WARM_UP
from importer.lab.results import planned_number, whole
from importer.models import ImportJob, Lab, Trial

# The key in a trial's timings: a digest of the byte ranges of its chunks.
CUT = "cut"
# Settings that decide how a file is cut, and how many chunks load at the same time.
CUTTING = ("chunk_bytes", "parallelism")


def cut_of(job: ImportJob) -> str:
    """A digest of the byte ranges of the job's chunks; "" without chunks."""
    ranges = list(job.chunks.order_by("number").values_list("offset", "length"))
    return sha256(repr(ranges).encode()).hexdigest()[:16] if ranges else ""


def same_as(lab: Lab) -> dict[int, int]:
    """For each combination that comes to the same chunks as another, the number of the one that continues for both."""
    if lab.experiment or not set(CUTTING) & lab.grid.values.keys():
        return {}
    planned, leaders, same = planned_number(lab), dict[Any, int](), dict[int, int]()
    done = lab.trials.filter(round=WARM_UP, status=Trial.Status.DONE)
    for trial in sorted(done, key=lambda each: (each.combination != planned, each.combination)):
        if not trial.timings.get(CUT):
            continue
        leader = leaders.setdefault(_effect(lab, trial), trial.combination)
        if leader != trial.combination:
            same[trial.combination] = leader
    return same


def why_left_out(lab: Lab, trial: Trial) -> str:
    """Why a trial after the warm-up is left out: another combination stands for it; "" if it is not."""
    leader = None if trial.round == WARM_UP else same_as(lab).get(trial.combination)
    if leader is None:
        return ""
    return f"the same chunks as {words(whole(lab, lab.combinations[leader]))}, so both are one trial"


def _effect(lab: Lab, trial: Trial) -> tuple[Any, ...]:
    """What the settings of a trial come to."""
    settings = {**lab.planned_json, **trial.settings}
    at_once = min(int(settings["parallelism"] or 1), int(trial.timings["chunks"]["count"]))
    others = sorted((name, repr(value)) for name, value in settings.items() if name not in CUTTING)
    return trial.timings[CUT], at_once, tuple(others)
