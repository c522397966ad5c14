from django.db import migrations, models


class Migration(migrations.Migration):
    """Chunks that were scanned before may have NULL markers anywhere."""

    dependencies = [
        ("importer", "0021_guess_count"),
    ]

    operations = [
        migrations.AddField(
            model_name="chunk",
            name="null_marker",
            field=models.BooleanField(default=True),
        ),
    ]
