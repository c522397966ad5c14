"""Schedules: files picked up by themselves, on time, once; the only writer of the states of runs and picked files.

due.py: when a schedule is due; beat.py: what beat does every few seconds; finding.py: the files of a run, and new ones;
known.py: which of them were loaded before; loading.py: one file after another, each an import (jobs/); drift.py: header
and table held against the schedule's; course.py: what a worker does for a run, a piece at a time; ending.py: how it
ends; telling.py: what people are told; attention.py: which schedules somebody should look at; passing.py: which
problems pass by themselves; asked.py and checked.py: what people ask for, and may; guarded.py: who may change what.
"""

from importer.schedules.commands import (
    ScheduleRequest,
    by_name,
    cancel,
    create,
    create_from_job,
    delete,
    forget,
    next_due_times,
    pause,
    resume,
    run_now,
    update,
)
from importer.schedules.health import needing_attention
from importer.schedules.lifecycle import advance
from importer.schedules.run.discovery import look_for_files
from importer.schedules.scheduler import tick, timing_of
from importer.schedules.validation import warnings

__all__ = [
    "ScheduleRequest",
    "advance",
    "by_name",
    "cancel",
    "create",
    "create_from_job",
    "delete",
    "forget",
    "look_for_files",
    "needing_attention",
    "next_due_times",
    "pause",
    "resume",
    "run_now",
    "tick",
    "timing_of",
    "update",
    "warnings",
]
