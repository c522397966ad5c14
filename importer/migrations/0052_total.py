from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0051_server_path'),
    ]

    operations = [
        migrations.CreateModel(
            name='Total',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(choices=[('rows', 'Rows'), ('bytes', 'Bytes'), ('chunks', 'Chunks'), ('chunk seconds', 'Chunk Seconds'), ('ended', 'Ended'), ('retries', 'Retries'), ('expired', 'Expired')], max_length=16)),
                ('target', models.CharField(blank=True, max_length=64)),
                ('kind', models.CharField(blank=True, max_length=32)),
                ('amount', models.FloatField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'target', 'kind'), name='one_total_of_a_kind')],
            },
        ),
    ]
