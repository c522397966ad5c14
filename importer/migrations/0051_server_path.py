from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0050_restored_in_the_history'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourcefile',
            name='server_path',
            field=models.CharField(blank=True, editable=False, max_length=1024),
        ),
    ]
