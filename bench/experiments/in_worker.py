"""Runs an experiment that a page or the API has ordered: in a process of its own, as that of the command.

    python -m bench.experiments.in_worker LAB ATTEMPT

The worker that has claimed the lab starts this process, and waits for its end. It renews the lease until the process
takes over the claim. The process ends with the worker, and cancels the experiment then.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importer.models import Lab

ROOT = Path(__file__).resolve().parents[2]
# Seconds between two looks whether the worker is asked to end.
LOOK_EVERY = 1


def run(lab: "Lab") -> None:
    """Run the lab in a process of its own, and return when that has ended. Raises Problem if it ended unexpectedly."""
    from importer.engine.errors import Problem
    from importer.lab.transitions import lease_keeper
    from importer.worker import shutdown

    words = [sys.executable, "-m", "bench.experiments.in_worker", str(lab.pk), str(lab.attempt)]
    # On a busy machine the start of a process may take longer than a lease.
    with lease_keeper(lab), subprocess.Popen(words, cwd=ROOT) as process:
        while not shutdown.requested() and process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_EVERY)
        # Once: a second signal would interrupt how it puts things away.
        process.terminate()
        process.wait()
    if process.returncode:
        raise Problem("The process of the experiment has failed.", str(lab), "Look at the worker's log.")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC
    from importer.worker.shutdown import end_with_parent

    end_with_parent()
    # SIGTERM interrupts as Ctrl-C does.
    HeldCtrlC().release()
    work(*map(int, sys.argv[1:]))


def work(lab_id: int, attempt: int) -> None:
    """Run the lab that this attempt has claimed to its end, unless it is no longer wanted."""
    from django.utils import timezone

    from bench.experiments import command
    from bench.experiments.outcome import StartState
    from importer.lab.transitions import Status, change_held
    from importer.lease import lease_end
    from importer.models import Lab

    lab = Lab.objects.select_related("target").get(pk=lab_id)
    lab.attempt, lab.status = attempt, Status.PREPARING
    if change_held(lab, status=Status.RUNNING, prepared_at=timezone.now(), lease=lease_end()):
        lab.status = Status.RUNNING
        command.work(lab, StartState(), command.command_of(lab), lambda _line: None)


if __name__ == "__main__":
    main()
