"""One state of the staging table in place of three flags."""

from django.db import migrations, models
from django.db.models import Case, Q, Value, When


def read_flags(apps, editor):
    jobs = apps.get_model("importer", "ImportJob").objects.using(editor.connection.alias)
    state = Case(
        When(Q(finished=True, leftover=True), Value("merged")),
        When(Q(finished=True), Value("done")),
        When(Q(staged=True), Value("ready")),
        default=Value("begun"),
    )
    jobs.filter(Q(finished=True) | Q(staged=True) | Q(leftover=True)).update(staging=state)


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0004_outside_changes'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='staging',
            field=models.CharField(
                blank=True,
                choices=[('', 'None'), ('begun', 'Begun'), ('ready', 'Ready'), ('merged', 'Merged'), ('done', 'Done')],
                db_default='',
                default='',
                max_length=8,
            ),
        ),
        migrations.RunPython(read_flags),
        migrations.RemoveField(model_name='importjob', name='finished'),
        migrations.RemoveField(model_name='importjob', name='leftover'),
        migrations.RemoveField(model_name='importjob', name='staged'),
    ]
