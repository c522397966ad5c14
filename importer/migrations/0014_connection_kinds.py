"""Lets importer/connections/connection_kinds.py alone list the kinds of connections. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("importer", "0013_channel_kinds")]

    operations = [
        migrations.AlterField(model_name="sourceconnection", name="kind", field=models.CharField(max_length=8)),
    ]
