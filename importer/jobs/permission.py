"""Whether a running import or lab may continue: rights can end while it runs, and its workers act for the system."""

from django.contrib.auth.models import User

from importer.access import policy
from importer.engine.errors import Problem
from importer.models import ImportJob, Lab, Level


def why_forbidden(of: ImportJob | Lab) -> Problem | None:
    """Why it may load no further rows; None while the person who asked for it may load into its table.

    The person and the grants are read again each time. Jobs of the system continue.
    """
    pk = of.asked_by_id if isinstance(of, ImportJob) else of.created_by_id
    person = User.objects.filter(pk=pk).first() if pk else None
    if not person or policy.may(person, Level.LOAD, of.target, of.schema_name, of.table_name):
        return None
    return Problem(
        f"{person} may no longer load into the table {of.schema_name}.{of.table_name} of the target {of.target}.",
        advice="Somebody who may do that can start it again. An admin decides who may.",
    )
