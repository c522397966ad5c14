from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0053_hosts'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourcefile',
            name='store_etag',
            field=models.CharField(blank=True, editable=False, max_length=255),
        ),
    ]
