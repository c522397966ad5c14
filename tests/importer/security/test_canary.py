"""A password that is stored is nowhere but in ciphertext: not in files, logs, messages, arguments or environments."""

import subprocess
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from redis import Redis

from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute
from importer.models import ImportJob, SourceConnection, Target
from tests.shell import Shell
from tests.stack import Stack

CANARY = "canary-7f3a-in-the-target"
OTHER_CANARY = "canary-7f3a-of-the-connection"


@pytest.fixture
def account(mariadb, transactional_db):
    """The URL of an account whose password is the canary, with a table to load."""
    with connect(mariadb) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40))")
        execute(connection, f"CREATE USER canary@'127.0.0.1' IDENTIFIED BY '{CANARY}'")
        execute(connection, f"GRANT ALL ON {mariadb.database}.* TO canary@'127.0.0.1'")
    yield f"mysql://canary@127.0.0.1:{mariadb.port}/{mariadb.database}"
    with connect(mariadb) as connection:
        execute(connection, "DROP USER canary@'127.0.0.1'")


def add(stack: Stack, *args: str, secret: str) -> str:
    """Run a command, with the secret in its own environment only."""
    before = dict(stack.env)
    stack.env |= {"THE_SECRET": secret}
    try:
        done = stack.manage(*args)
    finally:
        stack.env.clear()
        stack.env.update(before)
    return done.stdout + done.stderr


def manage(shell: Shell, *args: str, check: bool = True) -> str:
    done = shell.manage(*args, check=check)
    return done.stdout + done.stderr


def load(shell: Shell, path: str, *, check: bool = True) -> str:
    return manage(shell, "import_csv", path, "--target=canary", "--table=people", "--workers", "--json", check=check)


def people(folder: Path, name: str, first: int) -> str:
    path = folder / f"{name}.csv"
    path.write_text("id,name\n" + "".join(f"{number},somebody\n" for number in range(first, first + 2000)))
    return str(path)


def test_a_stored_password_is_found_nowhere(stack, shell, account, mariadb, tmp_path):
    said = [
        add(stack, "target", "add", "canary", account, "--password-env", "THE_SECRET", secret=CANARY),
        add(stack, "connection", "add", "web", "https://192.0.2.1/", "--set", "auth=bearer",
            "--secret-env", "password=THE_SECRET", secret=OTHER_CANARY),
        manage(shell, "target", "check", "canary"),
        load(shell, people(tmp_path, "good", 0)),
        load(shell, people(tmp_path, "twice", 0), check=False),
    ]  # fmt: skip
    with connect(mariadb) as connection:
        execute(connection, "ALTER USER canary@'127.0.0.1' IDENTIFIED BY 'another'")
    said += [
        manage(shell, "target", "check", "canary", check=False),
        load(shell, people(tmp_path, "late", 9000), check=False),
    ]  # fmt: skip
    assert "Access denied" in said[-2]
    assert {job.status for job in ImportJob.objects.all()} >= {"succeeded", "failed"}
    assert Target.objects.get().address.password == CANARY
    assert OTHER_CANARY in SourceConnection.objects.get().secrets.values()

    for secret in (CANARY, OTHER_CANARY):
        assert not [text for text in said if secret in text]
        assert files_with(secret, settings.VAR_DIR, stack.folder, tmp_path) == []
        assert not kept_in_redis(stack, secret)
        assert processes_with(secret) == []
    # The search finds what is there.
    assert files_with("somebody", settings.VAR_DIR, stack.folder, tmp_path) != []
    assert files_with(Target.objects.get().password_ciphertext[:40], settings.VAR_DIR) != []


def files_with(secret: str, *folders: Path) -> list[str]:
    """Read by another process: one that closes a file loses its own locks on it, also those of its open database."""
    command = ["grep", "--recursive", "--text", "--files-with-matches", "--fixed-strings", secret]
    return subprocess.run([*command, *folders], capture_output=True, text=True, check=False).stdout.splitlines()


def kept_in_redis(stack: Stack, secret: str) -> bool:
    with Redis.from_url(stack.redis.url) as redis:
        return any(secret.encode() in (redis.dump(key) or b"") + key for key in redis.scan_iter())


def processes_with(secret: str) -> list[list[str]]:
    """The command lines of processes that have the secret in their arguments or environment."""
    found = []
    for process in psutil.process_iter():
        try:
            seen = [*process.cmdline(), *process.environ().values()]
        except psutil.Error:
            continue
        found += [process.cmdline()] if any(secret in each for each in seen) else []
    return found
