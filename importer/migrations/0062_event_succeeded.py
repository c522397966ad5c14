from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0061_worked_at'),
    ]

    operations = [
        migrations.AlterField(
            model_name='notification',
            name='event',
            field=models.CharField(choices=[('failed', 'an import failed'), ('recovered', 'imports work again after one failed'), ('rejects', 'more rows were rejected than the limit'), ('late', 'a schedule is late'), ('no_file', 'a schedule found no file'), ('regression', 'an import was slower than usual'), ('approval', "an import or a lab waits for another person's approval"), ('succeeded', 'an import succeeded')], max_length=16),
        ),
    ]
