"""A mapping preset: stored settings for importing files with a certain header."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from importer.models.checked_save import Named
from importer.models.recipe import ImportRecipe
from importer.models.target import Target


class MappingPreset(Named, ImportRecipe):
    """Stored dialect, mapping and options for importing files with a certain header into a certain table."""

    thing = "preset"

    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[^\x00-\x1f\x7f]+\Z", "No control characters.")]
    )
    target = models.ForeignKey(Target, models.CASCADE, related_name="presets")
    header = models.JSONField()
    # Name and full type of the table's columns when the preset was saved, to detect later changes.
    columns_json = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # Who gave it other settings last, and when; NULL if nobody has.
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    changed_at = models.DateTimeField(null=True, blank=True, editable=False)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
