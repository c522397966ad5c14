"""One app for codes and one set of recovery codes for each person, also on MySQL and MariaDB.

allauth says so by a unique constraint with a condition, which these servers cannot have. A generated column that is NULL
for passkeys, and a unique key on it, say the same.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Max

SOLE = ("totp", "recovery_codes")
ADD = (
    "ALTER TABLE mfa_authenticator ADD COLUMN sole_user_id BIGINT"
    " GENERATED ALWAYS AS (CASE WHEN type IN ('totp', 'recovery_codes') THEN user_id END) VIRTUAL,"
    " ADD UNIQUE KEY sole_authenticator (sole_user_id, type)"
)
REMOVE = "ALTER TABLE mfa_authenticator DROP KEY sole_authenticator, DROP COLUMN sole_user_id"


def add(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "mysql":
        sole = apps.get_model("mfa", "Authenticator").objects.filter(type__in=SOLE)
        newest = list(sole.values("user", "type").annotate(newest=Max("pk")).values_list("newest", flat=True))
        sole.exclude(pk__in=newest).delete()
        editor.execute(ADD)


def remove(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "mysql":
        editor.execute(REMOVE)


class Migration(migrations.Migration):
    atomic = False  # These servers commit with each change of a table.
    dependencies = [("importer", "0034_access_token"), ("mfa", "0003_authenticator_type_uniq")]

    operations = [migrations.RunPython(add, remove)]
