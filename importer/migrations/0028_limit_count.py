from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0027_asked_by'),
    ]

    operations = [
        migrations.RenameModel(old_name='GuessCount', new_name='LimitCount'),
        migrations.RenameField(model_name='limitcount', old_name='tries', new_name='uses'),
        migrations.RenameField(model_name='limitcount', old_name='touched', new_name='kept_until'),
    ]
