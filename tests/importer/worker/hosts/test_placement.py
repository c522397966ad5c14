"""A host that does not see a job's file hands the step back, is left out of the job, and another host takes it."""

import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import override_settings
from django.urls import reverse

from importer import queue
from importer.connections.connection_kinds import open_location
from importer.connections.protocols import folder as folders
from importer.engine.errors import SourceMissing
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs import lifecycle, report
from importer.jobs.sharing.hosts import leave_out
from importer.models import Chunk, ImportJob, SourceConnection, SourceFile
from importer.queue import Message
from importer.worker.errors import as_problem
from importer.worker.hosts import placement, presence
from importer.worker.hosts.presence import Worker
from importer.worker.scan import scan_job
from tests.dashboard.job_data import make_job
from tests.engine.loads import rows_of
from tests.importer.connections.protocol_checks import find
from tests.importer.steps import import_of, take
from tests.people import admin
from tests.stack import Process, Stack, wait_until
from tests.targets import target_with

ROWS = 2000
Status = ImportJob.Status


class TestChoice:
    def test_the_worker_with_the_smallest_share_of_busy_slots(self):
        large, small = Worker(name="load@large", slots=8, busy=4), Worker(name="load@small", slots=2, busy=0)
        assert placement.least_busy([large, small], Counter()) == small
        assert placement.least_busy([large, small], Counter({"load@small": 2})) == large
        assert placement.least_busy([], Counter()) is None

    def test_messages_are_spread_over_the_hosts_that_are_not_left_out(self, redis):
        for host in ("a", "b", "blind"):
            presence.announce(f"load@{host}", 2, ["load"], direct=True)
        presence.announce("load@old", 2, ["load"])  # of a version without a queue of its own
        messages = [Message("load_run", number, not_on=("blind",)) for number in range(4)]
        placed = placement.place([Message("advance", 9), *messages])
        assert placed[0] == Message("advance", 9)
        assert Counter(each.worker for each in placed[1:]) == {"load@a": 2, "load@b": 2}

    def test_without_another_host_any_worker_gets_the_message(self, redis):
        presence.announce("load@blind", 2, ["load"], direct=True)
        message = Message("load_run", 1, not_on=("blind",))
        assert placement.place([message]) == [message]


@pytest.fixture
def scanning(redis, db, monkeypatch, tmp_path) -> ImportJob:
    """A job whose scan waits; its file is not to be seen on the host `blind`, which this process pretends to be."""
    monkeypatch.setattr(presence, "_own", Worker(name="control@blind"))
    job = make_job(Status.LOADING, chunks=0)
    SourceFile.objects.filter(pk=job.source_id).update(path="/data/in/orders.csv", owned=False, host="web")
    ImportJob.objects.filter(pk=job.pk).update(scan_finished=False, step="scan queued")
    return ImportJob.objects.get(pk=job.pk)


class TestHandBack:
    def test_the_scan_is_released_for_another_host_without_an_attempt(self, scanning: ImportJob):
        presence.announce("control@seeing", 2, ["control", "scan"], direct=True)
        presence.announce("load@third", 2, ["load"], direct=True)  # takes no scans
        scan_job(scanning.pk, lambda _job, _later: None)
        job = ImportJob.objects.get(pk=scanning.pk)
        assert (job.status, job.step, job.step_failures) == (Status.LOADING, "", 0)
        assert job.left_out_json == [{"host": "blind", "place": "/data/in"}]
        (message,) = placement.place(lifecycle.advance(job.pk))
        assert (message.task, message.worker) == ("scan", "control@seeing")
        assert placement.hand_back(job, SourceMissing("gone"), "scan")
        assert len(ImportJob.objects.get(pk=job.pk).left_out_json) == 1
        assert report.report(job)["hosts"] == {"left_out": job.left_out_json, "reading": []}

    def test_if_no_live_host_sees_it_the_problem_has_their_names(self, scanning: ImportJob):
        leave_out(scanning.pk, "other", "/data/in")
        presence.announce("control@other", 2, ["control", "scan"], direct=True)
        scan_job(scanning.pk, lambda _job, _later: None)
        problem = ImportJob.objects.get(pk=scanning.pk).problem
        assert problem["what"] == "No worker's host sees /data/in. Tried: other, blind."
        assert "under the same path" in problem["advice"]
        assert not problem["retryable"]

    def test_an_upload_is_said_to_be_gone_only_where_it_was_written(self, scanning: ImportJob):
        source = scanning.source
        source.owned, source.host = True, "web"
        elsewhere = as_problem(SourceMissing("gone"), scanning, scanning)
        assert "was written on web" in elsewhere.what
        assert "If the file was deleted" in elsewhere.advice
        source.host = "blind"
        here = as_problem(SourceMissing("gone"), scanning, scanning)
        assert (here.what, here.advice) == ("The uploaded file is no longer on this server.", "Upload it again.")

    def test_while_a_host_that_has_read_it_is_away_the_chunk_is_tried_again(self, scanning: ImportJob):
        Chunk.objects.create(
            job=scanning, number=0, offset=0, length=9, rows=1, first_line=2, digest="", worker="1@reader"
        )
        problem = as_problem(SourceMissing("gone"), scanning, scanning)
        assert "Read before by reader" in problem.what
        assert problem.retryable

    def test_without_redis_the_step_is_tried_again(self, scanning: ImportJob):
        with override_settings(REDIS_URL="unix:///nowhere/redis.sock?db=0"):
            queue.connection.cache_clear()
            assert placement.hand_back(scanning, SourceMissing("gone"), "scan")
        queue.connection.cache_clear()
        assert ImportJob.objects.get(pk=scanning.pk).left_out_json == []


@pytest.fixture
def source(settings, monkeypatch, tmp_path, transactional_db) -> SourceFile:
    """A file in a folder that the usual workers may read."""
    monkeypatch.setattr(folders, "SETTLED", 0.0)
    base = settings.INCOMING_DIR / tmp_path.name
    base.mkdir(parents=True)
    (base / "words.csv").write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    connection = SourceConnection.objects.create(name="incoming", kind="folder", base=str(base))
    (file,) = find(connection, "*.csv")
    return open_location(connection).fetch(file, None)


@pytest.fixture
def blind(stack: Stack, tmp_path: Path) -> Iterator[str]:
    """A second loading worker, on a host that has another folder of incoming files."""
    command = [each.replace("load@%h", "load@blind") for each in stack.load_worker.command]
    process = Process(command, {**stack.env, "IMPORT_FOLDERS": str(tmp_path)}, tmp_path / "blind.log")
    process.start()
    queue.connection.cache_clear()
    wait_until(lambda: sum(each.role == "load" for each in presence.live_workers()) == 2, what="both loading workers")
    yield "load@blind"
    process.stop()


def test_of_two_hosts_the_one_that_sees_the_folder_loads_the_file(
    mariadb: Address, stack: Stack, blind: str, source: SourceFile, client
):
    stack.beat.stop()  # No sweep sends messages: the first ones go to the host that does not see the file.
    target = target_with(mariadb, "CREATE TABLE t (n INT, word VARCHAR(20))")
    job = import_of(source, target, options=Options(chunk_bytes=8000, parallelism=2))
    (scan,) = lifecycle.advance(job.pk)
    take(scan)
    queue.send([replace(each, worker=blind) for each in lifecycle.advance(job.pk)])
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the end of the import")

    job = ImportJob.objects.get(pk=job.pk)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, ROWS), job.problem
    assert job.left_out_json == [{"host": "blind", "place": str(Path(source.path).parent)}]
    assert set(job.chunks.values_list("attempt", flat=True)) == {1}
    assert rows_of(mariadb, "SELECT COUNT(*), SUM(n) FROM t") == [(ROWS, sum(range(ROWS)))]
    client.force_login(admin("root"))
    page = client.get(reverse("job", args=[job.pk])).content.decode()
    assert f"Left out: blind: it does not see {Path(source.path).parent}." in page
    assert f"The file is read by {socket.gethostname()}." in page
