"""Whether a running job may go on: rights can end while it runs, and its workers act for the system."""

from django.contrib.auth.models import User

from importer.access import policy
from importer.engine.errors import Problem
from importer.models import ImportJob, Level


def why_forbidden(job: ImportJob) -> Problem | None:
    """Why the job may load no further rows; None while the person who asked for it may load into its table.

    The person and the grants are read anew.
    """
    person = User.objects.filter(pk=job.asked_by_id).first() if job.asked_by_id else None
    if not person or policy.may(person, Level.LOAD, job.target, job.schema_name, job.table_name):
        return None
    return Problem(
        f"{person} may no longer load into the table {job.schema_name}.{job.table_name} of the target {job.target}.",
        advice="Somebody who may do that can retry the import. An admin decides who may.",
    )
