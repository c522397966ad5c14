"""Which imports were under way in a backup that was restored: they may have loaded more rows than is known here."""

from django.db.models import Q, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import Contains

from importer.engine.errors import UnderWayInBackup
from importer.models.job import ImportJob

_KIND = UnderWayInBackup.__name__


def _names_it(field: str) -> Q:
    # As text: a missing key would be NULL, and so would be its negation.
    return Q(Contains(Cast(field, TextField()), _KIND))


# was_in_backup() as a condition on imports.
IN_BACKUP = _names_it("problem") | _names_it("past_attempts_json")


def was_in_backup(job: ImportJob) -> bool:
    """Whether an attempt of the import, the present one or an earlier one, was under way in a backup."""
    problems = (job.problem, *(each.get("problem", {}) for each in job.past_attempts_json))
    return any(each.get("kind") == _KIND for each in problems)
