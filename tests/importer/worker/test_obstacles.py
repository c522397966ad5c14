"""Keys that cannot be built at the end of an import: why, trying again now, and ending without them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from importer import targets
from importer.engine.errors import Problem, TargetUnreachable
from importer.engine.mysql.connection import Address
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.actions.obstacles import end_without, is_stuck, try_now
from importer.jobs.steps.target_changes import claim_restore, record_restored
from importer.management.terminal.follow import following
from importer.management.terminal.follow.ctrl_c import CtrlC
from importer.models import ImportJob, Target
from importer.queue import Message
from tests.engine.loads import account_with, run_sql
from tests.importer.steps import now, queued, run, take, until
from tests.importer.worker.test_change_target import created, keys, structure, written_down
from tests.targets import on_one_server, saved_target

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 1200
RIGHTS = ("SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES",)
Status = ImportJob.Status


@pytest.fixture
def admin(database: Address) -> Address:
    """The account that may take rights away and give them back."""
    run_sql(
        database,
        "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(200), KEY long_one (word(100)),"
        " KEY `odd``, (n)` (n, word(3)))",
    )
    return database


@pytest.fixture
def target(admin: Address, transactional_db) -> Iterator[Target]:
    """A target whose account may build keys, until the test says otherwise."""
    with account_with(admin, *RIGHTS) as address:
        yield saved_target(address, "t")


def may_alter(admin: Address, *, allowed: bool) -> None:
    """A server that does not build keys: here the account may not, elsewhere its disk is full."""
    verb, to = ("GRANT", "TO") if allowed else ("REVOKE", "FROM")
    run_sql(admin, f"{verb} ALTER ON `{admin.database}`.* {to} 'only_few'@'127.0.0.1'")


def stuck(target: Target, admin: Address, file: Path) -> ImportJob:
    """An import with all rows in whose keys the server refuses to build."""
    job = created(target, file)
    until(job, "restore")
    may_alter(admin, allowed=False)
    job = until_stuck(job)
    assert job.status == Status.INDEXING
    assert "command denied" in job.obstacle["what"]
    return job


def until_stuck(job: ImportJob) -> ImportJob:
    """Take the steps that are queued until the server has refused to put the keys back."""
    while not is_stuck(now(job)):
        lifecycle.advance(job.pk)
        steps = queued(job)
        assert steps
        for each in steps:
            take(each)
    return now(job)


class TestRetryNow:
    def test_it_puts_the_keys_back_without_waiting_for_the_pause(self, target, admin, file):
        before = structure(target)
        job = stuck(target, admin, file)
        assert job.step_lease
        may_alter(admin, allowed=True)
        try_now(job.pk)
        take(Message("restore", job.pk))
        job = run(job)
        assert (job.status, job.balanced, job.obstacle) == (Status.SUCCEEDED, True, {})
        assert structure(target) == before

    @on_one_server
    def test_an_obstacle_that_is_still_there_is_shown_again(self, target, admin, file):
        job = stuck(target, admin, file)
        try_now(job.pk)
        take(Message("restore", job.pk))
        assert is_stuck(now(job))

    @on_one_server
    def test_without_an_obstacle_there_is_nothing_to_try(self, target, file):
        job = created(target, file)
        for way in (try_now, end_without):
            with pytest.raises(Problem, match="Nothing keeps this import"):
                way(job.pk)

    @on_one_server
    def test_a_worker_that_is_at_it_is_not_disturbed(self, target, admin, file):
        job = stuck(target, admin, file)
        assert claim_restore(job.pk)
        for way in (try_now, end_without):
            with pytest.raises(Problem, match="trying just now"):
                way(job.pk)
        assert now(job).status == Status.INDEXING


class TestEndWithout:
    def test_the_import_ends_and_says_what_is_missing_with_the_sql(self, target, admin, file):
        job = stuck(target, admin, file)
        end_without(job.pk)
        job = run(job)
        assert (job.status, job.left_changed, job.unrestored, job.table_claim) == (Status.FAILED, True, False, None)
        assert job.problem["kind"] == "NotPutBack"
        assert (
            "All rows are in the table, but 2 indexes could not be put back (long_one, odd`, (n))"
            in job.problem["what"]
        )
        assert "command denied" in job.problem["what"]
        assert "ADD KEY `long_one`" in job.problem["advice"]
        assert keys(target) == set()
        assert written_down(target) == [str(job.key)]

    def test_the_sql_brings_the_keys_back_and_a_retry_then_succeeds(self, target, admin, file):
        before = structure(target)
        job = stuck(target, admin, file)
        end_without(job.pk)
        job = run(job)
        may_alter(admin, allowed=True)
        run_sql(admin, *job.temporary_changes.restore_sql)
        assert structure(target) == before
        commands.retry(job.pk)
        job = run(job)
        assert (job.status, job.left_changed, job.problem) == (Status.SUCCEEDED, False, {})
        assert structure(target) == before
        assert written_down(target) == []

    @on_one_server
    def test_a_retry_builds_them(self, target, admin, file):
        before = structure(target)
        job = stuck(target, admin, file)
        end_without(job.pk)
        run(job)
        may_alter(admin, allowed=True)
        commands.retry(job.pk)
        job = run(job)
        assert (job.status, job.balanced, job.loaded_rows) == (Status.SUCCEEDED, True, ROWS)
        assert structure(target) == before

    @on_one_server
    def test_a_retry_that_is_refused_again_is_stuck_again(self, target, admin, file):
        job = stuck(target, admin, file)
        end_without(job.pk)
        run(job)
        commands.retry(job.pk)
        until_stuck(job)
        end_without(job.pk)
        assert run(job).status == Status.FAILED

    @on_one_server
    def test_the_targets_check_and_restore_know_of_them(self, target, admin, file, capsys):
        before = structure(target)
        job = stuck(target, admin, file)
        end_without(job.pk)
        run(job)
        findings = {each["name"]: each for each in targets.check(target)}
        assert "ADD KEY `long_one`" in findings["arrangements"]["fix"]
        may_alter(admin, allowed=True)
        call_command("target", "restore", target.name)
        assert (structure(target), now(job).left_changed) == (before, False)

    @on_one_server
    def test_a_cancelled_import_ends_cancelled_and_says_it_too(self, target, admin, file):
        job = created(target, file)
        until(job, "load_run")
        may_alter(admin, allowed=False)
        commands.cancel(job.pk)
        assert until_stuck(job).status == Status.CANCELLING
        end_without(job.pk)
        job = run(job)
        assert (job.status, job.left_changed) == (Status.CANCELLED, True)
        assert "The import has ended, but 2 indexes" in job.problem["what"]

    @on_one_server
    def test_a_worker_that_lost_its_lease_meanwhile_records_nothing(self, target, admin, file):
        job = stuck(target, admin, file)
        late = claim_restore(job.pk)
        ImportJob.objects.filter(pk=job.pk).update(step_lease=job.created_at)
        end_without(job.pk)
        assert not record_restored(late, 1.0, None)
        assert run(job).left_changed

    @on_one_server
    def test_why_there_is_no_connection_is_not_told_to_everybody(self, target, admin, file):
        job = stuck(target, admin, file)
        away = TargetUnreachable("No server answers there.", where="10.0.0.1:3306").as_json()
        ImportJob.objects.filter(pk=job.pk).update(obstacle=away)
        end_without(job.pk)
        problem = run(job).problem
        assert "2 indexes could not be put back" in problem["what"]
        assert "No server answers" not in str(problem)
        assert "10.0.0.1" not in str(problem)

    @on_one_server
    def test_the_next_import_into_the_table_begins(self, target, admin, file):
        job = stuck(target, admin, file)
        after = created(target, file)
        lifecycle.advance(after.pk)
        assert now(after).status == Status.WAITING
        end_without(job.pk)
        run(job)
        lifecycle.advance(after.pk)
        assert now(after).status == Status.LOADING


@on_one_server
class TestCommandLine:
    def test_it_says_what_keeps_the_import_and_that_ctrl_c_ends_it(self, target, admin, file):
        job = stuck(target, admin, file)
        said = following._why_it_waits(job)
        assert "command denied" in said
        assert "Ctrl-C ends it without, and gives the SQL" in said
        ctrl_c = CtrlC(print, job.pk)
        ctrl_c.press(0, None)
        ctrl_c.act(now(job))
        assert run(job).left_changed
        assert following._why_it_waits(now(job)) == ""

    def test_it_tries_now_and_ends_the_import_with_the_sql(self, target, admin, file, capsys):
        job = stuck(target, admin, file)
        call_command("job", "restore-now", str(job.pk))
        assert f"Import {job.pk} indexing: " in capsys.readouterr().out
        take(Message("restore", job.pk))
        call_command("job", "end-without", str(job.pk))
        said = capsys.readouterr().out
        assert "2 indexes could not be put back" in said
        assert "ADD KEY `long_one`" in said
        assert run(job).left_changed

    def test_what_keeps_no_import_is_said_in_one_line(self, target, file):
        job = created(target, file)
        with pytest.raises(CommandError, match="Nothing keeps this import"):
            call_command("job", "end-without", str(job.pk))


@on_one_server
class TestPage:
    @pytest.fixture
    def browser(self, client):
        client.force_login(User.objects.create_superuser("root"))
        return client

    def test_it_says_why_and_every_button_it_shows_works(self, target, admin, file, browser):
        job = stuck(target, admin, file)
        html = browser.get(reverse("job", args=[job.pk])).content.decode()
        assert "command denied" in html
        assert "End without these keys" in html
        for name in ("job_restore_now", "job_end_without"):
            assert f'action="{reverse(name, args=[job.pk])}"' in html
        browser.post(reverse("job_restore_now", args=[job.pk]))
        take(Message("restore", job.pk))
        browser.post(reverse("job_end_without", args=[job.pk]))
        job = run(job)
        html = browser.get(reverse("job", args=[job.pk])).content.decode()
        assert "could not be put back" in html
        assert "ADD KEY `long_one`" in html
        assert "job-restore-sql" in html
        may_alter(admin, allowed=True)
        browser.post(reverse("job_retry", args=[job.pk]))
        assert run(job).status == Status.SUCCEEDED
