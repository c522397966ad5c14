"""`millrace prepare`: updates this installation's own database, static files, first account and folder."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from importer.engine.errors import Problem
from importer.management.backup.restore import finish_interrupted
from importer.management.base_command import CheckedCommand
from importer.sources import abandoned
from importer.sources.store.file_store import file_store


class Command(CheckedCommand):
    help = "Before the processes start: migrate, collectstatic and ensure_admin. Safe to repeat."

    def handle(self, *_args: Any, **_options: Any) -> None:
        _require_utf8mb4()
        if finish_interrupted():
            self.stdout.write("A restore that was interrupted is finished.")
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        call_command("ensure_admin", stdout=self.stdout)
        _make_incoming()
        if warning := _store_problem():
            self.stderr.write(warning)
        abandoned.finish_received()


def _store_problem() -> str:
    """Why the store cannot be used; "" if it can, or if there is none. Nothing waits for it: it may come later."""
    try:
        if store := file_store():
            store.check()
    except Problem as problem:
        return f"The store FILE_STORE does not work yet: {problem}"
    return ""


def _make_incoming() -> None:
    """Create the default folder that files are picked up from, if IMPORT_FOLDERS has it."""
    if str(settings.INCOMING_DIR) in settings.IMPORT_FOLDERS:
        settings.INCOMING_DIR.mkdir(exist_ok=True, mode=0o700)


def _require_utf8mb4() -> None:
    """Raise Problem unless the database is utf8mb4. MariaDB's default latin1 cannot store a Japanese file name."""
    if connection.vendor != "mysql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@character_set_database, DATABASE()")
        charset, name = cursor.fetchone()
    if charset != "utf8mb4":
        raise Problem(
            f"The application's database {name} has the character set {charset}.",
            advice=f"Run this on its server first: ALTER DATABASE `{name}` CHARACTER SET utf8mb4;",
        )
