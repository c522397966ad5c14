"""Waits for locks of others are no time of loading, finishing or verifying, and are named afterwards."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections

from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.jobs.report import report
from importer.management.terminal.report_text import report_lines
from importer.models import ImportJob, Target
from importer.models.outcomes.attempts import seconds_of
from tests.importer.steps import import_of, now, queued, run, until
from tests.stack import wait_until

pytestmark = [pytest.mark.both_servers, pytest.mark.usefixtures("no_workers"), pytest.mark.django_db(transaction=True)]
TABLES = ("CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20)) ENGINE=InnoDB",)
ROWS = "n,word\n1,one\n2,two\n"


@contextmanager
def held_by(target: Target, *statements: str) -> Iterator[int]:
    """In this context another connection holds what the statements lock. Its number."""
    with connect(target.address) as other:
        for each in statements:
            execute(other, each)
        yield other.thread_id()
        execute(other, "ROLLBACK")
        execute(other, "UNLOCK TABLES")


def run_behind(job: ImportJob, target: Target, *statements: str) -> tuple[ImportJob, int]:
    """Run the import until it has waited for the lock of a connection, and without that to its end."""

    def to_end() -> None:
        try:
            run(job)
        finally:
            connections.close_all()

    thread = threading.Thread(target=to_end)
    with held_by(target, *statements) as holder:
        thread.start()
        wait_until(lambda: now(job).lock_waits_json, what="that the wait is recorded")
    thread.join()
    return now(job), holder


def expect_wait(job: ImportJob, during: str, cause: str, holder: int) -> None:
    document = report(job)
    (wait,) = document["lock_waits"]
    assert (document["outcome"], wait["during"], wait["cause"], wait["holder"]) == ("succeeded", during, cause, holder)
    assert f"connection {holder}" in wait["what"]
    assert [each for each in report_lines(document, "") if f"for a lock while it was {during}. {wait['what']}" in each]
    seconds = seconds_of(job)
    assert seconds
    # It is waiting, all of it, and nothing else.
    whole = (job.finished_at - job.created_at).total_seconds()
    assert document["seconds"]["locks"] == wait["seconds"] > 0
    assert seconds.waiting >= wait["seconds"]
    assert seconds.working <= whole - wait["seconds"] + 0.1
    assert min(seconds.loading, seconds.verifying) >= 0


def test_a_locked_row_while_it_loads(target: Target, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    job = import_of(path, target)
    ended, holder = run_behind(job, target, "BEGIN", "INSERT INTO t VALUES (2, 'other')")
    expect_wait(ended, "loading", "row_lock", holder)


def test_an_open_transaction_while_the_table_is_exchanged(target: Target, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    job = import_of(path, target, options=Options(mode="replace"))
    until(job, "finish")
    ended, holder = run_behind(job, target, "BEGIN", "SELECT COUNT(*) FROM t")
    expect_wait(ended, "finishing", "open_transaction", holder)


def test_a_locked_table_while_it_is_verified(target: Target, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    job = import_of(path, target)
    until(job, "verify")
    assert queued(job)
    ended, holder = run_behind(job, target, "LOCK TABLES t WRITE")
    expect_wait(ended, "verifying", "table_lock", holder)
