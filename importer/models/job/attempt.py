"""An attempt of an import: what it was to do, what it did, and how long that took."""

from dataclasses import astuple, dataclass, fields

from django.db import models

from importer.models.job.job import ImportJob


@dataclass(frozen=True)
class PhaseSeconds:
    """The seconds of an attempt, or of all attempts of an import, by what happened in them.

    `waiting`: for an approval, the table, a worker, or an obstacle on the target (outcomes/phases.py). `loading`: scan
    and load. `indexing`: keys and settings were put back. `verifying`: the finishing step of modes that stage, and the
    comparison with the ledger.
    """

    waiting: float = 0.0
    loading: float = 0.0
    paused: float = 0.0
    indexing: float = 0.0
    verifying: float = 0.0

    @property
    def working(self) -> float:
        """The seconds in which the import was worked on."""
        return self.loading + self.indexing + self.verifying

    def __add__(self, other: "PhaseSeconds") -> "PhaseSeconds":
        return PhaseSeconds(*map(sum, zip(astuple(self), astuple(other), strict=True)))


class Attempt(models.Model):
    """An attempt of an import. A retry stores the one that it follows, as outcomes.attempts.present_attempt() has it.

    Imports that older versions have retried lack earlier attempts.
    """

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="earlier_attempts")
    number = models.PositiveSmallIntegerField()
    # The plan that it followed (ImportJob.plan_json); empty if an older version did not keep it.
    plan_json = models.JSONField(default=dict, blank=True)
    # When it got the table; NULL if it ended before that.
    started_at = models.DateTimeField(null=True, blank=True)
    # NULL while it is under way.
    ended_at = models.DateTimeField(null=True, blank=True)
    # In the words of config/contracts/outcomes.py; "" while it is under way.
    outcome = models.CharField(max_length=32, blank=True)
    # What went wrong, as ImportJob.problem, or empty.
    problem = models.JSONField(default=dict, blank=True)
    # The chunks that it has loaded, and those on which it failed.
    loaded_chunks = models.PositiveIntegerField(default=0)
    failed_chunks = models.PositiveIntegerField(default=0)
    # The rows that it has settled, which are in the table, skipped or rejected because of it; NULL if that is unknown.
    rows = models.BigIntegerField(null=True, blank=True)
    # The fields of PhaseSeconds; NULL if they are unknown.
    waiting = models.FloatField(null=True, blank=True)
    loading = models.FloatField(null=True, blank=True)
    paused = models.FloatField(null=True, blank=True)
    indexing = models.FloatField(null=True, blank=True)
    verifying = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="one_attempt_of_a_number")]

    def __str__(self) -> str:
        return f"attempt {self.number} of import {self.job_id}"

    @property
    def seconds(self) -> PhaseSeconds | None:
        """How long its phases took; None if that is unknown."""
        if self.loading is None:
            return None
        return PhaseSeconds(*(getattr(self, each.name) for each in fields(PhaseSeconds)))
