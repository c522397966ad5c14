from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0058_direct_uploads'),
    ]

    operations = [
        migrations.RenameField(
            model_name='lab',
            old_name='beside_imports',
            new_name='during_imports',
        ),
    ]
