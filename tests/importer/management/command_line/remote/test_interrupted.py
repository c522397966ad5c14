"""`millrace --server URL load` in a process of its own, which gets Ctrl-C, and which is killed."""

import os
import signal
import socket
import subprocess
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from importer.engine.errors import Cancelled
from importer.management.command_line.remote.files import Uploads
from importer.management.command_line.remote.load import _begun_unheard, _end_if_begun, watched
from importer.management.command_line.remote.output import RemoteOutput
from importer.management.command_line.remote.there import There
from importer.management.verbs.verb import Context
from importer.models import ImportJob, SourceFile, Target
from importer.models.outcomes import CANCELLED
from importer.sources.continuing import LEFT_AFTER
from millrace_client import http
from millrace_client.api import Millrace
from millrace_client.problems import ServerUnreachable
from tests.documents import read
from tests.importer.management.command_line.interrupts import locked, started, waiting_loads
from tests.importer.management.command_line.remote.conftest import INTO, ROWS, rows
from tests.proxy import Loss, Proxy, proxy
from tests.stack import ROOT, Stack, wait_until

PART = 4096
OTHER_REQUESTS = 16_000  # bytes
MARK = b"1000007,MARK,1.00\n"
# `millrace` with small parts, so that a small file has several.
PROGRAM = (
    "from millrace_client import uploads\n"
    f"uploads.PART_BYTES = {PART}\n"
    "from importer.management.command_line.main import main\n"
    "main()\n"
)
TO = ("--to", "warehouse", "--table", "orders", "--json")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(web: Stack, token: str) -> Start:
    """Starts `millrace --server` with these words, as a terminal does."""

    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "MILLRACE_TOKEN": token}

    def start_words(*words: str, port: int = web.port) -> "subprocess.Popen[str]":
        return started(PROGRAM, ("--server", f"http://127.0.0.1:{port}", *words), env)

    return start_words


def test_ctrl_c_during_the_load_cancels_the_import_on_the_server(start: Start, target: Target, tmp_path: Path):
    path = tmp_path / "orders.csv"
    path.write_bytes(ROWS)
    with locked(target, "orders"):
        command = start("load", str(path), *TO)
        wait_until(lambda: command.poll() is not None or waiting_loads(target), what="a load")
        command.send_signal(signal.SIGINT)
        printed, said = command.communicate(timeout=60)
    report, job = read(printed), ImportJob.objects.get()
    assert (command.returncode, job.status) == (CANCELLED.exit_code, ImportJob.Status.CANCELLED), said
    assert (report["job"], report["outcome"], report["exit_code"]) == (job.pk, CANCELLED.words, 8)
    assert f"job retry {job.pk}" in said
    assert "Traceback" not in said
    assert rows(target) == []


def test_ctrl_c_while_the_server_plans_leaves_nothing(start: Start, silent: socket.socket, tmp_path: Path):
    path = tmp_path / "orders.csv"
    path.write_bytes(ROWS)
    command = start("load", str(path), *TO)
    connection, _ = silent.accept()  # The planning waits for the greeting of the database.
    command.send_signal(signal.SIGINT)
    printed, said = command.communicate(timeout=60)
    connection.close()
    report = read(printed)
    assert (command.returncode, report["outcome"]) == (CANCELLED.exit_code, CANCELLED.words), said
    assert report["problem"]["advice"] == "Nothing was written."
    assert not SourceFile.objects.exists()
    assert not ImportJob.objects.exists()


def about(millrace: Millrace) -> Context:
    """The context of a command."""
    return Context(millrace, Namespace(as_json=False), RemoteOutput("load", as_json=False), "millrace --server URL")


def test_files_of_the_server_may_be_loaded_all_the_same(millrace):
    """After Ctrl-C, and after an answer that is lost: they cannot be taken back."""
    uploads, lost = Uploads(millrace, quiet=True), ServerUnreachable("It does not answer.", advice="Try again.")
    with pytest.raises(Cancelled) as cancelled:
        _end_if_begun(about(millrace), uploads)
    with pytest.raises(ServerUnreachable) as unheard:
        _begun_unheard(about(millrace), uploads, lost)
    for ended in (cancelled, unheard):
        assert "millrace --server URL job list" in ended.value.advice


class TestLostAnswers:
    """The network takes the answer to the start of an import."""

    START = b"POST /api/v1/imports"

    @pytest.fixture
    def line(self, web: Stack) -> Iterator[Proxy]:
        with proxy("127.0.0.1", web.port) as made:
            yield made

    @pytest.fixture
    def loaded(self, start: Start, line: Proxy, target: Target, tmp_path: Path) -> Callable[[], tuple[int, dict, str]]:
        """Loads a file; exit code, report and standard error."""
        path = tmp_path / "orders.csv"
        path.write_bytes(ROWS)

        def load() -> tuple[int, dict, str]:
            command = start("load", str(path), *TO, port=line.port)
            printed, said = command.communicate(timeout=120)
            return command.returncode, read(printed), said

        return load

    def test_the_import_is_followed(self, loaded, line: Proxy, target: Target):
        line.loss = Loss((self.START,), arrives=True)
        code, report, said = loaded()
        assert (code, report["outcome"], report["job"]) == (0, "succeeded", ImportJob.objects.get().pk), said
        assert f"Import {report['job']} has begun all the same." in said
        assert rows(target) == [(1, "ann", "1.50"), (2, "bob", None)]

    def test_nobody_is_told_to_try_again_while_the_server_does_not_say(self, loaded, line: Proxy):
        line.loss = Loss((self.START, b"DELETE /api/v1/uploads"), arrives=True)
        code, report, said = loaded()
        assert (code, report["outcome"], report["job"]) == (1, None, None), said
        assert report["problem"]["advice"].endswith(f"look: millrace --server http://127.0.0.1:{line.port} job list")
        assert "try again." not in said
        assert SourceFile.objects.get().jobs.count() == 1
        wait_until(lambda: ImportJob.objects.get().status in ImportJob.ENDED, what="the end of the import")

    def test_a_start_that_did_not_arrive_leaves_nothing(self, loaded, line: Proxy):
        line.loss = Loss((self.START,), arrives=False)
        code, report, said = loaded()
        assert code == 1, said
        assert report["problem"]["advice"].startswith("Nothing was written.")
        assert not SourceFile.objects.exists()
        assert not ImportJob.objects.exists()

    def test_while_an_import_is_followed_name_the_import_that_continues(self, monkeypatch):
        monkeypatch.setattr(http, "TRIES", 1)
        with pytest.raises(ServerUnreachable) as lost:
            watched(about(There("http://127.0.0.1:1", "millrace_x")), 7)
        again = "millrace --server http://127.0.0.1:1 job wait 7 waits for it again."
        assert lost.value.advice == f"Import 7 continues. Once the server answers, {again}"


def test_an_import_that_has_begun_in_spite_of_ctrl_c_is_cancelled(millrace, target: Target, tmp_path: Path):
    files = Uploads(millrace, quiet=True)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(ROWS)
    Target.objects.update(needs_approval=True)
    wanted = files.send([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    job = millrace.start({**wanted, **INTO})["job"]
    assert files.take_back() == [job]
    assert SourceFile.objects.filter(owned=True, file_count=1).count() == 2


def test_an_upload_that_was_there_before_stays(millrace, tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(ROWS)
    millrace.upload(tmp_path / "a.csv")  # by a command that was ended before it had begun an import
    files = Uploads(millrace, quiet=True)
    files.send([str(tmp_path / "a.csv")])
    assert not files.own
    with pytest.raises(Cancelled) as cancelled:
        _end_if_begun(about(millrace), files)
    assert "job list" in cancelled.value.advice
    files.remove()
    assert SourceFile.objects.count() == 1


class TestUploads:
    @pytest.fixture
    def large(self, tmp_path: Path) -> Path:
        """A file of many parts; what lies before MARK is most of it."""
        path = tmp_path / "orders.csv"
        lines = [b"%d,word,1.00\n" % n for n in range(1000, 4000)]
        lines.insert(2400, MARK)
        path.write_bytes(b"id,name,amount\n" + b"".join(lines))
        return path

    @pytest.fixture
    def line(self, web: Stack) -> Iterator[Proxy]:
        """A connection to the server that breaks at MARK, as often as that is sent."""
        with proxy("127.0.0.1", web.port) as made:
            made.loss = Loss((MARK,), arrives=False)
            yield made

    def test_ctrl_c_ends_the_command(self, start: Start, line: Proxy, target: Target, large: Path):
        command = start("load", str(large), *TO, port=line.port)
        wait_until(lambda: command.poll() is not None or SourceFile.objects.filter(received__gt=0).exists())
        command.send_signal(signal.SIGINT)
        printed, said = command.communicate(timeout=60)
        report = read(printed)
        assert (command.returncode, report["outcome"], report["job"]) == (CANCELLED.exit_code, CANCELLED.words, None)
        assert report["problem"]["code"] == 1500
        assert "The same command continues it" in said
        assert "Traceback" not in said
        assert SourceFile.objects.get().arriving
        assert not ImportJob.objects.exists()

    def test_the_same_command_sends_only_the_rest(self, start: Start, line: Proxy, target: Target, large: Path):
        command = start("load", str(large), *TO, port=line.port)
        before = large.read_bytes().index(MARK) // PART * PART
        wait_until(lambda: command.poll() is not None or SourceFile.objects.filter(received=before).exists())
        command.kill()
        command.communicate()
        first = SourceFile.objects.get()
        SourceFile.objects.update(touched_at=timezone.now() - LEFT_AFTER)
        line.loss, line.sent = None, 0
        printed, said = start("load", str(large), *TO, port=line.port).communicate(timeout=60)
        report = read(printed)
        assert (report["outcome"], report["rows"]["loaded"], report["balanced"]) == ("succeeded", 3001, True), said
        rest = large.stat().st_size - before
        assert rest < line.sent < rest + OTHER_REQUESTS < before
        only = SourceFile.objects.get()
        assert (only.pk, only.file.read_bytes()) == (first.pk, large.read_bytes())
        assert only.key != first.key
