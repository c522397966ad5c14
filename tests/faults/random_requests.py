"""What people, other imports, stopped workers and lost answers do again and again: RANDOM_FAULTS of each, per server.

Not collected by itself: `RANDOM_FAULTS=20 pytest -rP --every-case --timeout=300 tests/faults/random_requests.py`. Each
import must end with exactly its rows.
"""

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of, run_sql
from tests.faults.conftest import Disturbed, created, under_way
from tests.faults.random_moments import TIMES
from tests.importer.steps import import_of
from tests.proxy import COMMIT, Loss, Proxy, proxy
from tests.stack import Stack, wait_until
from tests.targets import saved_target

Status = ImportJob.Status
# Of each of four threads.
REQUESTS = 60
KEYS, SHARED = 20_000, 10_000


def requested(job_id: int) -> int:
    """Request one thing after the other from the job, at once; how many were accepted."""
    every = [
        commands.pause,
        commands.resume,
        commands.cancel,
        commands.retry,
        lambda job_id: commands.set_parallelism(job_id, random.randint(1, 4)),
    ]
    accepted = 0
    for _ in range(REQUESTS):
        with suppress(Problem):
            random.choice(every)(job_id)
            accepted += 1
    connection.close()
    return accepted


def finish(job: ImportJob) -> None:
    """Resume or retry the job until it has succeeded."""

    def succeeded() -> bool:
        status = ImportJob.objects.get(pk=job.pk).status
        again = {Status.PAUSED: commands.resume, Status.CANCELLED: commands.retry, Status.FAILED: commands.retry}
        if status in again:
            again[Status(status)](job.pk)
        return status == Status.SUCCEEDED

    wait_until(succeeded, seconds=120, what="that it succeeds")


@pytest.mark.parametrize("number", range(TIMES))
def test_four_threads_request(disturbed: Disturbed, number: int):
    with ThreadPoolExecutor(4) as pool:
        accepted = list(pool.map(requested, [disturbed.job.pk] * 4))
    print(f"{number + 1}: {sum(accepted)} of {4 * REQUESTS} accepted")
    finish(disturbed.job)
    disturbed.ends_well()


@pytest.mark.parametrize("number", range(TIMES))
def test_two_upserts_of_the_same_keys(
    stack: Stack, database: Address, transactional_db: None, tmp_path: Path, number: int
):
    """Each through its own connection, so that neither waits for the other one's end."""
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, origin VARCHAR(9), twice INT)")
    jobs = []
    for origin, first in (("first", 0), ("second", KEYS - SHARED)):
        path = tmp_path / f"{origin}.csv"
        keys = random.sample(range(first, first + KEYS), KEYS)
        path.write_text("n,origin,twice\n" + "".join(f"{n},{origin},{2 * n}\n" for n in keys))
        target = saved_target(database, f"{database.database} {origin}")
        options = Options(mode="upsert", chunk_bytes=20_000, parallelism=2)
        jobs.append(import_of(path, target, options=options))
    for job in jobs:
        commands.start(job.pk)
    wait_until(lambda: all(ImportJob.objects.get(pk=job.pk).ended for job in jobs), what="the end of both")
    ended = [ImportJob.objects.get(pk=job.pk) for job in jobs]
    assert [(job.status, job.balanced) for job in ended] == [(Status.SUCCEEDED, True)] * 2
    print(f"{number + 1}: loaded {[job.loaded_rows for job in ended]}, replaced {[job.replaced_rows for job in ended]}")
    assert sum(job.loaded_rows for job in ended) == 2 * KEYS - SHARED
    sql = "SELECT COUNT(*), SUM(n), SUM(twice), SUM(IF(n < %s, origin = 'second', n >= %s AND origin = 'first')) FROM t"
    found = [int(value) for value in rows_of(database, sql % (KEYS - SHARED, KEYS))[0]]
    total = sum(range(2 * KEYS - SHARED))
    assert found == [2 * KEYS - SHARED, total, 2 * total, 0]


@pytest.mark.parametrize("number", range(TIMES))
def test_a_worker_is_stopped_for_twice_its_lease(disturbed: Disturbed, stack: Stack, number: int):
    """One of the two children, and each second time both."""
    disturbed.in_the_middle()
    time.sleep(random.uniform(0, 0.5))
    stopped = stack.load_worker.children()[: 1 + number % 2]
    for child in stopped:
        os.kill(child, signal.SIGSTOP)
    time.sleep(2 * settings.LEASE_SECONDS)
    for child in stopped:
        os.kill(child, signal.SIGCONT)
    print(f"{number + 1}: {len(stopped)} stopped")
    disturbed.ends_well()


@pytest.mark.parametrize("number", range(TIMES))
def test_answers_of_commits_are_lost(
    stack: Stack, database: Address, many_rows: Path, transactional_db: None, number: int
):
    """Three times, through a proxy that then drops the connection."""
    with proxy(database.host, database.port) as line:
        address = replace(database, host="127.0.0.1", port=line.port)
        with under_way(Disturbed(created(address, many_rows, "unkeyed"), address)) as running:
            lost = sum(is_lost(line, running) for _ in range(3))
            print(f"{number + 1}: {lost} answers lost")
            assert lost
            running.ends_well()


def is_lost(line: Proxy, running: Disturbed) -> bool:
    """Lose the answer of a COMMIT from a random moment on; False if the import ends before."""
    time.sleep(random.uniform(0, 0.2))
    line.loss = Loss((COMMIT,), arrives=True, once=True)
    wait_until(lambda: line.loss is None or running.over(), what="that an answer is lost")
    lost, line.loss = line.loss is None, None
    return lost
