"""Names the models by the field's terms. The rows stay; the tables take the new names."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("importer", "0011_chunk_ascii")]

    operations = [
        migrations.RenameModel("Run", "ScheduleRun"),
        migrations.RenameModel("PickedFile", "DiscoveredFile"),
        migrations.RenameModel("Hearing", "Subscription"),
        migrations.RenameModel("Notice", "Notification"),
        # The names of the way back; no column changes.
        migrations.AlterField(
            model_name="notification",
            name="channel",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="notifications", to="importer.channel"
            ),
        ),
        migrations.AlterField(
            model_name="notification",
            name="job",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="notifications", to="importer.importjob"
            ),
        ),
        migrations.AlterField(
            model_name="notification",
            name="run",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="notifications", to="importer.schedulerun"
            ),
        ),
        migrations.AlterField(
            model_name="notification",
            name="schedule",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="notifications", to="importer.schedule"
            ),
        ),
        migrations.AlterField(
            model_name="subscription",
            name="channel",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="subscriptions", to="importer.channel"
            ),
        ),
        migrations.AlterField(
            model_name="subscription",
            name="schedule",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="subscriptions", to="importer.schedule"
            ),
        ),
    ]
