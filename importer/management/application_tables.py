"""Creates the application's tables before the first command, and updates those of a person's own installation.

After migrations it sees to it that the number of an import is given once.

Says what is wrong with a database of the application that cannot be used.
"""

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Max

from config.environment import python_path
from importer.engine.errors import Problem
from importer.engine.mysql.error_messages import MEANINGS
from importer.models import ImportJob, JobRecord, Target
from importer.sources.room import in_words, is_full

# Migrations need all applications, also those that a light command does without.
ALL_APPLICATIONS = "config.settings"
MIGRATE = ("-c", "from config.command_line import main; main()", "migrate", "--no-input", "-v0", "--skip-checks")
MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
IMPORTS = ImportJob._meta.db_table


def require_tables() -> None:
    """Create the tables if there are none; update those of an older version, where nobody else uses them.

    Raises Problem for tables of an older version in an installation with workers and pages: these may still run it.
    """
    if not _exist():
        sys.stderr.write(f"First use: Millrace keeps its records in {settings.VAR_DIR}.\n")
        with _one_at_a_time():
            # Another first command may have been faster.
            if not _exist():
                _migrate()
    elif _newest_applied() < _newest():
        if settings.IS_CHECKOUT or connection.vendor != "sqlite":
            raise Problem(
                "The application's database is of an older version of Millrace.",
                advice="Stop its processes, and run: millrace prepare",
            )
        sys.stderr.write("Updating the records of earlier imports to this version of Millrace.\n")
        _migrate()


def unusable(error: OperationalError) -> Problem | None:
    """What keeps the application's database from being used, such as a full disk; None for an error of a statement.

    SQLite has SQLITE_ERROR for those (sqlite.org/rescode.html).
    """
    # An error that a process of the pool has raised has it itself (worker/local_pool.py).
    cause = error if "sqlite_errorname" in vars(error) else error.__cause__
    kind = getattr(cause, "sqlite_errorname", None) or "SQLITE_ERROR"
    what, advice = str(error), "Make room there, and look at the rights of the folder; VAR_DIR names another one."
    if connection.vendor == "mysql" and error.args[:1] and error.args[0] in MEANINGS:
        what, advice = str(error.args[-1]), MEANINGS[error.args[0]].advice
    elif kind == "SQLITE_ERROR":
        return None
    where = f"{connection.settings_dict['HOST'] or ''} {connection.settings_dict['NAME']}".strip()
    what = f"Millrace cannot use its own database: {what}."
    if connection.vendor == "sqlite" and (kind == "SQLITE_FULL" or is_full(Path(where).parent)):
        what = f"{what} {in_words(Path(where).parent)}"
    return Problem(what, where, f"{advice} Imports that had begun: millrace job list.")


def next_number() -> int:
    """The first number above those of all imports and records."""
    return 1 + max(kind._default_manager.aggregate(most=Max("pk"))["most"] or 0 for kind in (ImportJob, JobRecord))


def continue_numbers() -> None:
    """Let the next import have a number that none had before: the records of deleted imports still have theirs.

    A restored database counts on from its last row, and SQLite does so after a migration that creates a table again.
    """
    if {IMPORTS, JobRecord._meta.db_table} - set(connection.introspection.table_names()):
        return  # Not all migrations have run, such as by `migrate auth`.
    number = next_number()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            _continue_on_sqlite(cursor, number)
        else:
            _continue_on_server(cursor, number)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Wait until no other command makes the tables of this VAR_DIR. The lock is on the folder: no file stays."""
    folder = os.open(settings.VAR_DIR, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _exist() -> bool:
    return Target._meta.db_table in connection.introspection.table_names()


def _newest() -> str:
    """The name of the newest migration of the importer. Names begin with a number of four digits."""
    return max(each.stem for each in MIGRATIONS.glob("[0-9]*.py"))


def _newest_applied() -> str:
    names = MigrationRecorder.Migration.objects.filter(app="importer").values_list("name", flat=True)
    return max(names, default="")


def _migrate() -> None:
    if os.environ.get("DJANGO_SETTINGS_MODULE") != "config.light_settings":
        call_command("migrate", interactive=False, verbosity=0)
        return
    connection.close()
    places = {"DJANGO_SETTINGS_MODULE": ALL_APPLICATIONS, "PYTHONPATH": python_path(settings.BASE_DIR)}
    environment = {**os.environ, **places}
    done = subprocess.run([sys.executable, *MIGRATE], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(
            "The application's tables could not be created.",
            where=str(settings.VAR_DIR),
            advice=done.stderr.strip().rpartition("\n")[2],
        )


def _continue_on_sqlite(cursor: Any, number: int) -> None:
    """Its table of counters has the last number of each table that ever had a row (sqlite.org/autoinc.html)."""
    cursor.execute("UPDATE sqlite_sequence SET seq = MAX(seq, %s) WHERE name = %s", (number - 1, IMPORTS))
    if number > 1 and not cursor.rowcount:
        cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", (IMPORTS, number - 1))


def _continue_on_server(cursor: Any, number: int) -> None:
    # The figure in information_schema may be a day old (information_schema_stats_expiry).
    cursor.execute(f"SHOW CREATE TABLE {IMPORTS}")
    found = re.search(r"\bAUTO_INCREMENT=(\d+)", cursor.fetchone()[1])
    if number > (int(found[1]) if found else 1):
        cursor.execute(f"ALTER TABLE {IMPORTS} AUTO_INCREMENT = {number}")
