"""The approval of an import's plan by another person: when it is needed, and what exactly is approved.

An import into a target that needs approvals is scanned, and then waits (`unapproved`). What is approved is a digest: of
the plan, mapping, format and options, of the target and table, and of every chunk of the file. When the import is about
to write, its digest is compared with the approved one. A changed plan, file or option is another digest.
"""

import hashlib

from django.db import transaction
from django.utils import timezone

from importer.access import approval, audit
from importer.engine.plan.stored_plan import FORMAT_KEY
from importer.engine.units import count_of
from importer.jobs.transitions import Status, change
from importer.models import ImportJob
from importer.notifications.import_events import approval_wanted

# Parts of the plan that only explain it, or change the speed of the load and not the rows.
NOT_APPROVED = (
    *(FORMAT_KEY, "reasons", "loaded_before", "seen", "continues_empty"),
    *("parallelism", "first_chunk_bytes", "last_chunks", "transaction_bytes"),
)
# Options that change when or whether an import loads, and not what it writes.
NOT_APPROVED_OPTIONS = ("priority", "once")

_DEEDS = {
    "append": "{rows} of {file} are added to {table} on {target}.",
    "atomic": "{rows} of {file} are added to {table} on {target}: all of them, or none.",
    "replace": "{rows} of {file} take the place of all rows of {table} on {target}.",
    "upsert": "{rows} of {file} are added to {table} on {target}, or change the rows there that have the same key.",
    "update": "{rows} of {file} change the rows of {table} on {target} that have the same key.",
    "sync": "{table} on {target} becomes equal to {file}: of {rows}, new ones are added and others change those there."
    " Rows that the file does not have are deleted, if the plan says so.",
    "create": "The new table {table} is created on {target}, with {rows} of {file}.",
}


def digest_of(job: ImportJob) -> str:
    """SHA-256 of everything that decides what the import writes; known once the file is scanned."""
    plan = {name: value for name, value in job.plan_json.items() if name not in NOT_APPROVED}
    options = {name: value for name, value in job.options_json.items() if name not in NOT_APPROVED_OPTIONS}
    decided = [plan, job.mapping_json, job.fillings_json, job.dialect_json, options, job.new_table_json]
    chunks = hashlib.sha256()
    for chunk in job.chunks.order_by("number").values_list("number", "offset", "length", "rows", "digest").iterator():
        chunks.update(repr(chunk).encode())
    return approval.digest(job, [*decided, chunks.hexdigest()])


def is_needed(job: ImportJob) -> bool:
    """Whether another person must approve the import as it is now. A lab is approved as a whole, not its trials."""
    return job.target.needs_approval and job.trial_id is None and job.approved_digest != digest_of(job)


def is_approved(job: ImportJob) -> bool:
    """Whether somebody has approved the import as it is now."""
    return bool(job.approved_digest) and job.approved_digest == digest_of(job)


def is_asked_for(job: ImportJob) -> bool:
    """Whether the import does nothing until somebody approves or refuses it."""
    return job.status == Status.UNAPPROVED and job.approval_asked_at is not None


def sentence(job: ImportJob) -> str:
    """What the import does, in a sentence."""
    rows = count_of(job.scanned_rows, "row")
    words = _DEEDS[job.options.mode]
    return words.format(rows=rows, file=job.source.name, table=job.table, target=job.target.name)


def ask(job: ImportJob) -> None:
    """From now on the import waits for approval; its plan is complete. Those who want to know are notified.

    Both are one transaction.
    """
    with transaction.atomic():
        if change(job.pk, [Status.UNAPPROVED], approval_asked_at=timezone.now()):
            job.refresh_from_db()
            approval_wanted(job, sentence(job))


def release(job: ImportJob) -> bool:
    """Let the import continue without an approval, because its target needs none any more."""
    released = change(job.pk, [Status.UNAPPROVED], status=Status.WAITING)
    if released:
        audit.record("approval_released", job, plan=digest_of(job))
    return released
