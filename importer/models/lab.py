"""A lab, which tries settings on a sample of a file in copies of a table, and its trials."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models

from importer.engine.stored import from_json
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import WAY, Grid, Settings, words
from importer.engine.tuning.rounds import round_name
from importer.engine.tuning.sampling import Sample
from importer.models.recipe import Approvable, ImportRecipe
from importer.models.source_file import SourceFile
from importer.models.target import Target


class Lab(ImportRecipe, Approvable):
    """An experiment that finds by trial which settings load a file into a table fastest.

    waiting -> preparing -> running -> ending -> done
       |           |           |         ^  +--> failed
       +-----------+-----------+---------+  +--> cancelled

    `waiting`: another lab has the target, or another person must approve the lab. `preparing`: the sample is written.
    `running`: trials run one after another, and pause while imports run on the target. `ending`: everything that the
    lab has made is removed; then the lab gets the state `becomes`.

    The scratch tables are made like the lab's table, which is not changed.
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        PREPARING = "preparing"
        RUNNING = "running"
        ENDING = "ending"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    ENDED = (Status.DONE, Status.FAILED, Status.CANCELLED)

    # The name of this lab in its scratch tables; unique over all installations that share the target.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    target = models.ForeignKey(Target, models.CASCADE, related_name="labs")
    source = models.ForeignKey(SourceFile, models.SET_NULL, null=True, blank=True, related_name="labs")
    source_name = models.CharField(max_length=255)
    # The past import that the lab was started from, if any.
    of_job = models.ForeignKey("importer.ImportJob", models.SET_NULL, null=True, blank=True, related_name="labs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    # Set while the lab has its target, else NULL; unique, because MySQL ignores conditional constraints
    # (server-behaviour.md).
    target_claim = models.BigIntegerField(unique=True, null=True, blank=True, editable=False)
    status = models.CharField(max_length=9, choices=Status, default=Status.WAITING, db_index=True)
    becomes = models.CharField(max_length=9, choices=Status, blank=True)
    problem = models.JSONField(default=dict, blank=True)

    # The request: values of importer.engine.tuning as JSON, and the schema of the scratch tables.
    grid_json = models.JSONField()
    sample_json = models.JSONField()
    budget_json = models.JSONField()
    repeats = models.PositiveSmallIntegerField()
    seed = models.PositiveIntegerField()
    scratch_schema = models.CharField(max_length=64)
    during_imports = models.BooleanField(default=False)

    # The settings planned without the lab (importer.engine.tuning.grid.Settings), the combinations by number, and the
    # requested combinations that are not tried, with the reason: {"settings", "why"}.
    planned_json = models.JSONField(default=dict)
    combinations_json = models.JSONField(default=list)
    left_out_json = models.JSONField(default=list)
    # The sample, which each trial loads; deleted when the lab ends.
    sample = models.ForeignKey(SourceFile, models.SET_NULL, null=True, blank=True, related_name="+")
    sample_rows = models.BigIntegerField(default=0)
    sample_bytes = models.BigIntegerField(default=0)
    # Estimated bytes of the sample's rows in the table, by the server's statistics; 0: unknown.
    table_bytes = models.BigIntegerField(default=0)
    # The report of a published experiment, written at its end (docs/schemas/experiment.json); NULL for other labs.
    report_json = models.JSONField(null=True, blank=True, editable=False)
    # Why no trial of the running lab runs, "" if there is no obstacle.
    waits_for = models.CharField(max_length=200, blank=True)

    # One worker at a time advances the lab. `lease`: the time until which it counts as alive, or after a failure the
    # time of the next attempt. `attempt`: claims so far. `failures`: in a row. `connection_id`: the worker's connection
    # on the target.
    lease = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    connection_id = models.BigIntegerField(null=True, blank=True)
    # Counts every change a page would show.
    version = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True, blank=True)
    prepared_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"Lab {self.pk}"

    @property
    def ended(self) -> bool:
        return self.status in self.ENDED

    @property
    def grid(self) -> Grid:
        return from_json(Grid, self.grid_json)

    @property
    def experiment(self) -> str:
        """The name of the published experiment, whose grid lists ways; "" for a lab of settings."""
        return self.grid.name if WAY in self.grid.values else ""

    @property
    def requested_sample(self) -> Sample:
        return from_json(Sample, self.sample_json)

    @property
    def budget(self) -> Budget:
        return from_json(Budget, self.budget_json)

    @property
    def combinations(self) -> list[Settings]:
        return list(self.combinations_json)


class Trial(models.Model):
    """One import of a lab's sample into a scratch table of its own, with one combination of settings.

    pending -> running -> done
       ^  |       |  +--> failed
       |  +-----> | ----> left out
       +----------+
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        LEFT_OUT = "left out"

    lab = models.ForeignKey(Lab, models.CASCADE, related_name="trials")
    # The position in the order of trials; part of the scratch table's name.
    number = models.PositiveIntegerField()
    # Round 0 is the warm-up and does not count; rounds after the lab's `repeats` are the finals.
    round = models.PositiveSmallIntegerField()
    combination = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=8, choices=Status, default=Status.PENDING)
    # Attempts: a trial begins again if a worker died at its start, or if an import ran at the same time.
    begun = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Results of the import: rows, overall rows per second, seconds by phase as in the import's report, the
    # settings after planning, and the bytes of the scratch table.
    rows = models.BigIntegerField(default=0)
    rows_per_second = models.FloatField(null=True, blank=True)
    timings = models.JSONField(default=dict, blank=True)
    ran_as = models.JSONField(default=dict, blank=True)
    table_bytes = models.BigIntegerField(default=0)
    # Why it failed (importer.engine.errors.Problem as JSON), or was left out ({"what"}).
    problem = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["lab", "number"], name="one_trial_per_number")]

    def __str__(self) -> str:
        return f"trial {self.number} of lab {self.lab_id}"

    @property
    def seconds(self) -> float:
        """Seconds from the start of the trial to the end of its import."""
        if not (self.started_at and self.finished_at):
            return 0.0
        return float((self.finished_at - self.started_at).total_seconds())

    @property
    def settings(self) -> Settings:
        combination: dict[str, Any] = self.lab.combinations_json[self.combination]
        return combination

    @property
    def final(self) -> bool:
        """Whether the trial belongs to the finals, which only the best combinations have."""
        return self.round > self.lab.repeats

    @property
    def round_name(self) -> str:
        return round_name(self.round, self.lab.repeats)

    @property
    def words(self) -> str:
        """The trial's settings in words."""
        return words(self.settings)
