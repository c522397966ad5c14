"""A row for each earlier attempt of an import, in place of a list in the import's row."""

import django.db.models.deletion
from django.db import migrations, models
from django.utils.dateparse import parse_datetime


def move_into_rows(apps, editor):
    jobs = apps.get_model("importer", "ImportJob").objects.using(editor.connection.alias)
    attempts = apps.get_model("importer", "Attempt").objects.using(editor.connection.alias)
    retried = jobs.filter(attempts__gt=1).values_list("pk", "past_attempts_json")
    for job, past in retried.order_by("pk").iterator():
        attempts.bulk_create(attempts.model(job_id=job, **_values(each)) for each in past)


def _values(past):
    chunks = past.get("chunks") or {}
    return {
        "number": past["number"],
        "started_at": past["started"] and parse_datetime(past["started"]),
        "ended_at": past["ended"] and parse_datetime(past["ended"]),
        "outcome": past["outcome"] or "",
        "problem": past.get("problem") or {},
        "loaded_chunks": chunks.get("loaded", 0),
        "failed_chunks": chunks.get("failed", 0),
        "rows": past.get("rows"),
        **(past.get("seconds") or {}),
    }


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('plan_json', models.JSONField(blank=True, default=dict)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('outcome', models.CharField(blank=True, max_length=32)),
                ('problem', models.JSONField(blank=True, default=dict)),
                ('loaded_chunks', models.PositiveIntegerField(default=0)),
                ('failed_chunks', models.PositiveIntegerField(default=0)),
                ('rows', models.BigIntegerField(blank=True, null=True)),
                ('waiting', models.FloatField(blank=True, null=True)),
                ('loading', models.FloatField(blank=True, null=True)),
                ('paused', models.FloatField(blank=True, null=True)),
                ('indexing', models.FloatField(blank=True, null=True)),
                ('verifying', models.FloatField(blank=True, null=True)),
                (
                    'job',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='earlier_attempts',
                        to='importer.importjob',
                    ),
                ),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='one_attempt_of_a_number')],
            },
        ),
        migrations.RunPython(move_into_rows),
        migrations.RemoveField(model_name='importjob', name='past_attempts_json'),
    ]
