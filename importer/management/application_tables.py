"""Creates the application's tables before the first command, and updates those of a person's own installation."""

import os
import subprocess
import sys
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from importer.engine.errors import Problem
from importer.models import Target

# Migrations need all applications, also those that a light command does without.
ALL_APPLICATIONS = "config.settings"
MIGRATE = "from django.core.management import call_command as call; import django; django.setup()"


def require_tables() -> None:
    """Create the tables if there are none; update those of an older version, where nobody else uses them.

    Raises Problem for tables of an older version in an installation with workers and pages: these may still run it.
    """
    if Target._meta.db_table not in connection.introspection.table_names():
        _migrate()
    elif _newest_applied() < _newest():
        if settings.IS_CHECKOUT or connection.vendor != "sqlite":
            raise Problem(
                "The application's database is of an older version of Millrace.",
                advice="Stop its processes, and run: millrace prepare",
            )
        sys.stderr.write("Updating the records of earlier imports to this version of Millrace.\n")
        _migrate()


def _newest() -> str:
    """The name of the newest migration of the importer. Names begin with a number of four digits."""
    folder = Path(apps.get_app_config("importer").path, "migrations")
    return max(each.stem for each in folder.glob("[0-9]*.py"))


def _newest_applied() -> str:
    names = MigrationRecorder.Migration.objects.filter(app="importer").values_list("name", flat=True)
    return max(names, default="")


def _migrate() -> None:
    if os.environ.get("DJANGO_SETTINGS_MODULE") != "config.light_settings":
        call_command("migrate", interactive=False, verbosity=0)
        return
    connection.close()
    places = os.pathsep.join(filter(None, (str(settings.BASE_DIR), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": ALL_APPLICATIONS, "PYTHONPATH": places}
    program = f"{MIGRATE}; call('migrate', interactive=False, verbosity=0)"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(
            "The application's tables could not be created.",
            where=str(settings.VAR_DIR),
            advice=done.stderr.strip().rpartition("\n")[2],
        )
