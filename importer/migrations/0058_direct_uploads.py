from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0057_experiment_report'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourcefile',
            name='store_upload',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=1024),
        ),
    ]
