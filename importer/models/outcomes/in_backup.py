"""Which imports were under way in a backup that was restored: they may have loaded more rows than is known here."""

from django.db.models import Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import Contains

from importer.engine.errors import UnderWayInBackup
from importer.models.job import Attempt, ImportJob
from importer.models.outcomes.attempts import past_attempts

_KIND = UnderWayInBackup.__name__
# As text: a missing key would be NULL, and so would be its negation.
_NAMES_IT = Q(Contains(Cast("problem", TextField()), _KIND))

# was_in_backup() as a condition on imports.
IN_BACKUP = _NAMES_IT | Q(Exists(Attempt.objects.filter(_NAMES_IT, job=OuterRef("pk"))))


def was_in_backup(job: ImportJob) -> bool:
    """Whether an attempt of the import, the present one or an earlier one, was under way in a backup."""
    problems = (job.problem, *(each.problem for each in past_attempts(job)))
    return any(each.get("kind") == _KIND for each in problems)
