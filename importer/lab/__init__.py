"""Labs: settings tried on a sample of a file, in scratch tables like the user's own; the only writer of their state.

asked.py: what people ask for; expected.py: what that will take; course.py: what a worker does for a lab, a piece at a
time, and the way to its end; preparing.py: the sample; order.py: the trials laid out; trials.py: one after another,
each an import (jobs/) that is marked as a trial's; tidying.py: everything is dropped again; outcome.py: what it amounts
to; guarded.py: who may change what.
experiments.py: published experiments, which are labs of ways; experiment_trials.py: one way, once;
experiment_outcome.py: what was found, beside the article.
"""

from importer.experiments.outcome import Begun
from importer.experiments.outcome import found as experiment_found
from importer.experiments.runner import ExperimentRequest, end_left
from importer.experiments.runner import begin as begin_experiment
from importer.experiments.runner import finish as finish_experiment
from importer.experiments.runner import run as run_experiment
from importer.lab.cleanup import remove_orphans, sweep_target
from importer.lab.commands import LabRequest, cancel, choose, create, create_from_job, prepare_again, start
from importer.lab.estimate import Expected, expect, suggest_sample
from importer.lab.lifecycle import take, unended
from importer.lab.results import options_of, options_to_apply, outcome, save_preset, whole
from importer.lab.trials import spent

__all__ = [
    "Begun",
    "Expected",
    "ExperimentRequest",
    "LabRequest",
    "begin_experiment",
    "cancel",
    "choose",
    "create",
    "create_from_job",
    "end_left",
    "expect",
    "experiment_found",
    "finish_experiment",
    "options_of",
    "options_to_apply",
    "outcome",
    "prepare_again",
    "remove_orphans",
    "run_experiment",
    "save_preset",
    "spent",
    "start",
    "suggest_sample",
    "sweep_target",
    "take",
    "unended",
    "whole",
]
