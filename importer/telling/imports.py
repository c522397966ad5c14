"""What the end of an import is worth telling."""

import logging

from django.db import transaction

from importer.models import ImportJob, JobFact
from importer.models.channel import Event
from importer.telling.noted import note

log = logging.getLogger(__name__)

Status = ImportJob.Status


def import_ended(job_id: int) -> None:
    """Note what there is to tell, in the transaction that ends the import; whatever goes wrong with that, it ends."""
    try:
        with transaction.atomic():
            _note(ImportJob.objects.select_related("target", "source").get(pk=job_id))
    except Exception:
        log.exception("Import %s: nobody is told of its end", job_id)


def _note(job: ImportJob) -> None:
    if job.trial_id or job.status == Status.CANCELLED:
        return
    about = f"job {job.pk} try {job.tries}"
    if job.status == Status.FAILED:
        note(Event.FAILED, about, job.problem.get("what", ""), job=job)
        return
    if job.rejected_rows:
        what = f"{job.rejected_rows:,} of {job.scanned_rows:,} rows did not go in."
        note(Event.REJECTS, about, what, job=job)
    if _failed_before(job):
        went_in = job.loaded_rows + job.replaced_rows
        note(Event.RECOVERED, about, f"{went_in:,} {'row' if went_in == 1 else 'rows'} went in.", job=job)


def _failed_before(job: ImportJob) -> bool:
    """Whether what ended last before this, its own last try or an import into the same table, has failed."""
    # Its record is still that of the try before.
    if JobFact.objects.filter(record=job.pk, name="status", text=Status.FAILED).exists():
        return True
    others = ImportJob.objects.filter(
        target=job.target_id, schema_name=job.schema_name, table_name=job.table_name, trial=None
    ).exclude(pk=job.pk)
    ended = others.filter(status__in=(Status.SUCCEEDED, Status.FAILED), finished_at__isnull=False)
    return ended.order_by("-finished_at").values_list("status", flat=True).first() == Status.FAILED
