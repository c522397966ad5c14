from django.db import migrations


def rename_fact(old, new):
    """A step that gives a fact of the history another name."""

    def rename(apps, schema_editor):
        apps.get_model("importer", "JobFact").objects.filter(name=old).update(name=new)

    return rename


class Migration(migrations.Migration):
    """One word, attempt, for each time that an import or a schedule's run is begun."""

    dependencies = [
        ('importer', '0043_imports_of_file'),
    ]

    operations = [
        migrations.RenameField(model_name='importjob', old_name='tries', new_name='attempts'),
        migrations.RenameField(model_name='importjob', old_name='tried_at', new_name='attempt_started_at'),
        migrations.RenameField(model_name='importjob', old_name='past_tries_json', new_name='past_attempts_json'),
        migrations.RenameField(model_name='schedule', old_name='tries', new_name='most_attempts'),
        migrations.RunPython(rename_fact("tries", "attempts"), rename_fact("attempts", "tries")),
    ]
