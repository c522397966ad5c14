"""The life of a job, and the only writer of job and chunk state.

asked.py: what people ask for; course.py: what comes next, and the end; scanning.py and loading.py: what workers claim
and record; staged.py: the same for modes that stage; arranged.py: what is changed on the
target for the time of a job; kept.py: the table that mode replace has put aside; report.py:
what it amounts to; guarded.py: the updates that all of them are made of.
"""

from importer.jobs.arranged import (
    claim_arrange,
    claim_restore,
    has_duty,
    record_arranged,
    record_as_it_was,
    record_restored,
    record_written,
    renew_duty,
    restore_failed,
)
from importer.jobs.asked import cancel, could_leave_out, create, pause, resume, retry, set_parallelism, start
from importer.jobs.course import (
    advance,
    claim_verify,
    fail,
    holder,
    planned_rows,
    reopen,
    step_failed,
    succeed,
    unended,
)
from importer.jobs.guarded import release_step
from importer.jobs.kept import drop_kept, record_kept, release_kept, restore, unreleased, why_no_restore
from importer.jobs.limits import most_rejects
from importer.jobs.loading import (
    claim_chunk,
    expired_chunks,
    record_cancelled,
    record_failed,
    record_loaded,
    renew_chunk,
    take_back,
    wants,
)
from importer.jobs.report import equation, report
from importer.jobs.scanning import (
    add_chunks,
    claim_scan,
    finish_scan,
    record_copy,
    record_unsorted,
    renew_copy,
    scanned_rows,
)
from importer.jobs.staged import (
    claim_clean,
    claim_finish,
    claim_stage,
    cleaning_failed,
    leftovers,
    record_clean,
    record_finished,
    record_staged,
    record_types,
    renew_step,
    staged_rows,
    wants_step,
)

__all__ = [
    "add_chunks",
    "advance",
    "cancel",
    "claim_arrange",
    "claim_chunk",
    "claim_clean",
    "claim_finish",
    "claim_restore",
    "claim_scan",
    "claim_stage",
    "claim_verify",
    "cleaning_failed",
    "could_leave_out",
    "create",
    "drop_kept",
    "equation",
    "expired_chunks",
    "fail",
    "finish_scan",
    "has_duty",
    "holder",
    "leftovers",
    "most_rejects",
    "pause",
    "planned_rows",
    "record_arranged",
    "record_as_it_was",
    "record_cancelled",
    "record_clean",
    "record_copy",
    "record_failed",
    "record_finished",
    "record_kept",
    "record_loaded",
    "record_restored",
    "record_staged",
    "record_types",
    "record_unsorted",
    "record_written",
    "release_kept",
    "release_step",
    "renew_chunk",
    "renew_copy",
    "renew_duty",
    "renew_step",
    "reopen",
    "report",
    "restore",
    "restore_failed",
    "resume",
    "retry",
    "scanned_rows",
    "set_parallelism",
    "staged_rows",
    "start",
    "step_failed",
    "succeed",
    "take_back",
    "unended",
    "unreleased",
    "wants",
    "wants_step",
    "why_no_restore",
]
