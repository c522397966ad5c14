"""What a small import costs in messages, queries and statements, so that it stays: most of its time is not its LOAD."""

from collections import Counter
from pathlib import Path

import pytest
from django.db import connection as application
from django.test.utils import CaptureQueriesContext

from importer import queue, tasks
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.queue import Message
from importer.worker import scan
from importer.worker.steps import IMPORT_STEPS
from tests.importer.steps import import_of
from tests.targets import on_mariadb

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 60_000
# Queries of the application's database. A step that needs more of them is slower, also on a server.
MOST_QUERIES = {"start": 14, "scan": 26, "load_run": 95}
# A query for the row of a job with all that it has, which may be long.
WHOLE_ROW = '"importer_importjob"."reading_json"'
MOST_WHOLE_ROWS = {"scan": 3, "load_run": 5}
TABLES = ("CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20))",)
database = on_mariadb


@pytest.fixture
def sent(monkeypatch) -> list[Message]:
    """The messages that the worker's steps send."""
    messages: list[Message] = []
    monkeypatch.setattr(queue, "_publish", messages.extend)
    return messages


def created(target: Target, path: Path, **options) -> ImportJob:
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    return import_of(path, target, options=Options(**options))


def test_a_small_file_takes_two_messages_and_few_queries(target: Target, tmp_path: Path, sent: list[Message]):
    job = created(target, tmp_path / "t.csv")
    queries, whole_rows = {}, {}
    with CaptureQueriesContext(application) as seen:
        commands.start(job.pk)
    queries["start"] = len(seen)
    taken = Counter[str]()
    while sent:
        message = sent.pop(0)
        taken[message.task] += 1
        with CaptureQueriesContext(application) as seen:
            getattr(tasks, message.task)(message.id)
        queries[message.task] = len(seen)
        whole_rows[message.task] = sum(WHOLE_ROW in each["sql"] for each in seen)
    # The worker that has loaded the last chunk has also verified the import.
    assert taken == {"scan": 1, "load_run": 1}
    job.refresh_from_db()
    assert (job.status, job.loaded_rows, job.chunks.count() > 1) == (ImportJob.Status.SUCCEEDED, ROWS, True)
    assert {name for name, count in queries.items() if count > MOST_QUERIES[name]} == set(), queries
    assert {name for name, count in whole_rows.items() if count > MOST_WHOLE_ROWS[name]} == set(), whole_rows


def test_a_scan_wakes_workers_only_for_free_sessions(target: Target, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(scan, "FIRST_BYTES", 1)
    job = created(target, tmp_path / "t.csv", parallelism=1, chunk_bytes=65_536)
    [message] = lifecycle.advance(job.pk)
    queued: list[list[Message]] = []
    IMPORT_STEPS["scan"](message.id, lambda job_id, _later: queued.append(lifecycle.advance(job_id)))
    assert job.chunks.count() > scan.FIRST_GROUPS
    assert [[each.task for each in messages] for messages in queued] == [["load_run"]]


def test_the_end_of_an_import_wakes_who_waits_for_it(redis, target: Target, tmp_path: Path, sent: list[Message]):
    job = created(target, tmp_path / "t.csv")
    commands.start(job.pk)
    with queue.waiting_for_end(job.pk) as wait, queue.waiting_for_end(job.pk + 1) as wait_for_another:
        assert not wait(0.1)
        assert not wait_for_another(0.1)
        while sent:
            message = sent.pop(0)
            getattr(tasks, message.task)(message.id)
        assert any(wait(10) for _ in range(3))
        assert not wait_for_another(0.1)
