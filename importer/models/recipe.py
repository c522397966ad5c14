"""Dialect, mapping, options and table of an import: the base of jobs, presets, schedules and labs."""

from django.db import models

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.plan.options import Options
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
        return from_json(Options, self.options_json)
