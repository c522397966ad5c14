"""Tokens get scopes: those that exist keep what they could do, which is everything but people. Answers of the API."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def keep_what_they_could(apps, _schema_editor):
    apps.get_model("importer", "AccessToken").objects.update(scopes=["read", "import", "schedule", "manage"])


class Migration(migrations.Migration):
    dependencies = [
        ("importer", "0045_several_files"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("accesstoken", "scopes", models.JSONField(default=list)),
        migrations.RunPython(keep_what_they_could, migrations.RunPython.noop),
        migrations.CreateModel(
            name="AnsweredRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=255)),
                ("digest", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("location", models.CharField(blank=True, max_length=255)),
                ("body", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "key"), name="one_answer_to_a_key")],
            },
        ),
    ]
