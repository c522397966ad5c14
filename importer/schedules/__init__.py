"""Recurring imports. Only this package changes the state of schedule runs and of the files that they discover.

commands.py: the actions that people request; past_import.py: the import that a schedule is made from; again.py: runs
for moments that are past; header_change.py: a new header, compared and accepted; validation.py: the checks of all
these. recurrence.py: due times; scheduler.py: the regular tick, which records runs that are due. lifecycle.py: a
worker's part of a run, under the run's lease; transitions.py: the lease and the compare-and-set updates. run/:
discovery.py lists the files, deduplication.py finds those that were loaded before, ingest.py imports one file after
another (jobs/), schema_drift.py compares header and table with the schedule's, retry_policy.py says which problems are
retried, completion.py ends the run. events.py records events and notifies people; health.py: the schedules that need
attention; serialization.py: schedules as JSON.
"""

from importer.schedules.again import backfill, due_times_of, has_dates, run_again
from importer.schedules.commands import (
    ScheduleRequest,
    by_name,
    cancel,
    create,
    create_from_job,
    delete,
    dismiss,
    forget,
    lacks_limit,
    next_due_times,
    pause,
    recipe_of,
    resume,
    run_now,
    trigger_for,
    update,
    values_of,
)
from importer.schedules.header_change import HeaderChange, accept, drifted_file, header_change
from importer.schedules.health import is_missed, missed, needing_attention
from importer.schedules.lifecycle import advance
from importer.schedules.past_import import known_file_note
from importer.schedules.run.discovery import look_for_files
from importer.schedules.scheduler import tick, timing_of
from importer.schedules.validation import warnings

__all__ = [
    "HeaderChange",
    "ScheduleRequest",
    "accept",
    "advance",
    "backfill",
    "by_name",
    "cancel",
    "create",
    "create_from_job",
    "delete",
    "dismiss",
    "drifted_file",
    "due_times_of",
    "forget",
    "has_dates",
    "header_change",
    "is_missed",
    "known_file_note",
    "lacks_limit",
    "look_for_files",
    "missed",
    "needing_attention",
    "next_due_times",
    "pause",
    "recipe_of",
    "resume",
    "run_again",
    "run_now",
    "tick",
    "timing_of",
    "trigger_for",
    "update",
    "values_of",
    "warnings",
]
