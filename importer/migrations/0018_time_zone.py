"""Keeps UTC for the recipes that exist: until now TIMESTAMP values were read as UTC, now in the server's time zone."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RECIPES = ("ImportJob", "MappingPreset", "Schedule", "Lab")


def keep_utc(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Write the zone into the options of each recipe that has none."""
    for name in RECIPES:
        model = apps.get_model("importer", name)
        for recipe in model._default_manager.only("pk", "options_json").iterator():
            recipe.options_json = {"time_zone": "+00:00", **recipe.options_json}
            recipe.save(update_fields=["options_json"])


class Migration(migrations.Migration):
    dependencies = [("importer", "0017_lines")]

    operations = [migrations.RunPython(keep_utc, migrations.RunPython.noop)]
