"""One state of the temporary changes on the target in place of three flags."""

from django.db import migrations, models
from django.db.models import Case, Q, Value, When


def read_flags(apps, editor):
    jobs = apps.get_model("importer", "ImportJob").objects.using(editor.connection.alias)
    state = Case(
        When(Q(left_changed=True), Value("left")),
        When(Q(unrestored=True, arranged=True), Value("made")),
        When(Q(unrestored=True), Value("begun")),
        default=Value("settled"),
    )
    jobs.filter(Q(left_changed=True) | Q(unrestored=True) | Q(arranged=True)).update(changes=state)


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0005_staging'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='changes',
            field=models.CharField(
                blank=True,
                choices=[('', 'None'), ('begun', 'Begun'), ('made', 'Made'), ('settled', 'Settled'), ('left', 'Left')],
                db_default='',
                default='',
                max_length=8,
            ),
        ),
        migrations.RunPython(read_flags),
        migrations.RemoveField(model_name='importjob', name='arranged'),
        migrations.RemoveField(model_name='importjob', name='left_changed'),
        migrations.RemoveField(model_name='importjob', name='unrestored'),
    ]
