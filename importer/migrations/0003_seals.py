"""A row for each seal of an import."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0002_attempts'),
    ]

    operations = [
        migrations.CreateModel(
            name='JobSeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(editable=False)),
                ('number', models.BigIntegerField()),
                ('opened_at', models.DateTimeField()),
                (
                    'job',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name='seals',
                        to='importer.importjob',
                    ),
                ),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('job', 'key', 'number'), name='one_record_of_a_seal')],
            },
        ),
    ]
