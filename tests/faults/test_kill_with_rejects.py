"""Kill the loading processes while rows are being rejected: each bad row is rejected once, all others load once."""

import csv
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.jobs.lifecycle import planned_rows
from importer.jobs.rejects import downloads
from importer.models import ImportJob
from tests.faults.conftest import ROWS, Disturbed, created, under_way
from tests.stack import Stack, wait_until
from tests.targets import TestServer

# Found before they are sent, or only by the server.
BAD = {n: f"x{n},bad,1,2024-01-01" for n in range(50, ROWS, 997)}
TWICE = {n: f"{n - 1},twice,1,2024-01-01" for n in range(500, ROWS, 20_011)}


class LeavingOut(Disturbed):
    """An import of many rows, some of which cannot go in."""

    def ends_well(self) -> None:
        wait_until(lambda: ImportJob.objects.get(pk=self.job.pk).ended, seconds=120, what="the job's end")
        job = ImportJob.objects.get(pk=self.job.pk)
        bad = {**BAD, **TWICE}
        assert (job.status, job.problem, job.balanced) == (ImportJob.Status.SUCCEEDED, {}, True)
        assert (job.loaded_rows, job.rejected_rows) == (ROWS - len(bad), len(bad))
        assert sum(kind["rows"] for kind in job.reject_reasons) == len(bad)
        with connect(self.address) as connection:
            found = fetch_all(connection, f"SELECT COUNT(*), SUM(n) FROM {job.table_name}")[0]
            assert (found[0], int(found[1])) == (ROWS - len(bad), sum(set(range(ROWS)) - bad.keys()))
            assert ledger.rows_by_chunk(connection, str(job.key)) == planned_rows(job)
        records = b"".join(downloads.reject_file(job)).decode().splitlines()
        assert records == ["n,word,amount,at", *(bad[n] for n in sorted(bad))]
        explained = csv.DictReader(b"".join(downloads.reasons_file(job)).decode().splitlines())
        assert [int(row["line"]) for row in explained] == [n + 2 for n in sorted(bad)]
        self.no_connection_is_left()


@pytest.fixture(scope="session")
def rows_with_bad_ones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "bad rows.csv"
    bad = {**BAD, **TWICE}
    with path.open("w") as out:
        out.write("n,word,amount,at\n")
        for n in range(ROWS):
            out.write(f"{bad.get(n) or f'{n},word {n % 977},{n % 5000}.25,2024-{n % 12 + 1:02}-{n % 28 + 1:02}'}\n")
    return path


@pytest.fixture
def leaving_out(stack: Stack, database: Address, rows_with_bad_ones: Path, transactional_db) -> Iterator[LeavingOut]:
    job = created(database, rows_with_bad_ones, "keyed", on_error="reject")
    with under_way(LeavingOut(job, database)) as running:
        yield running


def test_undisturbed(leaving_out: LeavingOut):
    leaving_out.ends_well()


def test_workers_are_killed_again_and_again(leaving_out: LeavingOut, stack: Stack):
    leaving_out.in_the_middle()
    # The chunk that takes longest may be hit each time; with one death more it would be given up.
    for _ in range(settings.MAX_DEATHS - 1):
        loaded = leaving_out.loaded()
        for child in stack.load_worker.children():
            os.kill(child, signal.SIGKILL)
        wait_until(lambda before=loaded: leaving_out.loaded() > before or leaving_out.over(), what="another chunk")
    leaving_out.ends_well()


def test_the_server_is_killed(leaving_out: LeavingOut, server: TestServer):
    leaving_out.in_the_middle()
    server.kill()
    server.start()
    leaving_out.ends_well()
