"""`make demo`: imports a real file into a private server, then serves the dashboard until Ctrl-C."""

import argparse
import io
import os
import subprocess
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from MySQLdb.connections import Connection

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.management.processes.private_databases import PrivateDatabase
from importer.management.processes.private_servers import is_free
from importer.management.processes.serving import alone, serving
from importer.management.processes.supervision import CannotStart, Stopped, Supervisor
from importer.management.processes.web_address import address, use_port
from scripts.flights import ROWS, TABLE, flights_file
from scripts.servers import private_database

NAME = "demo"
PORTS_TO_TRY = 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--exit", action="store_true", help="stop after the import; non-zero unless it balanced")
    end_after_import = arguments.parse_args().exit

    choose_port()
    file = flights_file(settings.VAR_DIR / "demo")
    database = prepare_database()
    with serving({"database": "python -m scripts.servers"}) as supervisor:
        supervisor.wait_for(f"the private {database.label}", database.answers)
        register_target(database)
        end_former_imports(supervisor)
        make_table(database)
        complete = import_flights(file) and count_flights(database) == ROWS
        if not complete:
            print(f"The import failed or is incomplete. Logs: {settings.VAR_DIR / 'log'}", file=sys.stderr)
        if end_after_import:
            sys.exit(0 if complete else 1)
        print(f"\nThe import, its timings and its plan: {address()}   (Ctrl-C stops everything)", flush=True)
        supervisor.wait_for_stop()


def choose_port() -> None:
    """Use PORT if it is free, else the next free port. Raises CannotStart if PORTS_TO_TRY ports are taken."""
    first = settings.PORT
    port = next((port for port in range(first, first + PORTS_TO_TRY) if is_free(port, settings.BIND)), None)
    if port is None:
        raise CannotStart(f"No port from {first} on is free. Name a free one: make demo PORT=...")
    if port != first:
        print(f"Port {first} is taken; the dashboard will be on {port}.")
        use_port(port)


def prepare_database() -> PrivateDatabase:
    """The private database with its data folder created, on a free port."""
    folder = settings.VAR_DIR / "database"
    database = private_database(folder)
    if not is_free(database.port):
        taken, database = database.port, private_database(folder, new_port=True)
        print(f"Port {taken} is taken; the private {database.label} moves to {database.port}.")
    print(f"Preparing a private {database.label} on 127.0.0.1:{database.port}", flush=True)
    database.prepare()
    return database


def register_target(database: PrivateDatabase) -> None:
    """Create the database `demo`, and save it as the target `demo` with the server's current port."""
    with _connection(database, "mysql") as connection:
        execute(connection, f"CREATE DATABASE IF NOT EXISTS {NAME}")
    call_command("target", "add", NAME, f"{database.url}{NAME}", "--replace", "--moved")
    findings = io.StringIO()
    try:
        call_command("target", "check", NAME, stdout=findings)
    except SystemExit:
        raise CannotStart(f"The private {database.label} is not fit for imports:\n{findings.getvalue()}") from None


def end_former_imports(supervisor: Supervisor) -> None:
    """Cancel unfinished imports of an interrupted demo, which would continue into the table that is dropped next.

    Imports into other tables continue.
    """
    from importer.jobs.actions import commands
    from importer.models import ImportJob

    unfinished = ImportJob.objects.filter(target__name=NAME, table_name="flights").exclude(status__in=ImportJob.ENDED)
    for job in unfinished.exclude(status=ImportJob.Status.CANCELLING):
        commands.cancel(job.pk)
    if unfinished.exists():
        supervisor.wait_for("the end of an interrupted import", lambda: not unfinished.exists())


def make_table(database: PrivateDatabase) -> None:
    """Create an empty table `flights`; that of an earlier demo is dropped."""
    with _connection(database) as connection:
        if fetch_all(connection, "SHOW TABLES LIKE 'flights'"):
            print("Dropping the table demo.flights of an earlier demo", flush=True)
            execute(connection, "DROP TABLE flights")
        execute(connection, TABLE)


def import_flights(file: Path) -> bool:
    """Import with the command that a user would run; return whether it succeeded and balanced."""
    words = ["--to", NAME, "--table", "flights", "--null", "NA", "--workers"]
    print(f"\n  millrace load {file.name} {' '.join(words)}", flush=True)
    command = [sys.executable, "-m", "importer.management.command_line", "load", str(file), *words]
    # In a session of its own the command does not get the terminal's Ctrl-C: we end it together with the rest.
    process = subprocess.Popen(command, cwd=settings.BASE_DIR, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait() == 0
    finally:
        process.kill()
        process.wait()


def count_flights(database: PrivateDatabase) -> int:
    with _connection(database) as connection:
        return int(fetch_all(connection, "SELECT COUNT(*) FROM flights")[0][0])


def _connection(database: PrivateDatabase, name: str = NAME) -> Connection:
    return connect(Address("127.0.0.1", database.port, "root", "", name))


def until_stopped() -> None:
    """Run the demo until it ends or is stopped by a signal; a failed start is reported without a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    try:
        with alone():
            main()
    except Stopped:
        return
    except Problem as problem:
        sys.exit(f"\n{problem}")


if __name__ == "__main__":
    until_stopped()
