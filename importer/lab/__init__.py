"""Labs: settings tried on a sample of a file, in scratch tables like the user's own. Only this package changes labs.

commands.py: the actions that people request; estimate.py: how long they will take; lifecycle.py: the work on a lab, one
step at a time, to its end; approval.py: labs that another person must approve; sample_size.py, setup.py: the sample;
dry_plan.py: which combinations can be tried, and differ; trial_order.py: their order; experiments.py: the published
ones; trials.py: one trial after another, each an import marked as a trial; cleanup.py: drops everything again;
obstacles.py: ways out if that cannot be done; results.py: the result; transitions.py: which process may change which
state.
"""

from importer.lab.approval import approve, digest_of, is_asked_for, refuse, release_unmarked, sentence
from importer.lab.cleanup import remove_orphans, sweep_target
from importer.lab.commands import LabRequest, cancel, choose, create, create_from_job, prepare_again, start
from importer.lab.estimate import LabEstimate, estimate
from importer.lab.lifecycle import take, unended
from importer.lab.obstacles import end_without, is_not_dropped, is_stuck, try_now
from importer.lab.published import experiments, order
from importer.lab.results import options_of, options_to_apply, outcome, save_preset, whole
from importer.lab.sample_size import rate_of, suggest_sample
from importer.lab.trials import spent

__all__ = [
    "LabEstimate",
    "LabRequest",
    "approve",
    "cancel",
    "choose",
    "create",
    "create_from_job",
    "digest_of",
    "end_without",
    "estimate",
    "experiments",
    "is_asked_for",
    "is_not_dropped",
    "is_stuck",
    "options_of",
    "options_to_apply",
    "order",
    "outcome",
    "prepare_again",
    "rate_of",
    "refuse",
    "release_unmarked",
    "remove_orphans",
    "save_preset",
    "sentence",
    "spent",
    "start",
    "suggest_sample",
    "sweep_target",
    "take",
    "try_now",
    "unended",
    "whole",
]
