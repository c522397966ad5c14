import socket

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0052_total'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='left_out_json',
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
        # Where existing files were written is not known.
        migrations.AddField(
            model_name='sourcefile',
            name='host',
            field=models.CharField(blank=True, default='', editable=False, max_length=255),
        ),
        migrations.AlterField(
            model_name='sourcefile',
            name='host',
            field=models.CharField(blank=True, default=socket.gethostname, editable=False, max_length=255),
        ),
    ]
