"""Imports into a target that needs another person's approval: nothing is written to it before."""

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection as own_database

from importer.access import approval, people
from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.jobs.approval import digest_of, is_asked_for
from importer.models import AuditEvent, Channel, ImportJob, Level, Notification, Target
from importer.models.outcomes import REFUSED, outcome, outcome_words
from importer.models.outcomes.attempts import step_seconds
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from importer.worker import sweep
from tests.importer.steps import advance, import_of, run
from tests.importer.word_file import word_file
from tests.people import admin, operator, stranger, viewer
from tests.targets import on_mariadb, saved_target

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

ROWS = 1200
Status = ImportJob.Status
database = on_mariadb


@pytest.fixture
def target(database, transactional_db) -> Target:
    with connect(database) as connection:
        execute(connection, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20), KEY (word))")
    saved = saved_target(database, "t")
    Target.objects.filter(pk=saved.pk).update(needs_approval=True)
    saved.refresh_from_db()
    return saved


@pytest.fixture
def ann(transactional_db) -> User:
    return operator("ann")


@pytest.fixture
def bob(transactional_db) -> User:
    return operator("bob", Level.LOAD)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return word_file(tmp_path / "words.csv", range(ROWS))


def created(target: Target, user: User | None, path: Path, table: str = "t", **options: object) -> ImportJob:
    request = ImportRequest(options=Options(**{"chunk_bytes": 8000, "parallelism": 2, **options}))
    with acting_as(user):
        return import_of(path, target, table, request, user=user)


def approve(job: ImportJob, user: User, digest: str = "") -> None:
    with acting_as(user):
        commands.approve(job.pk, digest or digest_of(now(job)))


def refuse(job: ImportJob, user: User, reason: str = "the file is last month's") -> None:
    with acting_as(user):
        commands.refuse(job.pk, reason)


def retry(job: ImportJob, user: User, **options: bool) -> None:
    with acting_as(user):
        commands.retry(job.pk, **options)


def now(job: ImportJob) -> ImportJob:
    return ImportJob.objects.select_related("target", "source").get(pk=job.pk)


def tables(target: Target) -> dict[str, int]:
    """The tables on the target with their rows."""
    with connect(target.address) as connection:
        names = [row[0] for row in fetch_all(connection, "SHOW TABLES")]
        return {name: int(fetch_all(connection, f"SELECT COUNT(*) FROM `{name}`")[0][0]) for name in names}


@pytest.mark.parametrize("mode", ["append", "atomic", "replace", "upsert"])
def test_nothing_is_written_before_another_person_approves_the_plan(target, ann, bob, file, mode: str):
    before = tables(target)
    job = run(created(target, ann, file, mode=mode, indexes="defer" if mode == "append" else "auto"))
    assert (job.status, outcome_words(job), job.scanned_rows) == (Status.UNAPPROVED, "waits for approval", ROWS)
    assert is_asked_for(job)
    assert tables(target) == before == {"t": 0}
    sweep.sweep_jobs(lambda *_: None)
    advance(job)
    assert now(job).status == Status.UNAPPROVED
    approve(job, bob)
    job = run(job)
    assert (job.status, job.balanced, job.approved_by) == (Status.SUCCEEDED, True, bob)
    assert tables(target)["t"] == ROWS
    assert all(seconds is None or seconds >= 0 for seconds in step_seconds(job).values())


def test_types_of_a_new_table_are_settled_before_and_not_changed_after(target, ann, bob, tmp_path):
    path = tmp_path / "new.csv.gz"
    rows = "".join(f"{n},word {n}\n" for n in range(5_000)) + f"5000,{'longer' * 50}\n"
    path.write_bytes(gzip.compress(("n,word\n" + rows).encode()))
    with acting_as(ann):
        prepared = prepare(
            uploads.register(path), target, "fresh", ImportRequest(options=Options(mode="create"), accept_guesses=True)
        )
        job = commands.create(prepared, ann)
    job = run(job)
    assert is_asked_for(job)
    assert any(each["choice"] == "Types hold the whole file" for each in job.plan_json["reasons"])
    assert tables(target) == {"t": 0}
    approve(job, bob)
    approved = now(job)
    job = run(job)
    assert job.status == Status.SUCCEEDED
    assert job.new_table_json == approved.new_table_json
    assert digest_of(approved) == approved.approved_digest


class TestWhoMayApprove:
    def test_not_who_started_it_and_not_its_owner_whatever_their_role(self, target, file):
        root = admin("root")
        job = run(created(target, root, file))
        with pytest.raises(Forbidden, match="another person has to approve it\\. Nobody else may load"):
            approve(job, root)
        with pytest.raises(Forbidden):
            refuse(job, root)
        ann = operator("ann")
        assert [each.username for each in approval.approvers(job)] == ["ann"]
        with pytest.raises(Forbidden, match="Ask ann"):
            approve(job, root)
        approve(job, ann)
        assert run(job).status == Status.SUCCEEDED

    @pytest.mark.parametrize("somebody", [stranger, viewer])
    def test_not_who_may_not_load_into_the_table(self, target, ann, file, somebody: Callable[[str], User]):
        job = run(created(target, ann, file))
        eve = somebody("eve")
        for decide in (approve, refuse):
            with pytest.raises(Forbidden):
                decide(job, eve)
        people.grant(eve, "target", Level.LOAD, target, ["other.*"])
        with pytest.raises(Forbidden):
            approve(job, User.objects.get(pk=eve.pk))
        assert not list(approval.approvers(job))
        assert now(job).status == Status.UNAPPROVED

    def test_not_the_system_itself(self, target, ann, file):
        job = run(created(target, ann, file))
        with pytest.raises(Forbidden, match="--as USER"):
            commands.approve(job.pk, digest_of(job))

    def test_an_import_of_a_command_without_a_person_is_approved_by_anybody_who_may_load(self, target, ann, file):
        job = run(created(target, None, file))
        approve(job, ann)
        assert run(job).status == Status.SUCCEEDED

    def test_not_who_retried_it(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        refuse(job, bob)
        run(job)
        retry(job, bob)
        job = run(job)
        assert is_asked_for(job)
        for each in (ann, bob):
            with pytest.raises(Forbidden):
                approve(job, each)
        approve(job, operator("cleo"))
        assert run(job).status == Status.SUCCEEDED


class TestWhatIsApproved:
    def test_only_the_digest_that_was_seen(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        for digest in ("", "0" * 64, digest_of(job)[:8]):
            with acting_as(bob), pytest.raises(Problem, match="not what you have seen"):
                commands.approve(job.pk, digest)
        approve(job, bob, digest_of(job)[:12])
        assert now(job).approved_digest == digest_of(job)

    def test_not_before_the_whole_file_is_read(self, target, ann, bob, file):
        job = created(target, ann, file)
        advance(job)
        with pytest.raises(Problem, match="does not wait for an approval"):
            approve(job, bob)

    @pytest.mark.parametrize(
        "change",
        [
            {"mapping_json": [{"column": "word"}, {"column": "n"}]},
            {"options_json": {"on_error": "reject"}},
            {"table_name": "other"},
            {"dialect_json": {"delimiter": ";"}},
        ],
    )
    def test_what_changes_after_the_approval_asks_again(self, target, ann, bob, file, change: dict):
        job = run(created(target, ann, file))
        with acting_as(bob):
            ImportJob.objects.filter(pk=job.pk).update(
                approved_digest=digest_of(job), approved_by=bob, status=Status.WAITING
            )
        ImportJob.objects.filter(pk=job.pk).update(**change)
        advance(job)
        assert now(job).status == Status.UNAPPROVED

    def test_another_priority_keeps_the_approval(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        before = digest_of(now(job))
        commands.set_priority(job.pk, "high")
        assert now(job).options.priority == "high"
        assert digest_of(now(job)) == before

    def test_another_server_asks_again(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        before = digest_of(job)
        job.target.host = "elsewhere.example.org"
        assert digest_of(job) != before

    def test_another_file_asks_again(self, target, ann, bob, file, tmp_path):
        job = run(created(target, ann, file))
        other = tmp_path / "others.csv"
        other.write_text(file.read_text().replace("word 7\n", "w0rd 7\n"))
        assert digest_of(job) != digest_of(run(created(target, ann, other)))
        again = tmp_path / "again.csv"
        again.write_text(file.read_text())
        assert digest_of(job) == digest_of(run(created(target, ann, again)))

    def test_a_file_that_changes_after_the_approval_does_not_load(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        approve(job, bob)
        file.write_text(file.read_text().replace("word", "w0rd"))
        job = run(job)
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "SourceChanged")
        retry(job, ann)
        assert run(job).problem["kind"] == "SourceChanged"
        assert tables(target)["t"] == 0

    @pytest.mark.parametrize("mode", ["append", "atomic"])
    def test_a_plain_retry_of_the_same_plan_asks_nobody(self, target, ann, bob, file, mode: str):
        job = run(created(target, ann, file, mode=mode))
        approve(job, bob)
        with connect(target.address) as connection:
            execute(connection, "INSERT INTO t VALUES (1100, 'in the way')")
        job = run(job)
        assert job.status == Status.FAILED
        with connect(target.address) as connection:
            execute(connection, "DELETE FROM t WHERE word = 'in the way'")
        retry(job, ann)
        job = run(job)
        assert (job.status, job.attempts, job.balanced) == (Status.SUCCEEDED, 2, True)

    def test_a_retry_that_leaves_bad_rows_out_asks_again(self, target, ann, bob, file):
        file.write_text(file.read_text() + f"{ROWS},{'x' * 30}\n")
        job = run(created(target, ann, file))
        approve(job, bob)
        job = run(job)
        assert job.problem["kind"] == "RowsRefused"
        retry(job, ann, leave_out=True)
        job = run(job)
        assert is_asked_for(job)
        approve(job, bob)
        job = run(job)
        assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, 1)

    def test_another_method_after_the_servers_refusal_asks_again(self, target, ann, bob, file, servers):
        job = run(created(target, ann, file))
        approve(job, bob)
        before = digest_of(now(job))
        servers["mariadb"].run("SET GLOBAL local_infile = 0")
        try:
            job = run(job)
        finally:
            servers["mariadb"].run("SET GLOBAL local_infile = 1")
        assert is_asked_for(job)
        assert job.table_claim is None, "other imports into the table wait until somebody decides"
        assert digest_of(job) != before
        assert tables(target)["t"] == 0
        approve(job, bob)
        assert run(job).status == Status.SUCCEEDED


class TestRefusal:
    def test_it_ends_the_import_with_the_reason_and_writes_nothing(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        refuse(job, bob)
        job = run(job)
        assert (job.status, outcome(job)) == (Status.FAILED, REFUSED)
        assert job.problem["what"] == "bob refused this import: the file is last month's"
        assert tables(target) == {"t": 0}

    def test_it_needs_a_reason(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        with pytest.raises(Problem, match="needs a reason"):
            refuse(job, bob, "  ")
        assert now(job).status == Status.UNAPPROVED

    def test_the_next_import_into_the_table_does_not_wait_for_one_that_nobody_approves(self, target, ann, bob, file):
        job = run(created(target, ann, file))
        after = run(created(target, ann, file))
        approve(after, bob)
        assert run(after).status == Status.SUCCEEDED
        assert now(job).status == Status.UNAPPROVED


def test_who_decides_first_of_many_decides(target, ann, file):
    job = run(created(target, ann, file))
    others = [operator(f"other{n}") for n in range(6)]
    together, digest = Barrier(len(others)), digest_of(job)

    def decide(number: int) -> str:
        together.wait()
        try:
            if number % 2:
                refuse(job, others[number])
            else:
                approve(job, others[number], digest)
        except Problem as problem:
            return problem.what
        finally:
            own_database.close()
        return "decided"

    with ThreadPoolExecutor(len(others)) as pool:
        said = list(pool.map(decide, range(len(others))))
    assert said.count("decided") == 1
    approved = said.index("decided") % 2 == 0
    assert run(job).status == (Status.SUCCEEDED if approved else Status.FAILED)


class TestWaysOut:
    def test_it_can_be_cancelled_while_it_waits(self, target, ann, file):
        job = run(created(target, ann, file))
        with acting_as(ann):
            commands.cancel(job.pk)
        assert run(job).status == Status.CANCELLED
        assert tables(target) == {"t": 0}

    def test_it_can_be_cancelled_while_it_is_scanned(self, target, ann, file):
        job = created(target, ann, file)
        advance(job)
        commands.cancel(job.pk)
        assert run(job).status == Status.CANCELLED

    def test_without_the_mark_it_goes_on_and_the_audit_log_says_so(self, target, ann, file):
        job = run(created(target, ann, file))
        Target.objects.filter(pk=target.pk).update(needs_approval=False)
        assert run(job).status == Status.SUCCEEDED
        event = AuditEvent.objects.get(action="approval_released")
        assert (event.object_id, event.details["plan"]) == (str(job.pk), digest_of(now(job)))

    def test_a_file_that_has_changed_before_it_is_scanned_fails_it(self, target, ann, file):
        job = created(target, ann, file)
        file.write_text(file.read_text() + "1200,more\n")
        job = run(job)
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "SourceChanged")
        assert tables(target) == {"t": 0}


def test_a_target_without_the_mark_asks_nobody(target, ann, file):
    Target.objects.filter(pk=target.pk).update(needs_approval=False)
    target.refresh_from_db()
    job = run(created(target, ann, file))
    assert (job.status, job.approved_digest) == (Status.SUCCEEDED, "")


def test_channels_are_told_once_each_time_that_it_is_asked_for(target, ann, bob, file):
    Channel.objects.create(name="team", kind="mail", addresses="team@example.org", events=["approval"])
    job = run(created(target, ann, file))
    advance(job)
    told = Notification.objects.get()
    assert told.payload["title"] == f"Import {job.pk} into t waits for approval"
    assert told.payload["what"] == f"1,200 rows of words.csv are added to {target.database}.t on t."
    refuse(job, bob)
    run(job)
    retry(job, ann)
    run(job)
    assert Notification.objects.filter(event="approval").count() == 2
