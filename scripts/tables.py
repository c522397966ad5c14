"""`make tables`: writes the tables of a new SQLite database of the application as SQL, for the first use of a command.

To migrate an empty database takes seconds. A test compares what is written here with the result of the migrations.
"""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

DATABASE = "millrace.sqlite3"
# The time at which a migration was applied differs with each database.
SOME_TIME = "2000-01-01 00:00:00"


def main() -> None:
    """Migrate a new database, and write its tables into the file that commands read."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"VAR_DIR": folder, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from importer.management.application_tables import TABLES

        TABLES.write_text(tables_of(Path(folder) / DATABASE))


def tables_of(database: Path) -> str:
    """What makes the tables of a migrated database, with their rows: statements that end in END. Needs Django."""
    from importer.management.application_tables import END, head_of

    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as source, sqlite3.connect(":memory:") as copy:
        source.backup(copy)
        copy.execute("UPDATE django_migrations SET applied = ?", (SOME_TIME,))
        copy.commit()
        statements = [each for each in copy.iterdump() if each not in ("BEGIN TRANSACTION;", "COMMIT;")]
        (newest,) = copy.execute("SELECT MAX(name) FROM django_migrations WHERE app = 'importer'").fetchone()
    # A row of a table that refers to another one needs both.
    tables = [each for each in statements if each.startswith("CREATE TABLE")]
    others = [each for each in statements if not each.startswith("CREATE TABLE")]
    return head_of(newest) + END + END.join([*tables, *others]) + END


if __name__ == "__main__":
    main()
