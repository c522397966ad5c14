"""How a file is read and where it goes: what a job and a preset have in common."""

from django.db import models

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from importer.engine.stored import from_json


class ImportRecipe(models.Model):
    """Values of the engine, kept as JSON, and the table that they are for."""

    schema_name = models.CharField(max_length=64)
    table_name = models.CharField(max_length=64)
    dialect_json = models.JSONField()
    mapping_json = models.JSONField()
    # Columns without a field, and what they get (importer.engine.mapping.Filling).
    fillings_json = models.JSONField(default=list)
    options_json = models.JSONField(default=dict)

    class Meta:
        abstract = True

    @property
    def table(self) -> str:
        return f"{self.schema_name}.{self.table_name}"

    @property
    def file_dialect(self) -> Dialect:
        """How the file itself is read, in its own encoding."""
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
