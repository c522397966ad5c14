"""The base of commands that may run before `make run` has created the application's database."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection

from importer.models import Target


class PreparedCommand(BaseCommand):
    """Creates the application's tables if there are none yet. `manage.py prepare` updates existing ones."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        if Target._meta.db_table not in connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        return super().execute(*args, **options)
