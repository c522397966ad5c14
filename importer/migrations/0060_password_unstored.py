from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0059_during_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='target',
            name='password_unstored',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
