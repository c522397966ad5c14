"""A terminal's Ctrl-C, and a kill, while `millrace load` loads in processes of its own."""

import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from importer.models import ImportJob, Target
from importer.models.outcomes import CANCELLED, UNKNOWN
from importer.worker import local_pool
from importer.worker.shutdown import ENDS
from tests.importer.management.command_line.interrupts import locked, started, suspend, waiting_loads
from tests.importer.management.people_file import loaded
from tests.shell import Shell
from tests.stack import Stack, wait_until

ROWS = 200
# Seconds after which the chunks of a killed process are loaded by another one.
SHORT_LEASE = {"LEASE_SECONDS": "2"}
PROGRAM = "from importer.management.command_line.main import main; main()"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that is too large for threads."""
    path = tmp_path / "people.csv"
    unread = "x" * (local_pool.IN_THREADS_BELOW // ROWS)
    path.write_text("id,name,unread\n" + "".join(f"{n},name {n},{unread}\n" for n in range(ROWS)))
    return path


def start(env: dict[str, str], *words: str) -> "subprocess.Popen[str]":
    """Start `millrace` with the words."""
    return started(PROGRAM, words, env)


def begun(command: subprocess.Popen[str], target: Target) -> list[psutil.Process]:
    """The processes that load, once one of them waits for the table."""
    wait_until(lambda: command.poll() is not None or waiting_loads(target))
    assert command.poll() is None, command.communicate()
    return psutil.Process(command.pid).children()


@pytest.mark.one_of("end")
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.name)
def test_a_first_signal_cancels_and_says_how_to_continue(
    target_on_each: Target, large: Path, stack_env: Stack, end: signal.Signals
):
    """All processes get it: Ctrl-C of a terminal, SIGTERM of systemd and `timeout`, SIGHUP of a shell that ends."""
    with locked(target_on_each, "people"):
        command = start(stack_env.env, "load", str(large), "--to", "t", "--table", "people", "--ignore-fields")
        processes = begun(command, target_on_each)
        assert len(processes) > 1
        os.killpg(command.pid, end)
        _, said = command.communicate(timeout=60)
    job = ImportJob.objects.get()
    assert (command.returncode, job.status) == (CANCELLED.exit_code, ImportJob.Status.CANCELLED), said
    assert f"To load the missing rows: millrace job retry {job.pk}" in said
    assert "Traceback" not in said
    assert not any(each.is_running() for each in processes)
    assert loaded(target_on_each)[0] == 0


def test_ctrl_c_twice_ends_all_processes_at_once_and_a_retry_loads_the_rows(
    target: Target, large: Path, stack_env: Stack, shell: Shell
):
    env = stack_env.env | SHORT_LEASE
    with locked(target, "people"):
        command = start(env, "load", str(large), "--to", "t", "--table", "people", "--ignore-fields")
        processes = begun(command, target)
        # They do not see that the import is cancelled: so it has not ended before the second Ctrl-C.
        suspend(processes)
        os.killpg(command.pid, signal.SIGINT)
        lines: list[str] = []
        while "Ctrl-C once more ends at once" not in "".join(lines[-1:]):
            lines.append(command.stderr.readline())
            assert lines[-1], "".join(lines)
        wait_until(lambda: ImportJob.objects.get().status == ImportJob.Status.CANCELLING)
        os.killpg(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=60)
        assert command.returncode == 1
        job = ImportJob.objects.get()
        assert "Ended at once. What is committed stays. The missing rows: millrace job " in said
        wait_until(lambda: not any(each.is_running() for each in processes))
    shell.manage("job", "retry", str(job.pk))
    assert loaded(target)[0] == ROWS


def test_no_process_outlives_a_killed_command_and_another_one_continues(
    target: Target, large: Path, stack_env: Stack, shell: Shell
):
    env = stack_env.env | SHORT_LEASE
    with locked(target, "people"):
        command = start(env, "load", str(large), "--to", "t", "--table", "people", "--ignore-fields")
        processes = begun(command, target)
        assert processes
        command.kill()
        command.communicate(timeout=60)
        wait_until(lambda: not any(each.is_running() for each in processes))
    shell.manage("job", "run", str(ImportJob.objects.get().pk))
    assert loaded(target)[0] == ROWS


def test_the_command_ends_with_the_process_that_it_has_lost(
    target: Target, large: Path, stack_env: Stack, shell: Shell
):
    """The others ignore the signal by which a pool of processes asks them for their end."""
    env = stack_env.env | SHORT_LEASE
    with locked(target, "people"):
        command = start(env, "load", str(large), "--to", "t", "--table", "people", "--ignore-fields")
        processes = begun(command, target)
        processes[0].kill()
        _, said = command.communicate(timeout=60)
        job = ImportJob.objects.get()
        assert (command.returncode, "Traceback" in said) == (UNKNOWN, False), said
        assert "A process of this command was killed." in said
        assert f"The missing rows: millrace job run {job.pk}" in said
        wait_until(lambda: not any(each.is_running() for each in processes))
    shell.manage("job", "run", str(job.pk))
    assert loaded(target)[0] == ROWS
