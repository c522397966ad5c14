from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0056_target_label'),
    ]

    operations = [
        migrations.AddField(
            model_name='lab',
            name='report_json',
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
