from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0009_channel_rests'),
    ]

    operations = [
        migrations.AlterField(
            model_name='sourceconnection',
            name='kind',
            field=models.CharField(choices=[('folder', 'folder on this server'), ('http', 'web server (HTTP, HTTPS)'), ('s3', 'S3 or compatible'), ('sftp', 'SFTP'), ('ftp', 'FTP, also over TLS')], max_length=8),
        ),
    ]
