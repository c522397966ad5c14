"""Failures of the target and of the file: each ends the job with a helpful message, and leaves nothing behind."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.steps import chunk_leases
from importer.jobs.steps.chunk_leases import claim_run
from importer.models import Chunk, ImportJob, SourceFile, Target
from importer.models.outcomes import REFUSED, outcome_of
from importer.sources import uploads
from importer.worker import load_chunks, sweep
from tests.engine.loads import rows_of
from tests.importer.steps import created, queued, run, take
from tests.stack import wait_until
from tests.targets import TestServer, on_one_server

pytestmark = [pytest.mark.usefixtures("no_workers"), pytest.mark.both_servers]

ROWS = 1500
PASSWORD = "first-Passw0rd"
Status = ImportJob.Status


@pytest.fixture
def clerk(server: TestServer, database: Address) -> Iterator[str]:
    """An account with exactly the privileges that the README requires."""
    name = f"clerk_{uuid.uuid4().hex[:8]}"
    account = f"{name}@'127.0.0.1'"
    server.run(f"CREATE USER {account} IDENTIFIED BY '{PASSWORD}'")
    server.run(f"GRANT INSERT, SELECT ON {database.database}.* TO {account}")
    yield name
    server.run(f"DROP USER {account}")


@pytest.fixture
def target(database: Address, clerk: str, transactional_db) -> Target:
    with connect(database) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE t (n INT, word VARCHAR(20))")
    target = Target(name="t", host=database.host, port=database.port, user=clerk, database=database.database, tls="off")
    target.set_password(PASSWORD)
    target.save()
    return target


@pytest.fixture
def source(tmp_path: Path, db) -> SourceFile:
    """An uploaded file."""
    path = tmp_path / str(uuid.uuid4())
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    size = path.stat().st_size
    return SourceFile.objects.create(name="words.csv", path=str(path), size=size, received=size, status="ready")


@pytest.fixture(autouse=True)
def runs_of_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each chunk a run of its own, so that a test can act between two chunks."""
    monkeypatch.setattr(chunk_leases, "RUN_CHUNKS", 1)
    monkeypatch.setattr(load_chunks, "TASK_SECONDS", 0)


def in_the_middle(target: Target, source: SourceFile, method: str = "auto") -> ImportJob:
    """A scanned job, with one loaded chunk and further ones pending."""
    job = created(target, source, method=method)
    for _ in range(2):
        lifecycle.advance(job.pk)
        take(queued(job)[0])
    assert job.chunks.filter(status=Chunk.Status.LOADED).count() == 1
    assert job.chunks.exclude(status=Chunk.Status.LOADED).exists()
    return job


def failed(job: ImportJob, *said: str) -> ImportJob:
    """Run the job to its end. It must fail with this message, and release its table."""
    job = run(job)
    assert (job.status, job.table_claim) == (Status.FAILED, None)
    words = f"{job.problem['where']} {job.problem['what']} {job.problem['advice']}"
    for each in said:
        assert each in words
    assert "Traceback" not in words
    return job


def repaired(job: ImportJob, database: Address) -> None:
    """After the cause was removed, a retry must load every row exactly once."""
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
    assert contents(database) == (ROWS, ROWS)


def contents(database: Address) -> tuple:
    return rows_of(database, "SELECT COUNT(*), COUNT(DISTINCT n) FROM t")[0]


def nothing_is_left(database: Address, job: ImportJob) -> None:
    """The table must hold exactly the rows of loaded chunks, and no connection may be open."""
    assert contents(database)[0] == ImportJob.objects.get(pk=job.pk).loaded_rows

    def idle() -> bool:
        with connect(database) as connection:
            sql = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = %s AND ID <> CONNECTION_ID()"
            return fetch_all(connection, sql, (database.database,))[0][0] == 0

    wait_until(idle, what="no connection left on the target")


class TestAccount:
    def test_a_missing_insert_privilege_is_named_and_a_retry_with_it_succeeds(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str
    ):
        job = created(target, source)
        server.run(f"REVOKE INSERT ON {database.database}.* FROM {clerk}@'127.0.0.1'")
        server.run(f"GRANT INSERT ON {database.database}.{ledger.TABLE} TO {clerk}@'127.0.0.1'")
        job = failed(job, "INSERT command denied", "error 1142", "Give the account that right")
        nothing_is_left(database, job)
        with pytest.raises(Problem, match=rf"may not insert into {database.database}\.t\.") as refused:
            created(target, source)
        server.run(refused.value.advice)
        repaired(job, database)

    def test_before_the_first_import_the_ledger_s_rights_are_named(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str
    ):
        """An account with rights on one table only, as for a command that names the server by its URL."""
        server.run(f"REVOKE ALL ON {database.database}.* FROM {clerk}@'127.0.0.1'")
        server.run(f"GRANT INSERT ON {database.database}.t TO {clerk}@'127.0.0.1'")
        server.run(f"DROP TABLE {database.database}.{ledger.TABLE}")
        with pytest.raises(Problem, match=rf"may not create {database.database}\.{ledger.TABLE}\.") as refused:
            created(target, source)
        assert outcome_of(refused.value) == REFUSED
        server.run(refused.value.advice)
        assert run(created(target, source)).status == Status.SUCCEEDED
        assert contents(database) == (ROWS, ROWS)

    @pytest.mark.parametrize("granted", ["INSERT (n, word) ON {db}.t TO {to}", "INSERT ON {db}.t TO {role}"])
    def test_rights_on_columns_and_of_a_role_count(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str, granted: str
    ):
        to, role = f"{clerk}@'127.0.0.1'", f"r{clerk}"
        server.run(f"CREATE ROLE {role}")
        server.run(f"REVOKE INSERT ON {database.database}.* FROM {to}")
        server.run(f"GRANT INSERT ON {database.database}.{ledger.TABLE} TO {to}")
        server.run(f"GRANT {granted.format(db=database.database, to=to, role=role)}")
        server.run(f"GRANT {role} TO {to}")
        server.run(f"SET DEFAULT ROLE {role} {'FOR' if server.flavour == 'mariadb' else 'TO'} {to}")
        assert run(created(target, source)).status == Status.SUCCEEDED
        server.run(f"DROP ROLE {role}")

    def test_with_another_password_since_the_plan_says_where_to_look(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str
    ):
        job = in_the_middle(target, source)
        server.run(f"ALTER USER {clerk}@'127.0.0.1' IDENTIFIED BY 'another-Passw0rd'")
        job = failed(job, "Access denied", "error 1045", "Check user name and password")
        nothing_is_left(database, job)
        assert PASSWORD not in str(job.problem)
        target.set_password("another-Passw0rd")
        target.save()
        repaired(job, database)

    @on_one_server
    def test_with_a_stored_password_that_cannot_be_read_it_fails_and_holds_up_no_other(
        self, database: Address, target: Target, source: SourceFile
    ):
        job = in_the_middle(target, source)
        dead = claim_run(lifecycle.advance(job.pk)[0].id)
        assert dead
        held = Chunk.objects.filter(run=dead.key)
        held.update(lease="2000-01-01T00:00Z", connection_id=1)
        Target.objects.update(password_ciphertext="of another installation")
        sweep.sweep_jobs(lambda *_: None)
        assert set(held.values_list("status", "deaths")) == {(Chunk.Status.PENDING, 1)}
        job = failed(job, "The stored password cannot be read", "enter the password again")
        nothing_is_left(database, job)
        target.save()
        repaired(job, database)

    def test_with_a_wrong_password_from_the_start_nothing_begins(self, target: Target, source: SourceFile):
        target.set_password("wrong")
        with pytest.raises(Problem, match="Check user name and password"):
            created(target, source)
        assert not ImportJob.objects.exists()

    def test_without_a_ledger_and_without_the_right_to_make_one_the_grant_is_near(
        self, server: TestServer, database: Address, target: Target, source: SourceFile
    ):
        job = created(target, source)
        server.run(f"DROP TABLE {database.database}.{ledger.TABLE}")
        job = failed(job, "CREATE command denied", ledger.TABLE, "`millrace plan`, and the check of a target, write")
        nothing_is_left(database, job)
        with connect(database) as connection:
            ledger.create(connection)
        repaired(job, database)


@on_one_server
class TestServerGone:
    def test_a_server_away_before_the_start_is_reported_at_once(
        self, server: TestServer, target: Target, source: SourceFile
    ):
        server.stop()
        try:
            with pytest.raises(Problem, match=r"No server answers there.*Check host and port"):
                created(target, source)
        finally:
            server.start()
        assert not ImportJob.objects.exists()

    def test_for_a_moment_in_the_middle_no_row_is_lost_or_doubled(
        self, server: TestServer, database: Address, target: Target, source: SourceFile
    ):
        job = in_the_middle(target, source)
        server.stop()
        try:
            lifecycle.advance(job.pk)
            for step in queued(job):
                take(step)
            assert ImportJob.objects.get(pk=job.pk).status == Status.LOADING
            waiting = job.chunks.filter(status=Chunk.Status.PENDING).exclude(problem={}).first()
            assert "No server answers there" in waiting.problem["what"]
        finally:
            server.start()
        # What a chunk waits for after a failure is time: let it have passed.
        job.chunks.filter(status=Chunk.Status.PENDING).update(lease=None)
        assert run(job).status == Status.SUCCEEDED
        assert contents(database) == (ROWS, ROWS)

    def test_for_good_the_job_fails_and_a_retry_loads_the_rest(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, settings
    ):
        settings.MAX_ATTEMPTS = 1
        job = in_the_middle(target, source)
        server.stop()
        try:
            job = failed(job, f":{target.port}/", "No server answers there", "Check host and port")
        finally:
            server.start()
        nothing_is_left(database, job)
        repaired(job, database)


class TestServerChanged:
    def test_local_infile_switched_off_since_the_plan_falls_back_to_inserts(
        self, server: TestServer, database: Address, target: Target, source: SourceFile
    ):
        job = in_the_middle(target, source)
        server.run("SET GLOBAL local_infile = 0")
        try:
            job = run(job)
        finally:
            server.run("SET GLOBAL local_infile = 1")
        assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
        assert contents(database) == (ROWS, ROWS)
        reason = next(each for each in job.plan.reasons if each.option == "method")
        assert (job.plan.statements.method, reason.choice) == ("insert_prepared", "Prepared INSERT of many rows")
        assert "SET GLOBAL local_infile = 1" in reason.why
        assert job.plan.statements.plain.startswith("INSERT IGNORE INTO ")

    def test_local_infile_switched_off_is_reported_with_its_fix_if_requested(
        self, server: TestServer, database: Address, target: Target, source: SourceFile
    ):
        job = in_the_middle(target, source, method="load_data_local")
        server.run("SET GLOBAL local_infile = 0")
        try:
            job = failed(job, "refuse", "SET GLOBAL local_infile = 1")
            with pytest.raises(Problem, match="local_infile is OFF"):
                commands.retry(job.pk)
        finally:
            server.run("SET GLOBAL local_infile = 1")
        nothing_is_left(database, job)
        repaired(job, database)

    def test_a_file_privilege_revoked_since_the_plan_falls_back_to_inserts(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str, tmp_path: Path
    ):
        account = f"{clerk}@'127.0.0.1'"
        server.run(f"GRANT FILE ON *.* TO {account}")
        server.run("SET GLOBAL local_infile = 0")
        try:
            with override_settings(SERVER_FILES_DIR="" if server.flavour == "mysql" else str(tmp_path)):
                job = in_the_middle(target, source)
                assert job.plan.statements.method == "load_data_server"
                server.run(f"REVOKE FILE ON *.* FROM {account}")
                job = run(job)
        finally:
            server.run("SET GLOBAL local_infile = 1")
        assert (job.status, job.balanced, job.plan.statements.method) == (Status.SUCCEEDED, True, "insert_prepared")
        assert contents(database) == (ROWS, ROWS)

    @on_one_server
    def test_a_table_dropped_since_the_plan_is_reported(
        self, server: TestServer, database: Address, target: Target, source: SourceFile
    ):
        job = created(target, source)
        server.run(f"DROP TABLE {database.database}.t")
        job = failed(job, "There is no table “t”", "or create it: --mode create")
        with pytest.raises(Problem, match="There is no table “t”"):
            commands.retry(job.pk)
        server.run(f"CREATE TABLE {database.database}.t (n INT, word VARCHAR(20))")
        repaired(job, database)

    @on_one_server
    def test_ledger_dropped_in_the_middle_ends_the_job_before_a_row_comes_twice(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str
    ):
        server.run(f"GRANT CREATE ON {database.database}.* TO {clerk}@'127.0.0.1'")
        job = in_the_middle(target, source)
        server.run(f"DROP TABLE {database.database}.{ledger.TABLE}")
        job = failed(job, f"{ledger.TABLE} has forgotten this import", "import the file as a new one")
        nothing_is_left(database, job)

    @on_one_server
    def test_ledger_dropped_before_the_verification_ends_the_job_before_a_row_comes_twice(
        self, server: TestServer, database: Address, target: Target, source: SourceFile, clerk: str
    ):
        server.run(f"GRANT CREATE ON {database.database}.* TO {clerk}@'127.0.0.1'")
        job = created(target, source)
        while ImportJob.objects.get(pk=job.pk).status != Status.VERIFYING:
            for step in lifecycle.advance(job.pk):
                if step.task != "verify":
                    take(step)
        server.run(f"DROP TABLE {database.database}.{ledger.TABLE}")
        message = f"Somebody has changed the table {ledger.TABLE} during the import"
        job = failed(job, message)
        # A new ledger does not bring the memory back.
        with connect(database) as connection:
            ledger.create(connection)
        commands.retry(job.pk)
        failed(job, message)
        assert contents(database) == (ROWS, ROWS)


@on_one_server
class TestFileGone:
    def test_the_preview_names_a_deleted_file_by_its_upload_name(self, target: Target, source: SourceFile):
        source.file.unlink()
        with pytest.raises(Problem, match="no such file") as caught:
            created(target, source)
        assert str(uploads.with_file_name(caught.value, source)) == (
            "words.csv: The uploaded file is no longer on this server. Upload it again."
        )

    def test_deleted_between_plan_and_scan(self, database: Address, target: Target, source: SourceFile):
        job = created(target, source)
        source.file.unlink()
        job = failed(job, "words.csv", "no longer on this server", "Upload it again")
        assert source.file.name not in str(job.problem)
        nothing_is_left(database, job)

    def test_deleted_in_the_middle_and_put_back_a_retry_loads_the_rest(
        self, database: Address, target: Target, source: SourceFile
    ):
        content = source.file.read_bytes()
        job = in_the_middle(target, source)
        source.file.unlink()
        job = failed(job, "words.csv", "no longer on this server")
        nothing_is_left(database, job)
        source.file.write_bytes(content)
        repaired(job, database)

    def test_shrunk_in_the_middle(self, database: Address, target: Target, source: SourceFile):
        job = in_the_middle(target, source)
        with source.file.open("r+b") as out:
            out.truncate(source.size // 2)
        job = failed(job, "words.csv", "shorter", "import it again as a new file")
        nothing_is_left(database, job)

    def test_edited_in_the_middle_without_a_change_of_size(self, database: Address, target: Target, source: SourceFile):
        job = in_the_middle(target, source)
        source.file.write_bytes(source.file.read_bytes().replace(b"word 1499", b"WORD 1499"))
        job = failed(job, "words.csv", "The file has changed", "import it again as a new file")
        nothing_is_left(database, job)
