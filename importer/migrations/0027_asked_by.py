"""Who asked for a job to run. Jobs under way act for the person who created them."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def ask_by_creator(apps: Apps, _schema_editor: BaseDatabaseSchemaEditor) -> None:
    unended = apps.get_model("importer", "ImportJob").objects.exclude(status__in=("succeeded", "failed", "cancelled"))
    unended.filter(trial=None).update(asked_by=models.F("created_by"))


class Migration(migrations.Migration):
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL), ("importer", "0026_audit_event")]

    operations = [
        migrations.AddField(
            model_name="importjob",
            name="asked_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(ask_by_creator, migrations.RunPython.noop),
    ]
