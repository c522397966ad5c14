"""`millrace backup`: what it makes restores a whole installation, and nothing is ever restored by half."""

import fcntl
import io
import json
import sqlite3
import stat
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.management.backup.archive import Damaged, checked
from importer.worker.hosts import presence
from tests.conftest import FLAVOURS
from tests.importer.management.in_process import InProcess, make_keys
from tests.importer.management.installation import Installation
from tests.prepared import address_of
from tests.schema import schema_in_file, schema_on_server
from tests.stack import wait_until
from tests.targets import TestServer

CANARY = "CANARY-5t0red"
UPLOAD = """
from pathlib import Path
from importer.jobs.actions import commands
from importer.models import Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import parts, uploads
from importer.worker import local_pool

path = Path({path!r})
source = uploads.begin_upload("people.csv", path.stat().st_size, None)
with path.open("rb") as file:
    parts.append(source, 0, file, source.size)
prepared = prepare(uploads.finish(source), Target.objects.get(), "people", ImportRequest())
job = commands.create(prepared, None)
answer = [job.pk, local_pool.run(job.pk, 2, lambda _: None).status, source.path]
"""
RETRY = """
from importer.jobs.actions import commands
from importer.worker import local_pool

commands.retry({pk})
job = local_pool.run({pk}, 2, lambda _: None)
answer = [job.status, job.loaded_rows, job.source.path]
"""
COMMANDS = "from importer.models import AuditEvent; answer = [each.details for each in AuditEvent.objects.all()]"


def url_of(address: Address) -> str:
    return f"mysql://{quote(address.user)}:{quote(address.password)}@{address.host}:{address.port}/{address.database}"


@pytest.fixture
def warehouse(server: TestServer, database: Address) -> Iterator[Address]:
    """A target with an account whose password is stored, and a table that holds one of the file's rows."""
    with connect(database) as connection:
        execute(connection, f"CREATE USER clerk@'127.0.0.1' IDENTIFIED BY '{CANARY}'")
        execute(connection, "GRANT ALL ON *.* TO clerk@'127.0.0.1'")
        execute(connection, "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40))")
        execute(connection, "INSERT INTO people VALUES (7, 'in the way')")
    yield replace(database, user="clerk", password=CANARY)
    server.run("DROP USER clerk@'127.0.0.1'")


each_kind = pytest.mark.parametrize(
    ("kind", "server"), [("sqlite", "mariadb"), *(("server", each) for each in FLAVOURS)], indirect=["server"]
)


@contextmanager
def application_database(kind: str, server: TestServer) -> Iterator[str]:
    """The URL of a new database of an installation; "" is SQLite in its VAR_DIR."""
    if kind == "sqlite":
        yield ""
        return
    with server.fresh_database() as address:
        server.run(f"ALTER DATABASE {address.database} CHARACTER SET utf8mb4")
        yield url_of(address)


@each_kind
def test_a_restored_installation_imports_with_its_passwords_and_retries_its_jobs(
    kind: str, server: TestServer, warehouse: Address, tmp_path: Path
):
    people = tmp_path / "people.csv"
    people.write_text("id,name\n" + "".join(f"{n},Zoë {n}\n" for n in range(1, 50)))
    backup = tmp_path / "b.tar"
    with application_database(kind, server) as first, application_database(kind, server) as second:
        old = Installation.with_tables(tmp_path / "old", first, WAREHOUSE=CANARY)
        with old.shell() as there:
            there.manage("ensure_admin")
            url = url_of(replace(warehouse, password=""))
            there.manage("target", "add", "warehouse", url, "--password-env", "WAREHOUSE")
            pk, status, path = there.python(UPLOAD.format(path=str(people)))
            assert status == "failed"
            there.manage("backup", "create", str(backup))
        assert CANARY.encode() not in backup.read_bytes()
        Path(path).unlink()

        new = Installation.with_tables(tmp_path / "new", second)
        assert "Everybody signs in again" in new.manage("backup", "restore", str(backup))
        with connect(warehouse) as connection, new.shell() as here:
            execute(connection, "DELETE FROM people")
            status, rows, path = here.python(RETRY.format(pk=pk))
            assert (status, rows) == ("succeeded", 49)
            assert Path(path).is_relative_to(new.var)
            assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
            execute(connection, "DELETE FROM people")
            here.manage("import_csv", str(people), "--target", "warehouse", "--table", "people", "--in-process")
            assert fetch_all(connection, "SELECT COUNT(*), MAX(name) FROM people") == [(49, "Zoë 9")]
            assert "admin: admin" in here.manage("user", "list")
            assert "backup restore" in [each.get("command") for each in here.python(COMMANDS)]


def schema_of(installation: Installation, url: str) -> dict[str, list[str]]:
    return schema_on_server(address_of(url)) if url else schema_in_file(installation.var / "millrace.sqlite3")


@each_kind
def test_one_with_earlier_tables_is_brought_up_to_date(kind: str, server: TestServer, tmp_path: Path):
    """By the migrations that it lacks, to the tables that a new database gets at once.

    On a server into a database without tables: no transaction changes tables.
    """
    backup = tmp_path / "b.tar"
    with application_database(kind, server) as first, application_database(kind, server) as second:
        old, new = Installation.with_tables(tmp_path / "old", first), Installation(tmp_path / "new", second)
        made_at_once = schema_of(old, first)
        with old.shell() as there:
            there.manage("ensure_admin")
            there.manage("migrate", "usersessions", "zero", "--skip-checks")
            assert schema_of(old, first) != made_at_once
            there.manage("backup", "create", str(backup))
        new.manage("backup", "restore", str(backup))
        assert schema_of(new, second) == made_at_once
        with new.shell() as here:
            assert "millrace_" in here.manage("user", "token", "admin", "nightly")
            if kind != "sqlite":
                assert "an earlier version" in here.refused("backup", "restore", str(backup), "--replace")
                assert "token nightly" in here.manage("user", "show", "admin")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, django_db_blocker) -> Installation:
    """An installation with an upload and a file of rejected rows."""
    made = Installation.with_tables(tmp_path_factory.mktemp("installed"))
    with django_db_blocker.unblock():
        InProcess(made).manage("ensure_admin")
    for name in ("uploads/4f", "rejects/1/rows.csv"):
        path = made.var / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n" * 100)
    return made


@pytest.fixture(scope="module")
def backup(installed: Installation, django_db_blocker) -> Path:
    path = installed.folder / "b.tar"
    with django_db_blocker.unblock():
        InProcess(installed).manage("backup", "create", str(path))
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "empty")


@pytest.fixture
def unused(tmp_path: Path) -> Installation:
    """An installation with tables and keys, and nobody in it."""
    made = Installation.with_tables(tmp_path / "unused")
    make_keys(made)
    return made


@pytest.fixture
def here(django_db_blocker) -> Iterator[type[InProcess]]:
    """For commands of which only a refusal or a file matters."""
    with django_db_blocker.unblock():
        yield InProcess


def people(installation: Installation) -> list[tuple]:
    with closing(sqlite3.connect(installation.var / "millrace.sqlite3")) as database:
        return database.execute("SELECT username, password FROM auth_user").fetchall()


def state(installation: Installation) -> dict[str, bytes]:
    """All files of an installation but its database's log and its lock."""
    files = [path for path in installation.var.rglob("*") if path.is_file()]
    left_out = ("lock", "millrace.sqlite3-wal", "millrace.sqlite3-shm")
    return {str(path.relative_to(installation.var)): path.read_bytes() for path in files if path.name not in left_out}


def rewritten(backup: Path, to: Path, **changes: object) -> Path:
    """The backup with another content of some members; `manifest` are changes of the manifest's values."""
    with tarfile.open(backup) as old, tarfile.open(to, "w") as new:
        for member in old:
            content = old.extractfile(member).read()
            content = changes.get(member.name, content)
            if member.name == "manifest.json":
                values = json.loads(content) | changes.get("manifest", {})
                for name, each in changes.items():
                    if name != "manifest":
                        values["files"][name] = {"size": len(each), "sha256": sha256(each).hexdigest()}
                content = json.dumps(values).encode()
            member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    return to


class TestChecked:
    @pytest.mark.parametrize("name", ["database.sqlite3", "uploads/4f", "keys/encryption_key"])
    def test_a_changed_byte_is_found_and_its_file_named(self, name, backup, tmp_path):
        damaged = tmp_path / "damaged.tar"
        with tarfile.open(backup) as archive:
            offset = archive.getmember(name).offset_data
        content = bytearray(backup.read_bytes())
        content[offset + 20] ^= 1
        damaged.write_bytes(content)
        with pytest.raises(Damaged, match=f"is damaged in {name}."):
            checked(damaged)

    def test_an_archive_that_is_cut_off_is_damaged_wherever_it_ends(self, backup, tmp_path):
        cut = tmp_path / "cut.tar"
        with tarfile.open(backup) as archive:
            last = archive.getmember("manifest.json")
        content = backup.read_bytes()
        ends = (0, 100, 512, 5000, len(content) // 2, last.offset, last.offset_data, last.offset_data + last.size - 1)
        for end in ends:
            cut.write_bytes(content[:end])
            with pytest.raises(Damaged):
                checked(cut)

    def test_what_is_no_archive_is_refused(self, tmp_path):
        path = tmp_path / "people.csv"
        path.write_bytes(b"a,b\n1,2\n" * 1000)
        with pytest.raises(Damaged, match="or no backup"):
            checked(path)
        with pytest.raises(Problem, match="cannot be read"):
            checked(tmp_path / "no.tar")

    def test_an_archive_of_a_later_format_says_so(self, backup, tmp_path):
        later = rewritten(backup, tmp_path / "later.tar", manifest={"format": 2, "version": "9.1"})
        with pytest.raises(Problem, match=r"of Millrace 9\.1, whose form or tables"):
            checked(later)


class TestCreate:
    def test_the_file_is_for_its_owner_alone_and_a_warning_says_what_it_holds(self, here, installed, tmp_path):
        path = tmp_path / "b.tar"
        out = here(installed).manage("backup", "create", str(path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "it holds the keys that decrypt them" in out
        assert "1 upload and 1 file of rejected rows" in out
        assert list(tmp_path.iterdir()) == [path]

    def test_another_file_is_not_overwritten(self, here, installed, tmp_path):
        path = tmp_path / "b.tar"
        path.write_text("mine")
        assert "There is a file of this name" in here(installed).refused("backup", "create", str(path))
        assert path.read_text() == "mine"

    def test_a_missing_folder_and_one_that_is_part_of_the_backup_are_refused(self, here, installed):
        assert "cannot be made" in here(installed).refused("backup", "create", str(installed.folder / "no/b.tar"))
        assert "a folder that it holds" in here(installed).refused("backup", "create", str(installed.var / "uploads/b"))

    def test_of_nothing_is_refused(self, here, empty, tmp_path):
        assert "There is no database yet" in here(empty).refused("backup", "create", str(tmp_path / "b.tar"))
        assert not (tmp_path / "b.tar").exists()

    def test_without_room_leaves_nothing_behind(self, installed, tmp_path):
        path = tmp_path / "b.tar"
        installed.largest_file = 300 * 1024
        try:
            assert "Make room" in installed.refused("backup", "create", str(path))
        finally:
            installed.largest_file = 0
        assert not list(tmp_path.iterdir())


class TestRestore:
    def test_brings_back_database_keys_uploads_and_rejects(self, installed, backup, empty):
        empty.manage("backup", "restore", str(backup))
        names = ("uploads/4f", "rejects/1/rows.csv", "keys/secret_key", "keys/encryption_key")
        kept, restored = state(installed), state(empty)
        assert {name: restored[name] for name in names} == {name: kept[name] for name in names}
        assert set(restored) == {*names, "millrace.sqlite3"}
        for path in (empty.var / "millrace.sqlite3", *(empty.var / name for name in names)):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_into_an_installation_in_use_only_with_replace(self, here, backup, unused):
        here(unused).manage("user", "add", "ann", "--role", "admin")
        before = state(unused)
        assert "This installation is in use: people 1." in here(unused).refused("backup", "restore", str(backup))
        assert state(unused) == before
        unused.manage("backup", "restore", str(backup), "--replace")
        assert "ann" not in here(unused).manage("user", "list")

    def test_a_damaged_one_changes_nothing(self, here, backup, unused, tmp_path):
        damaged = tmp_path / "damaged.tar"
        damaged.write_bytes(backup.read_bytes().replace(b"uploads/4f\n", b"uploads/4e\n"))
        before = state(unused)
        assert "is damaged in uploads/4f." in here(unused).refused("backup", "check", str(damaged))
        assert "is damaged in uploads/4f." in here(unused).refused("backup", "restore", str(damaged))
        assert state(unused) == before

    def test_one_of_a_newer_version_is_refused(self, here, backup, empty, tmp_path):
        later = {"version": "9.1", "migrations": {"importer": ["9999_later"]}}
        newer = rewritten(backup, tmp_path / "newer.tar", manifest=later)
        assert "of Millrace 9.1, whose form or tables" in here(empty).refused("backup", "restore", str(newer))

    def test_one_of_another_kind_of_database_is_refused(self, here, backup, empty, tmp_path):
        other = rewritten(backup, tmp_path / "other.tar", manifest={"database": "mysql"})
        why = "database is mysql, this installation's is sqlite"
        assert why in here(empty).refused("backup", "restore", str(other))

    def test_a_database_that_is_none_leaves_everything_as_it_was(self, here, backup, unused, tmp_path):
        wrong = rewritten(backup, tmp_path / "wrong.tar", **{"database.sqlite3": b"no database" * 1000})
        before = state(unused)
        assert "cannot take the backup" in here(unused).refused("backup", "restore", str(wrong))
        assert state(unused) == before

    def test_members_that_lead_out_of_their_folder_are_left_out(self, backup, empty, tmp_path):
        evil = tmp_path / "evil.tar"
        with tarfile.open(backup) as old, tarfile.open(evil, "w") as new:
            for member in old:
                content = old.extractfile(member).read()
                if member.name == "manifest.json":
                    values = json.loads(content)
                    out = tarfile.TarInfo("uploads/../../../out")
                    out.size = 3
                    new.addfile(out, io.BytesIO(b"bad"))
                    values["files"][out.name] = {"size": 3, "sha256": sha256(b"bad").hexdigest()}
                    content = json.dumps(values).encode()
                    member.size = len(content)
                new.addfile(member, io.BytesIO(content))
        empty.manage("backup", "restore", str(evil))
        assert not list(tmp_path.rglob("out"))

    def test_without_room_leaves_everything_as_it_was(self, backup, unused):
        before = state(unused)
        unused.largest_file = 300 * 1024
        assert "cannot be written" in unused.refused("backup", "restore", str(backup))
        assert state(unused) == before

    def test_keys_in_the_environment_that_do_not_fit_are_refused(self, here, installed, backup, empty):
        empty.env["ENCRYPTION_KEYS"] = "k" * 43 + "="
        assert "ENCRYPTION_KEYS lacks the keys of the backup" in here(empty).refused("backup", "restore", str(backup))
        assert not (empty.var / "restore").exists()
        empty.env["ENCRYPTION_KEYS"] += "," + (installed.var / "keys/encryption_key").read_text().strip()
        empty.manage("backup", "restore", str(backup))

    def test_beside_running_processes_is_refused(self, here, backup, empty):
        lock = empty.var / "run" / "lock"
        lock.parent.mkdir(parents=True)
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert "Millrace is running" in here(empty).refused("backup", "restore", str(backup))

    def test_beside_a_worker_of_another_host_is_refused(self, redis, settings, empty: Installation, backup: Path):
        presence.announce("load@there", 4, ["load"])
        elsewhere = Installation(empty.folder, REDIS_URL=settings.REDIS_URL)
        refused = elsewhere.refused("backup", "restore", str(backup))
        assert "Workers of this installation are running: load@there." in refused
        presence.withdraw("load@there")
        elsewhere.manage("backup", "restore", str(backup))

    def test_a_killed_one_has_not_begun_or_is_finished_by_the_next_start(self, installed, backup, unused):
        journal = unused.var / "restore" / "journal.json"
        with closing(sqlite3.connect(unused.var / "millrace.sqlite3")) as busy:
            busy.execute("BEGIN EXCLUSIVE")
            process = unused.start("backup", "restore", str(backup))
            wait_until(journal.exists, what="the journal")
            process.kill()
            process.communicate()
            busy.rollback()
        assert people(unused) == []
        assert "interrupted" in unused.refused("backup", "restore", str(backup))
        assert "A restore that was interrupted is finished" in unused.manage("prepare")
        assert people(unused) == people(installed)
        assert (unused.var / "keys/encryption_key").read_text() == (installed.var / "keys/encryption_key").read_text()
        assert (unused.var / "uploads/4f").read_bytes() == (installed.var / "uploads/4f").read_bytes()
        assert not journal.parent.exists()
