"""Jobs with staging modes, with the worker's steps taken one by one in this process."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute
from importer.engine.target import staging
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.steps import staging as job_staging
from importer.jobs.steps.staging import CLEAN_AGAIN
from importer.jobs.steps.table_backup import drop_backup, restore_backup
from importer.models import ImportJob, Target
from importer.worker import local_pool, stage_and_finish, sweep
from tests.engine.loads import rows_of, run_sql
from tests.fail_over import forget
from tests.importer.steps import created, now, queued, run, take, until
from tests.importer.word_file import word_file
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 1000
Status = ImportJob.Status

TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20))",
    "INSERT INTO t VALUES (-1, 'was there'), (5, 'five')",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return word_file(tmp_path / "words.csv", range(10, 10 + ROWS))


@pytest.fixture
def met(tmp_path: Path) -> Path:
    """Rows, one of which has the key of a row in the table."""
    return word_file(tmp_path / "met.csv", range(ROWS))


def rows(target: Target, sql: str = "SELECT COUNT(*) FROM t") -> list[tuple]:
    return rows_of(target.address, sql)


def tables(target: Target) -> set[str]:
    return {row[0] for row in rows(target, "SHOW TABLES")}


def as_it_was(target: Target, job: ImportJob) -> None:
    """The table must be unchanged, and nothing of the job may be left on the server."""
    assert rows(target, "SELECT * FROM t ORDER BY n") == [(-1, "was there"), (5, "five")]
    assert tables(target) == {"t", ledger.TABLE}
    job = now(job)
    assert (job.loaded_rows, job.leftover, job.table_claim) == (0, False, None)


@pytest.mark.parametrize(
    ("mode", "options", "counts", "in_table"),
    [
        ("atomic", {}, (ROWS, 0, 0), ROWS + 2),
        ("replace", {}, (ROWS, 0, 0), ROWS),
        ("upsert", {}, (ROWS, 0, 0), ROWS + 2),
    ],
)
def test_a_staging_import_succeeds_and_leaves_no_staging_table(target, file, mode, options, counts, in_table):
    job = run(created(target, file, mode=mode, **options))
    assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
    assert (job.loaded_rows, job.replaced_rows, job.skipped_rows) == counts
    assert rows(target) == [(in_table,)]
    old = {job.kept_table} if mode == "replace" else set()
    assert tables(target) == {"t", ledger.TABLE, *old}
    assert not job.leftover


@pytest.mark.parametrize(
    ("mode", "policy", "counts", "five"),
    [
        ("atomic", "skip", (ROWS - 1, 0, 1), "five"),
        ("atomic", "replace", (ROWS - 1, 1, 0), "word 5"),
        ("upsert", "fail", (ROWS - 1, 1, 0), "word 5"),
    ],
)
def test_a_row_with_an_existing_key_is_counted_by_its_outcome(target, met, mode, policy, counts, five):
    job = run(created(target, met, mode=mode, on_duplicate=policy))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert (job.loaded_rows, job.replaced_rows, job.skipped_rows) == counts
    assert rows(target, "SELECT word FROM t WHERE n = 5") == [(five,)]
    assert rows(target) == [(ROWS + 1,)]


@pytest.mark.parametrize(
    ("mode", "policy", "counts"),
    [
        ("append", "replace", (ROWS - 3, 2, 3)),
        ("atomic", "replace", (ROWS - 3, 2, 3)),
        ("upsert", "last", (ROWS - 3, 2, 3)),
        # Only the file's own rows meet each other in the new table.
        ("replace", "replace", (ROWS, 1, 1)),
    ],
)
def test_rows_that_equal_those_with_their_key_are_unchanged(target, met, mode, policy, counts):
    rows(target, "INSERT INTO t VALUES (6, 'word 6'), (7, 'word 7')")
    met.write_text(f"{met.read_text()}8,word 8\n9,another\n")
    job = run(created(target, met, mode=mode, on_duplicate=policy))
    assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
    assert (job.loaded_rows, job.replaced_rows, job.unchanged_rows) == counts
    assert (job.scanned_rows, job.accounted_rows, job.rows_in_table) == (ROWS + 2, ROWS + 2, ROWS + 2)
    assert rows(target, "SELECT word FROM t WHERE n IN (5, 8, 9) ORDER BY n") == [
        ("word 5",),
        ("word 8",),
        ("another",),
    ]


def test_a_duplicate_fails_an_atomic_import_and_a_retry_starts_over(target, met):
    job = run(created(target, met, mode="atomic"))
    assert job.status == Status.FAILED
    assert "with this key" in job.problem["what"]
    as_it_was(target, job)
    rows_key = job.key
    run_sql(target.address, "DELETE FROM t WHERE n = 5")
    commands.retry(job.pk)
    job = run(job)
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert job.key != rows_key
    assert rows(target) == [(ROWS + 1,)]


@pytest.mark.parametrize("mode", ["atomic", "replace", "upsert"])
def test_bad_rows_leave_the_table_unchanged(target, file, mode):
    file.write_text(file.read_text().replace("word 900\n", "a word that is much too long\n"))
    job = run(created(target, file, mode=mode))
    assert job.status == Status.FAILED
    assert job.problem["rows"][0]["line"] == 892
    as_it_was(target, job)


@pytest.mark.one_of("mode")
@pytest.mark.parametrize("mode", ["atomic", "replace", "upsert"])
@pytest.mark.parametrize("at", ["scan", "load_run", "finish"])
def test_a_cancel_leaves_the_table_unchanged_and_a_retry_starts_over(target, file, mode, at):
    job = created(target, file, mode=mode)
    until(job, at)
    commands.cancel(job.pk)
    job = run(job)
    assert job.status == Status.CANCELLED
    as_it_was(target, job)
    commands.retry(job.pk)
    assert run(job).status == Status.SUCCEEDED
    assert rows(target) == [(ROWS if mode == "replace" else ROWS + 2,)]


@pytest.mark.parametrize("mode", ["atomic", "replace", "upsert"])
def test_a_worker_that_dies_after_the_finishing_step_and_before_its_record(target, file, mode, monkeypatch):
    job = created(target, file, mode=mode)
    until(job, "finish")
    monkeypatch.setattr(job_staging, "record_finished", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        stage_and_finish.finish_job(job.pk, lambda *_: None)
    monkeypatch.undo()
    ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
    job = run(job)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, ROWS)
    assert rows(target) == [(ROWS if mode == "replace" else ROWS + 2,)]
    assert not job.leftover


@pytest.mark.parametrize("mode", ["atomic", "replace"])
def test_a_cancel_that_comes_after_the_finishing_step_is_too_late(target, file, mode, monkeypatch):
    job = created(target, file, mode=mode)
    until(job, "finish")
    monkeypatch.setattr(job_staging, "record_finished", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        stage_and_finish.finish_job(job.pk, lambda *_: None)
    monkeypatch.undo()
    commands.cancel(job.pk)
    ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
    job = run(job)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, ROWS)
    assert rows(target) == [(ROWS if mode == "replace" else ROWS + 2,)]


def test_a_doubled_message_finds_nothing_to_do(target, file):
    job = created(target, file, mode="atomic")
    while not now(job).ended:
        for step in lifecycle.advance(job.pk):
            take(step)
            take(step)
    assert now(job).status == Status.SUCCEEDED
    assert rows(target) == [(ROWS + 2,)]


def test_staged_chunks_that_a_fail_over_lost_are_loaded_again(target, file):
    job = created(target, file, mode="atomic")
    until(job, "finish")
    lost = job.chunks.get(number=1)
    with connect(target.address) as connection:
        forget(connection, str(job.key), "chunk = 1")
        stage, first = staging.staging_name(str(job.key)), lost.first_row + 9
        execute(connection, f"DELETE FROM {stage} WHERE n >= %s AND n < %s", (first, first + lost.rows))
    job = run(job)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, ROWS)
    assert rows(target) == [(ROWS + 2,)]


def test_a_server_that_is_away_while_cleaning_is_cleaned_up_by_a_later_sweep(target, file, settings, server):
    settings.MAX_ATTEMPTS = 2
    job = created(target, file, mode="atomic")
    until(job, "finish")
    server.kill()
    commands.cancel(job.pk)
    job = run(job)
    assert (job.status, job.leftover) == (Status.CANCELLED, True)
    with pytest.raises(Problem, match="not cleaned up yet"):
        commands.retry(job.pk)
    server.start()
    ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
    sweep.sweep_jobs(lambda job_id, _later: [take(step) for step in lifecycle.advance(job_id)])
    assert now(job).status == Status.CANCELLED
    as_it_was(target, job)


def test_a_server_that_is_away_after_the_end_is_asked_again_soon(target, file, server):
    """A retry and the next import wait for it, so that it must not take ten minutes."""
    job = run(created(target, file, mode="atomic"))
    # As after a finishing step whose own try to drop the staging table failed.
    ImportJob.objects.filter(pk=job.pk).update(staging="ready")
    lifecycle.advance(job.pk)
    server.kill()
    before = timezone.now()
    for step in queued(job):
        take(step)
    assert (now(job).leftover, now(job).step_failures) == (True, 1)
    assert now(job).step_lease < before + CLEAN_AGAIN / 2
    server.start()
    ImportJob.objects.filter(pk=job.pk).update(step_lease=before)
    sweep.sweep_jobs(lambda job_id, _later: [take(step) for step in lifecycle.advance(job_id)])
    assert (now(job).status, now(job).leftover) == (Status.SUCCEEDED, False)


def test_two_jobs_on_one_table_come_one_after_the_other(target, file):
    first, second = created(target, file, mode="replace"), created(target, file, mode="atomic", on_duplicate="skip")
    lifecycle.advance(first.pk)
    assert lifecycle.advance(second.pk) == []
    assert run(first).status == Status.SUCCEEDED
    second = run(second)
    assert (second.status, second.loaded_rows, second.skipped_rows) == (Status.SUCCEEDED, 0, ROWS)
    assert not queued(second)


def test_two_replacements_by_two_targets_of_one_table_do_not_mix(target, file, met, database):
    first, second = created(target, file, mode="replace"), created(saved_target(database, "twin"), met, mode="replace")
    while not (now(first).ended and now(second).ended):
        for job in (first, second):
            lifecycle.advance(job.pk)
            for step in queued(job)[:1]:
                take(step)
    of_first, of_second = (set(range(low, low + ROWS)) for low in (10, 0))
    assert {number for (number,) in rows(target, "SELECT n FROM t")} in (of_first, of_second)
    assert Status.SUCCEEDED in {now(first).status, now(second).status}


def test_a_pause_delays_the_finishing_step(target, file):
    job = created(target, file, mode="atomic")
    until(job, "load_run")
    commands.pause(job.pk)
    run(job)
    assert rows(target) == [(2,)]
    commands.resume(job.pk)
    assert run(job).status == Status.SUCCEEDED


def test_a_missing_create_privilege_is_reported_before_the_import(target, file, server):
    database = target.database
    with connect(target.address) as connection:
        ledger.create(connection)
    server.run("CREATE USER poor@'%' IDENTIFIED BY 'p'")
    server.run(f"GRANT SELECT, INSERT ON {database}.* TO poor@'%'")
    try:
        target.user = "poor"
        target.set_password("p")
        target.save()
        with pytest.raises(Problem, match="may not CREATE or ALTER or DROP or UPDATE") as raised:
            created(target, file, mode="upsert")
        assert raised.value.advice.startswith("GRANT INSERT, SELECT, CREATE, ALTER, DROP, UPDATE ON")
        server.run(raised.value.advice)
        assert run(created(target, file, mode="upsert")).status == Status.SUCCEEDED
    finally:
        server.run("DROP USER poor@'%'")


class TestKept:
    """The table backup of mode replace."""

    @pytest.fixture
    def replaced(self, target, file) -> ImportJob:
        return run(created(target, file, mode="replace"))

    def test_restore_brings_the_old_table_back_once_and_keeps_the_new_one(self, target, replaced):
        assert replaced.kept_bytes > 0
        restore_backup(replaced.pk)
        job = now(replaced)
        assert rows(target, "SELECT * FROM t ORDER BY n") == [(-1, "was there"), (5, "five")]
        assert rows(target, f"SELECT COUNT(*) FROM {job.kept_table}") == [(ROWS,)]
        assert job.restored_at
        assert job.table_claim is None
        with pytest.raises(Problem, match="restored already"):
            restore_backup(replaced.pk)
        assert rows(target) == [(2,)]
        drop_backup(job.pk)
        assert tables(target) == {"t", ledger.TABLE}
        assert now(job).kept_table == ""

    def test_restore_after_the_drop_is_refused(self, target, replaced):
        drop_backup(replaced.pk)
        for refused in (restore_backup, drop_backup):
            with pytest.raises(Problem, match=r"No .*table.* is kept"):
                refused(replaced.pk)
        assert rows(target) == [(ROWS,)]

    def test_restore_is_refused_while_another_import_has_the_table_and_once_it_has_worked_on_it(
        self, target, file, replaced
    ):
        other = created(target, file, mode="upsert")
        ImportJob.objects.filter(pk=other.pk).update(table_claim=f"{target.pk}:{target.database}.t")
        with pytest.raises(Problem, match="worked on the table since"):
            restore_backup(replaced.pk)
        ImportJob.objects.filter(pk=other.pk).update(table_claim=None)
        run(other)
        with pytest.raises(Problem, match="has worked on the table since"):
            restore_backup(replaced.pk)
        assert rows(target) == [(ROWS,)]

    @pytest.mark.parametrize("by", ["the sweeper", "the next command"])
    def test_a_restore_whose_process_died_is_settled(self, target, file, replaced, monkeypatch, by):
        monkeypatch.setattr("importer.jobs.steps.table_backup.release_backup", lambda _job: None)
        restore_backup(replaced.pk)
        monkeypatch.undo()
        assert now(replaced).table_claim
        ImportJob.objects.filter(pk=replaced.pk).update(step_lease="2000-01-01T00:00Z")
        if by == "the sweeper":
            sweep.sweep_jobs(lambda *_: None)
        else:
            again = local_pool.run(created(target, file, mode="append").pk, 2, lambda _: None)
            assert again.status == Status.SUCCEEDED
        job = now(replaced)
        assert job.restored_at
        assert (job.table_claim, job.step) == (None, "")

    def test_a_job_that_replaced_nothing_has_nothing_to_restore(self, target, file):
        job = run(created(target, file, mode="upsert"))
        with pytest.raises(Problem, match="has kept no old rows"):
            restore_backup(job.pk)

    def test_the_command_does_the_same(self, target, replaced, capsys):
        call_command("kept_table", "restore", str(replaced.pk))
        assert "is the old table; millrace_undone_" in capsys.readouterr().out
        call_command("kept_table", "drop", str(replaced.pk))
        assert "no other table is kept" in capsys.readouterr().out
        with pytest.raises(CommandError, match="restored already"):
            call_command("kept_table", "restore", str(replaced.pk))
        with pytest.raises(CommandError, match="no import 0"):
            call_command("kept_table", "drop", "0")
