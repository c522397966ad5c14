"""How files with a certain header are read, kept to be used again."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from importer.engine.dialect import Dialect
from importer.engine.mapping import ColumnMapping, Filling
from importer.engine.options import Options
from importer.models.target import Target


class MappingPreset(models.Model):
    """How files with a certain header go into a certain table: saved to be used again."""

    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[^\x00-\x1f\x7f]+\Z", "No control characters.")]
    )
    target = models.ForeignKey(Target, models.CASCADE, related_name="presets")
    schema_name = models.CharField(max_length=64)
    table_name = models.CharField(max_length=64)
    header = models.JSONField()
    dialect_json = models.JSONField()
    mapping_json = models.JSONField()
    fillings_json = models.JSONField(default=list)
    options_json = models.JSONField(default=dict)
    # Name and full type of the table's columns when it was saved: tells what has changed since.
    columns_json = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def table(self) -> str:
        return f"{self.schema_name}.{self.table_name}"

    @property
    def file_dialect(self) -> Dialect:
        return Dialect(**self.dialect_json)

    @property
    def mapping(self) -> tuple[ColumnMapping, ...]:
        return tuple(ColumnMapping.from_json(each) for each in self.mapping_json)

    @property
    def fillings(self) -> tuple[Filling, ...]:
        return tuple(Filling(**each) for each in self.fillings_json)

    @property
    def options(self) -> Options:
        return Options(**self.options_json)
