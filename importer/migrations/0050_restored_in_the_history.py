from django.db import migrations


def add_restored(apps, _schema_editor):
    """The fact `restored` of the imports whose old table was back before the history had it."""
    JobFact = apps.get_model("importer", "JobFact")
    back = apps.get_model("importer", "JobRecord").objects.filter(job__restored_at__isnull=False)
    JobFact.objects.bulk_create(
        (
            JobFact(name="restored", record_id=record, number=1.0, text="")
            for record in back.values_list("pk", flat=True)
        ),
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [("importer", "0049_target_by_url")]

    operations = [migrations.RunPython(add_restored, migrations.RunPython.noop)]
