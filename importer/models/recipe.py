"""The bases of jobs, presets, schedules and labs: the recipe of an import, and the approval that it may need."""

from django.conf import settings
from django.db import models

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.plan.options import Options
from importer.engine.plan.stored_plan import options_from_json
from importer.engine.source.dialect import Dialect
from importer.engine.stored import from_json


class ImportRecipe(models.Model):
    """The table of an import and the engine's values for it, stored as JSON."""

    schema_name = models.CharField(max_length=64)
    table_name = models.CharField(max_length=64)
    dialect_json = models.JSONField()
    mapping_json = models.JSONField()
    # Generated columns (importer.engine.mapping.columns.GeneratedColumn).
    fillings_json = models.JSONField(default=list)
    options_json = models.JSONField(default=dict)

    class Meta:
        abstract = True

    @property
    def table(self) -> str:
        return f"{self.schema_name}.{self.table_name}"

    @property
    def file_dialect(self) -> Dialect:
        """The dialect of the file itself, with its own encoding."""
        return from_json(Dialect, self.dialect_json)

    @property
    def mapping(self) -> tuple[ColumnMapping, ...]:
        return tuple(from_json(ColumnMapping, each) for each in self.mapping_json)

    @property
    def fillings(self) -> tuple[GeneratedColumn, ...]:
        return tuple(from_json(GeneratedColumn, each) for each in self.fillings_json)

    @property
    def options(self) -> Options:
        return options_from_json(self.options_json)


class WithStarters(models.Model):
    """Something whose people may not approve what it writes to a target (importer/access/approval.py)."""

    # The ids of the people who started, retried or changed it.
    starters = models.JSONField(default=list, blank=True, editable=False)

    class Meta:
        abstract = True


class Approvable(WithStarters):
    """Something that writes to a target, and may need another person's approval (importer/access/approval.py)."""

    # Since when its complete plan waits for approval; NULL before that.
    approval_asked_at = models.DateTimeField(null=True, blank=True, editable=False)
    # The digest of what was approved: nothing else runs without another approval.
    approved_digest = models.CharField(max_length=64, blank=True, editable=False)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    approved_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True
