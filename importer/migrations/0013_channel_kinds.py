"""Lets importer/notifications/channel_kinds.py alone list the kinds of channels. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("importer", "0012_rename_models")]

    operations = [
        migrations.AlterField(model_name="channel", name="kind", field=models.CharField(max_length=8)),
    ]
