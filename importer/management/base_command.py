"""A command that people may run first of all, before `make run` has made the application's database."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection

from importer.models import Target


class PreparedCommand(BaseCommand):
    """Makes the application's tables where there are none yet. Updating old ones is `manage.py prepare`."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        if Target._meta.db_table not in connection.introspection.table_names():
            call_command("migrate", interactive=False, verbosity=0)
        return super().execute(*args, **options)
