import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('importer', '0055_copy_in_store'),
    ]

    operations = [
        migrations.AddField(
            model_name='target',
            name='label',
            field=models.CharField(
                blank=True,
                db_default='',
                default='',
                max_length=32,
                validators=[
                    django.core.validators.RegexValidator(
                        '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?\\Z',
                        'Use up to 32 small letters, digits and hyphens, such as eu-west.',
                    )
                ],
                verbose_name='loaded by workers with the label',
            ),
        ),
    ]
