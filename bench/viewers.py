"""Measures how long the viewers of a running import wait if their pages poll in the same moment.

    python -m bench.viewers                             50 viewers of an import with 10,000 chunks, 40 rounds
    python -m bench.viewers --viewers 200 --rounds 20

The real web server answers. Each viewer has a session and a connection of its own. In a round all viewers send their
poll at once and wait for the answers. `unchanged`: nothing has happened since the last poll. `changed`: a chunk was
committed before each round. The output has the milliseconds until the answer (median, 95th percentile, maximum), the
server's processor time for each poll in milliseconds, and the bytes of the largest answer.
"""

import argparse
import gzip
import io
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any

import psutil

PATIENCE = 60  # seconds for an answer, and for the start of the web server
PAGE_STATE = re.compile(r'id="job-page-state" name="seen" value="([^"]*)"')


@dataclass(frozen=True)
class Round:
    """The polls of one moment: seconds of each until its answer, the server's processor seconds, largest answer."""

    waits: list[float]
    cpu: float
    most_bytes: int


class Viewer:
    """A person with the page of an import open."""

    def __init__(self, port: int, session: str, job: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._headers = {"Cookie": session, "HX-Request": "true", "Accept-Encoding": "gzip"}
        self._job = job
        self._seen = page_state(self._get(f"/jobs/{job}/", self._headers)[1])

    def poll(self) -> tuple[float, int, int]:
        """Poll once; return the seconds until the answer, its status and its bytes."""
        began = time.perf_counter()
        status, body = self._get(f"/jobs/{self._job}/live/?seen={self._seen}", self._headers)
        waited = time.perf_counter() - began
        if body:
            self._seen = page_state(body)
        return waited, status, len(body)

    def _get(self, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            self._connection.request("GET", path, headers=headers)
            answer = self._connection.getresponse()
        except RemoteDisconnected:
            # The server has ended a connection that was idle; browsers open another one, too.
            self._connection.close()
            return self._get(path, headers)
        return answer.status, answer.read()


def page_state(body: bytes) -> str:
    """What the page or the answer, which is compressed, shows: the token of the next poll."""
    found = PAGE_STATE.search(gzip.decompress(body).decode())
    assert found, "the page of the import has no state"
    return found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    job = _set_up(arguments.chunks)
    with web_server() as (port, server):
        viewers = [Viewer(port, session, job) for session in _sessions(arguments.viewers)]
        for name, expected, before in (("unchanged", 204, _nothing), ("changed", 200, lambda: _commit_a_chunk(job))):
            before()
            _poll_at_once(viewers, server, expected)  # Each process of the server answers its first poll.
            rounds = []
            for _ in range(arguments.rounds):
                before()
                rounds.append(_poll_at_once(viewers, server, expected))
            print(f"{name:10} {_summary(rounds)}")


def _set_up(chunks: int) -> int:
    """Set the application up with an import that is loading, six tenths of its chunks committed; return its number."""
    from bench.application import set_up

    set_up(Path("var/bench/viewers"))
    from django.core.management import call_command

    call_command("prepare", stdout=io.StringIO())
    from bench.workloads import sample_history
    from importer.models import Chunk, ImportJob

    for _ in sample_history.seed(1, chunks):
        pass
    job = ImportJob.objects.get()
    assert job.chunks.count() >= chunks * 0.9, "the generated import has too few chunks"
    ImportJob.objects.update(status=ImportJob.Status.LOADING, finished_at=None)
    job.chunks.filter(number__gte=chunks * 6 // 10).update(status=Chunk.Status.PENDING, finished_at=None)
    return job.pk


def _sessions(count: int) -> list[str]:
    """The cookies of people who are signed in, each a person of their own."""
    from django.conf import settings
    from django.test import Client

    from importer.access import people
    from importer.models import Role

    cookies = []
    for number in range(count):
        client = Client()
        client.force_login(people.add(f"viewer{number}", Role.ADMIN))
        cookies.append(f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}")
    return cookies


@contextmanager
def web_server() -> Any:
    """Start the web server of the application that is set up; yield its port and process."""
    from django.conf import settings

    command = [sys.executable, "-m", "importer.management.processes", "web"]
    with (settings.VAR_DIR / "web.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            deadline = time.monotonic() + PATIENCE
            while not _answers(settings.PORT):
                assert time.monotonic() < deadline, "the web server does not start"
                time.sleep(0.1)
            yield settings.PORT, psutil.Process(server.pid)
        finally:
            server.terminate()


def _answers(port: int) -> bool:
    with suppress(OSError):
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/login/")
        return connection.getresponse().status == 200
    return False


def _poll_at_once(viewers: list[Viewer], server: psutil.Process, expected: int) -> Round:
    together = threading.Barrier(len(viewers))

    def poll(viewer: Viewer) -> tuple[float, int, int]:
        together.wait()
        return viewer.poll()

    before = _processor_seconds(server)
    with ThreadPoolExecutor(len(viewers)) as threads:
        answers = list(threads.map(poll, viewers))
    wrong = {status for _, status, _ in answers} - {expected}
    assert not wrong, f"polls were answered with {wrong} instead of {expected}"
    return Round([wait for wait, _, _ in answers], _processor_seconds(server) - before, max(a[2] for a in answers))


def _processor_seconds(server: psutil.Process) -> float:
    times = [each.cpu_times() for each in (server, *server.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def _nothing() -> None:
    pass


def _commit_a_chunk(job: int) -> None:
    """Record the next chunk as loaded, as a worker does."""
    from django.db.models import F
    from django.utils import timezone

    from importer.models import Chunk, ImportJob

    chunk = Chunk.objects.filter(job=job, status=Chunk.Status.PENDING).order_by("number").first()
    assert chunk, "all chunks are committed: fewer rounds, or more chunks"
    Chunk.objects.filter(pk=chunk.pk).update(status=Chunk.Status.LOADED, finished_at=timezone.now())
    ImportJob.objects.filter(pk=job).update(version=F("version") + 1)


def _summary(rounds: list[Round]) -> str:
    waits = sorted(1000 * wait for each in rounds for wait in each.waits)
    share: Callable[[float], float] = lambda part: waits[min(len(waits) - 1, int(part * len(waits)))]  # noqa: E731
    cpu = 1000 * sum(each.cpu for each in rounds) / len(waits)
    return (
        f"median {statistics.median(waits):6.1f} ms   95th percentile {share(0.95):6.1f} ms   most {waits[-1]:6.1f} ms"
        f"   processor {cpu:5.2f} ms   answer {max(each.most_bytes for each in rounds):,} bytes"
    )


if __name__ == "__main__":
    main()
