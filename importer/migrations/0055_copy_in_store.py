from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0054_store_etag'),
    ]

    operations = [
        migrations.AlterField(
            model_name='importjob',
            name='plain_copy',
            field=models.CharField(blank=True, max_length=1024),
        ),
    ]
