"""Tests `make run` with its real processes: killed ones are restarted, stopping leaves none behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import psutil
import pytest

from config.contracts.outcomes import REFUSED
from importer.management.processes.private_servers import free_port

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60  # seconds
PASSWORD = "canary-7f3a"
BIND = "127.0.0.2"


class Running:
    """A `make run` on a folder of its own."""

    def __init__(self, var_dir: Path) -> None:
        self.var_dir = var_dir
        self.output = var_dir.parent / "output"
        # Not the settings that the tests themselves run with.
        named = ("VAR_DIR", "LEASE_SECONDS", "SWEEP_SECONDS", "DJANGO_SETTINGS_MODULE", "REDIS_URL", "DATABASE_URL")
        self.environment = {name: value for name, value in os.environ.items() if name not in named}
        self.environment |= {"VAR_DIR": str(var_dir), "PORT": str(free_port()), "ADMIN_PASSWORD": PASSWORD}
        # It finds its own web server at another address than the usual one, and beside a proxy for other hosts.
        self.environment |= {"BIND": BIND, "http_proxy": "http://127.0.0.1:9"}
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    command = (sys.executable, "manage.py", "serve")

    def until(self, holds):
        """Wait until `holds` does."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.05)

    def until_ready(self):
        self.until(lambda: "Millrace serves" in self.output.read_text() or self.process.poll() is not None)
        assert self.process.poll() is None, self.output.read_text()

    def processes(self, word: str = "") -> list[psutil.Process]:
        """Live processes of this VAR_DIR, the pool's children included, whose command line has `word` in it."""
        processes = []
        for process in psutil.process_iter():
            try:
                # Redis writes its title over its environment, but works in its own folder.
                ours = (
                    process.environ().get("VAR_DIR") == str(self.var_dir) or self.var_dir in Path(process.cwd()).parents
                )
                if ours and word in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                    processes.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return processes

    def answers(self) -> bool:
        request = Request(f"http://{BIND}:{self.environment['PORT']}/healthz", headers={"Host": "localhost"})
        try:
            with urlopen(request, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def end(self):
        for process in [psutil.Process(self.process.pid)] if self.process.poll() is None else []:
            process.terminate()
        self.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A `make run` shared by the tests; the last two stop and restart it."""
    # A name with characters that configuration files, shells and URLs treat specially.
    folder = tmp_path_factory.mktemp("run") / "a folder #1; 100 %d"
    for each in (folder, folder / "redis"):
        each.mkdir()
        each.chmod(0o755)
    started = Running(folder)
    started.until_ready()
    yield started
    started.end()
    assert started.processes() == []


def second_start(running, **changed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        running.command, cwd=ROOT, env=running.environment | changed, capture_output=True, text=True, timeout=PATIENCE
    )


def test_a_second_start_on_the_same_folder_is_refused(running):
    second = second_start(running)
    assert second.returncode == REFUSED.exit_code
    assert "already running" in second.stderr
    assert str(running.process.pid) in second.stderr
    assert running.answers()


def test_a_taken_port_is_reported_without_a_traceback(running):
    second = second_start(running, VAR_DIR=str(running.var_dir.with_name("other")))
    assert second.returncode == REFUSED.exit_code
    assert f"Port {running.environment['PORT']} is taken" in second.stderr
    assert "Traceback" not in second.stderr


def test_all_that_the_processes_write_is_for_their_own_account(running):
    written = [running.var_dir, *running.var_dir.rglob("*")]
    assert any("appendonly" in path.name for path in written)
    closed = (running.var_dir, running.var_dir / "redis", running.var_dir / "log", running.var_dir / "keys")
    for path in written:
        private = path in closed or any(folder in path.parents for folder in closed[1:]) or "sqlite3" in path.name
        assert not private or path.stat().st_mode & 0o077 == 0, path


def test_the_admin_password_is_in_no_process_that_the_command_started(running):
    children = [process for process in running.processes() if process.pid != running.process.pid]
    assert len(children) > 5
    for process in children:
        assert PASSWORD not in str(process.environ()), process.cmdline()


def test_the_processes_of_the_web_server_share_what_they_import(running):
    first = min(running.processes("gunicorn"), key=lambda each: each.create_time())
    running.until(lambda: len(first.children()) == 2)
    for each in first.children():
        memory = each.memory_full_info()
        assert memory.uss < memory.rss / 2, memory


def test_killed_processes_are_restarted_and_ctrl_c_ends_them_all(running):
    assert running.answers()
    for word in ("gunicorn", "worker --hostname=load", "redis"):
        before = {process.pid for process in running.processes(word)}
        for process in running.processes(word):
            process.kill()
        running.until(lambda word=word, before=before: {p.pid for p in running.processes(word)} - before)
    running.until(running.answers)

    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(PATIENCE) == 0
    assert running.processes() == []


def test_the_account_is_made_once_and_no_process_outlives_a_killed_command(running):
    again = Running(running.var_dir)
    again.until(lambda: again.output.read_text().count("Millrace serves") == 2)
    assert again.output.read_text().count("Sign in as admin, ") == 1
    again.process.kill()
    again.until(lambda: not again.processes())
