from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("importer", "0048_imports_by_end")]

    operations = [
        migrations.AddField("target", "by_url", models.BooleanField(default=False, editable=False)),
    ]
