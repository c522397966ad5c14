"""Runs of chunks, with the worker's steps taken in this process, on real servers."""

import threading
from pathlib import Path

import pytest

from importer.connections.source_location import location_of_job
from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.steps import chunk_leases
from importer.jobs.steps.chunk_leases import claim_run, extend_run, release_chunks, should_continue
from importer.jobs.steps.lease_recovery import expired_runs
from importer.models import Chunk, ImportJob, Target
from importer.worker import heartbeat, load_chunks, shutdown, sweep
from tests.engine.loads import loads_so_far, rows_of, run_sql
from tests.importer.steps import import_of, run, take
from tests.stack import wait_until
from tests.targets import on_one_server

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status

TABLES = ("CREATE TABLE t (n TINYINT UNSIGNED, word VARCHAR(20))",)


@pytest.fixture
def runs_look_all_the_time(monkeypatch) -> None:
    """...whether they may keep their chunks, of which they claim many."""
    monkeypatch.setattr(load_chunks, "LOOK_SECONDS", 0)
    monkeypatch.setattr(load_chunks, "RECORD_SECONDS", 0)
    monkeypatch.setattr(chunk_leases, "SHARES_LEFT", 1)


def created(target: Target, path: Path, rows: list[int], parallelism: int = 1, **options) -> ImportJob:
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in rows))
    # Each row is a chunk, and a transaction unless options say otherwise.
    each = {} if "chunk_bytes" in options else {"commit_rows": 1}
    import_options = Options(parallelism=parallelism, **each, **options)
    return import_of(path, target, options=import_options)


def another(target: Target, path: Path) -> ImportJob:
    """An import of the file into another table, which waits for a worker."""
    run_sql(target.address, "CREATE TABLE other LIKE t")
    job = import_of(path, target, "other")
    scanned(job)
    return job


def scanned(job: ImportJob) -> list[int]:
    """Scan the job, and return the first chunks of its runs."""
    [scan] = lifecycle.advance(job.pk)
    take(scan)
    return [step.id for step in lifecycle.advance(job.pk)]


def loaded(target: Target) -> list[int]:
    return [row[0] for row in rows_of(target.address, "SELECT n FROM t ORDER BY n")]


def statuses(job: ImportJob) -> list[str]:
    return list(job.chunks.order_by("number").values_list("status", flat=True))


@on_one_server
def test_two_thousand_chunks_of_one_row_each(target: Target, tmp_path: Path):
    job = run(created(target, tmp_path / "t.csv", [n % 256 for n in range(2000)]))
    assert (job.status, job.problem, job.loaded_rows, job.chunks.count()) == (Status.SUCCEEDED, {}, 2000, 2000)
    with connect(target.address) as connection:
        assert ledger.rows_by_chunk(connection, str(job.key)) == dict.fromkeys(range(2000), 1)
    assert set(job.chunks.values_list("attempt", "loaded_rows", "deaths")) == {(1, 1, 0)}


@on_one_server
def test_a_failed_chunk_ends_its_run_and_earlier_chunks_stay(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", [1, 2, 3, 4, 300, 6, 7, 8])
    [first] = scanned(job)
    load_chunks.load(first, lambda *_: None)
    assert loaded(target) == [1, 2, 3, 4]
    assert statuses(job) == [Chunk.Status.LOADED] * 4 + [Chunk.Status.FAILED] + [Chunk.Status.PENDING] * 3
    job = run(job)
    assert (job.status, job.loaded_rows, job.problem["rows"][0]["line"]) == (Status.FAILED, 4, 6)
    assert [each.attempt for each in job.chunks.order_by("number")] == [1, 1, 1, 1, 1, 0, 0, 0]


def test_a_worker_that_must_stop_gives_up_a_chunk_that_waits(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The chunk is as if nobody had claimed it: no attempt counts, and nothing is kept."""
    job = created(target, tmp_path / "t.csv", [1, 2, 3])
    [first] = scanned(job)
    asked = threading.Event()
    with monkeypatch.context() as stopping, connect(target.address) as other:
        stopping.setattr(shutdown, "GRACE_SECONDS", 0)
        stopping.setattr(heartbeat, "CHECK_SECONDS", 0.05)
        stopping.setattr(shutdown, "requested", asked.is_set)
        execute(other, "LOCK TABLES t READ")
        waits = threading.Thread(target=ask_to_stop_once_it_waits, args=(target.address, asked))
        waits.start()
        load_chunks.load(first, lambda *_: None)
        waits.join()
    assert set(job.chunks.values_list("status", "attempt", "deaths")) == {(Chunk.Status.PENDING, 0, 0)}
    assert loaded(target) == []
    job = run(job)
    assert (job.status, job.problem, loaded(target)) == (Status.SUCCEEDED, {}, [1, 2, 3])
    assert set(job.chunks.values_list("attempt", "deaths")) == {(1, 0)}


def ask_to_stop_once_it_waits(address: Address, asked: threading.Event) -> None:
    waiting = "SELECT 1 FROM information_schema.PROCESSLIST WHERE DB = %s AND STATE LIKE 'Waiting for table metadata%%'"
    with connect(address) as connection:
        wait_until(lambda: fetch_all(connection, waiting, (address.database,)), what="a chunk that waits for the table")
    asked.set()


@on_one_server
def test_the_limit_of_rejects_holds_within_a_run(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", [1, 300, 3, 301, 5, 6, 7, 8], on_error="reject", max_rejects=1)
    [first] = scanned(job)
    load_chunks.load(first, lambda *_: None)
    job = ImportJob.objects.get(pk=job.pk)
    assert (job.status, job.loaded_rows, job.rejected_rows) == (Status.FAILING, 2, 2)
    assert loaded(target) == [1, 3]


@on_one_server
def test_of_an_ordered_job_no_run_passes_over_a_chunk(target: Target, tmp_path: Path):
    run_sql(target.address, "ALTER TABLE t ADD PRIMARY KEY (n)")
    job = created(target, tmp_path / "t.csv", [1, 2, 3, 1, 2, 3], on_duplicate="replace")
    [first] = scanned(job)
    job.chunks.filter(number=2).update(lease="2999-01-01T00:00Z")  # it failed, and waits for its next attempt
    claimed = claim_run(first)
    assert claimed
    assert [chunk.number for chunk in claimed.chunks] == [0, 1]


@on_one_server
def test_a_run_leaves_shares_for_the_other_sessions(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", list(range(100)), parallelism=4)
    first, *_ = scanned(job)
    claimed = claim_run(first)
    assert claimed
    assert 1 < len(claimed.chunks) <= 100 // (4 * chunk_leases.SHARES_LEFT) + 1


@on_one_server
def test_runs_grow_shorter_by_what_nobody_has_claimed(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", list(range(100)), parallelism=2)
    first, *_ = scanned(job)
    claimed = claim_run(first)
    assert claimed
    lengths, last = [len(claimed.chunks)], claimed.chunks[-1].number
    while further := extend_run(claimed, last, 7):
        lengths.append(len(further))
        last = further[-1].number
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > 20
    assert len(lengths) > 8, "each takes a fourth of what is left, though nothing is in yet"


@on_one_server
def test_a_run_is_extended_by_one_short_chunk_at_the_end(target: Target, tmp_path: Path, monkeypatch):
    job = created(target, tmp_path / "t.csv", list(range(4)), parallelism=2)
    first, _ = scanned(job)
    claimed = claim_run(first)
    assert claimed
    assert [chunk.number for chunk in claimed.chunks] == [0]
    monkeypatch.setattr(chunk_leases, "SHORT_BYTES", 1)
    assert extend_run(claimed, 0, 7) == []
    monkeypatch.undo()
    assert [chunk.number for chunk in extend_run(claimed, 0, 7)] == [2]


@on_one_server
def test_a_run_is_extended_while_its_last_chunk_loads(target: Target, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(chunk_leases, "RUN_CHUNKS", 3)
    job = created(target, tmp_path / "t.csv", list(range(60)))
    [first] = scanned(job)
    load_chunks.load(first, lambda *_: None)
    assert statuses(job) == [Chunk.Status.LOADED] * 60
    # At the end, where each session must take what it gets to, runs are short.
    assert job.chunks.values("run").distinct().count() < 10


@on_one_server
def test_chunks_claimed_while_the_last_one_failed_are_released(target: Target, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(chunk_leases, "RUN_CHUNKS", 3)
    job = created(target, tmp_path / "t.csv", [1, 2, 300, *range(4, 20)])
    [first] = scanned(job)
    load_chunks.load(first, lambda *_: None)
    assert statuses(job) == [Chunk.Status.LOADED] * 2 + [Chunk.Status.FAILED] + [Chunk.Status.PENDING] * 16
    assert [each.attempt for each in job.chunks.order_by("number")] == [1, 1, 1, *[0] * 16]


@on_one_server
def test_a_run_is_not_made_longer_over_a_gap_or_in_a_pause(target: Target, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(chunk_leases, "RUN_CHUNKS", 3)
    run_sql(target.address, "ALTER TABLE t ADD PRIMARY KEY (n)")
    job = created(target, tmp_path / "t.csv", list(range(20)), on_duplicate="replace")
    [first] = scanned(job)
    claimed = claim_run(first)
    assert claimed
    assert [chunk.number for chunk in extend_run(claimed, 2, 7)] == [3, 4]
    job.chunks.filter(number=5).update(lease="2999-01-01T00:00Z")  # it failed, and waits for its next attempt
    assert extend_run(claimed, 4, 7) == []
    job.chunks.filter(number=5).update(lease=None)
    commands.pause(job.pk)
    assert extend_run(claimed, 4, 7) == []
    commands.resume(job.pk)
    assert [chunk.number for chunk in extend_run(claimed, 4, 7)] == [5, 6]


@on_one_server
def test_a_worker_takes_no_further_run_while_another_job_waits(target: Target, tmp_path: Path):
    # The only session of an import would take all chunks in one run.
    job = created(target, tmp_path / "t.csv", list(range(100)), parallelism=2)
    first, _ = scanned(job)
    waiting = another(target, tmp_path / "t.csv")
    load_chunks.load(first, lambda *_: None)
    assert 0 < job.chunks.filter(status=Chunk.Status.LOADED).count() < 100
    run(waiting)
    run(job)
    assert len(loaded(target)) == 100


@on_one_server
@pytest.mark.usefixtures("runs_look_all_the_time")
def test_a_run_releases_its_remaining_chunks_when_another_job_waits(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", list(range(100)))
    [first] = scanned(job)
    another(target, tmp_path / "t.csv")
    load_chunks.load(first, lambda *_: None)
    brought = len(loaded(target))
    assert 0 < brought < 20
    assert statuses(job) == [Chunk.Status.LOADED] * brought + [Chunk.Status.PENDING] * (100 - brought)
    assert [each.attempt for each in job.chunks.order_by("number")] == [1] * brought + [0] * (100 - brought)


@on_one_server
@pytest.mark.usefixtures("runs_look_all_the_time")
def test_a_run_ends_when_another_session_finds_nothing_left(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", list(range(100)), parallelism=2)
    first, second = scanned(job)
    waiting = job.chunks.filter(number__gte=50) | job.chunks.filter(pk=second)
    waiting.update(status=Chunk.Status.PENDING, lease="2999-01-01T00:00Z")  # they failed
    left = job.chunks.filter(status=Chunk.Status.PENDING, lease=None)
    told: list[int] = []
    load_chunks.load(first, lambda *_: told.append(left.count()))
    assert len(told) == 1
    assert 30 < told[0] < 49, "the other session is sent for, for what was given back"


@on_one_server
def test_a_run_keeps_its_chunks_while_all_sessions_have_work(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", list(range(20)), parallelism=2)
    first, second = scanned(job)
    run_of_first, run_of_second = claim_run(first), claim_run(second)
    assert run_of_first
    assert run_of_second
    assert should_continue(run_of_first)
    release_chunks(run_of_second, run_of_second.chunks)
    assert should_continue(run_of_first), "the other session has chunks to take"
    mine = [chunk.pk for chunk in run_of_first.chunks]
    job.chunks.exclude(pk__in=mine).update(status=Chunk.Status.LOADED)
    assert not should_continue(run_of_first)
    commands.set_parallelism(job.pk, 1)
    assert should_continue(run_of_first)
    commands.pause(job.pk)
    assert not should_continue(run_of_first)


@on_one_server
def test_a_surplus_session_releases_its_chunks(target: Target, tmp_path: Path):
    job = created(target, tmp_path / "t.csv", list(range(20)), parallelism=2)
    first, second = scanned(job)
    run_of_first, run_of_second = claim_run(first), claim_run(second)
    assert run_of_first
    assert run_of_second
    commands.set_parallelism(job.pk, 1)
    assert not should_continue(run_of_first)


def test_committed_chunks_of_a_dead_worker_are_not_counted_as_deaths(target: Target, tmp_path: Path, settings):
    settings.LEASE_SECONDS = 0  # silent from the first moment
    job = created(target, tmp_path / "t.csv", list(range(20)))
    [first] = scanned(job)
    claimed = claim_run(first)
    assert claimed
    with load_chunks.Loader(location_of_job(job), target.address, job.plan) as loader:
        first_load = load_chunks._first_load(claimed)
        for chunk in claimed.chunks[:3]:
            loader.load(load_chunks._of_chunk(first_load, chunk, claimed.job))
    sweep.expire_runs(expired_runs())
    assert [each.deaths for each in job.chunks.order_by("number")] == [0, 0, 0, 1, *[0] * 16]
    assert list(job.chunks.filter(status=Chunk.Status.LOADED).values_list("number", flat=True)) == [0, 1, 2]
    assert ImportJob.objects.get(pk=job.pk).loaded_rows == 3
    settings.LEASE_SECONDS = 60
    job = run(job)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, 20)
    assert loaded(target) == list(range(20))


class TestChunksThatShareATransaction:
    """...each of one row."""

    @pytest.fixture(autouse=True)
    def _keyed(self, target: Target) -> None:
        run_sql(target.address, "ALTER TABLE t ADD PRIMARY KEY (n)")

    def test_are_counted_and_recorded_one_by_one(self, target: Target, tmp_path: Path):
        job = created(target, tmp_path / "t.csv", list(range(200)), chunk_bytes=1)
        before = loads_so_far(target.address)
        job = run(job)
        assert loads_so_far(target.address) - before < 20
        assert (job.status, job.problem, job.loaded_rows, job.chunks.count()) == (Status.SUCCEEDED, {}, 200, 200)
        with connect(target.address) as connection:
            assert ledger.rows_by_chunk(connection, str(job.key)) == dict.fromkeys(range(200), 1)
        assert set(job.chunks.values_list("attempt", "loaded_rows")) == {(1, 1)}
        spans = list(job.chunks.order_by("number").values_list("started_at", "finished_at"))
        assert all(began < ended for began, ended in spans)

    @pytest.mark.parametrize("rows", [[1, 2, 3, 4, 3, 6, 7, 8], [1, 2, 3, 4, 300, 6, 7, 8]])
    def test_a_shared_transaction_ends_at_a_bad_row_like_single_ones(
        self, target: Target, tmp_path: Path, rows: list[int]
    ):
        job = run(created(target, tmp_path / "t.csv", rows, chunk_bytes=1))
        assert (job.status, job.loaded_rows, job.problem["rows"][0]["line"]) == (Status.FAILED, 4, 6)
        assert loaded(target) == [1, 2, 3, 4]
        assert [each.attempt for each in job.chunks.order_by("number")] == [1, 1, 1, 1, 1, 0, 0, 0]

    def test_chunks_of_a_failed_shared_transaction_load_one_by_one(self, target: Target, tmp_path: Path):
        job = created(target, tmp_path / "t.csv", list(range(20)), chunk_bytes=1)
        [first] = scanned(job)
        job.chunks.filter(number__lt=8).update(attempt=1)
        before = loads_so_far(target.address)
        load_chunks.load(first, lambda *_: None)
        assert loads_so_far(target.address) - before >= 8 + 1
        assert len(loaded(target)) == 20

    def test_are_found_in_the_ledger_after_the_answer_to_their_commit_was_lost(
        self, target: Target, tmp_path: Path, monkeypatch
    ):
        def lost(self: load_chunks.Loader, *given) -> None:
            load_group(self, *given)
            raise TargetProblem("The connection to the server was lost.", retryable=True)

        job = created(target, tmp_path / "t.csv", list(range(50)), chunk_bytes=1)
        [first] = scanned(job)
        load_group = load_chunks.Loader.load_group
        monkeypatch.setattr(load_chunks.Loader, "load_group", lost)
        load_chunks.load(first, lambda *_: None)
        brought = len(loaded(target))
        assert brought > 2
        assert statuses(job) == [Chunk.Status.LOADED] + [Chunk.Status.PENDING] * 49
        monkeypatch.undo()
        job = run(job)
        assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 50)
        assert loaded(target) == list(range(50))
