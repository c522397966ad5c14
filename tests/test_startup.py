"""Tests what a process does at its start: which packages it loads, and when it looks for garbage."""

import subprocess
import sys
from pathlib import Path

import pytest

from config.garbage import LOOK_AFTER
from tests.stack import ROOT

# Stops where Django would run the command, and prints the packages that are loaded by then.
PROGRAM = """
import sys
from django.core.management import ManagementUtility
from django.core.management.base import BaseCommand

def stop(*_args, **_options):
    # As a load does, and one of some seconds.
    from importer.diagnosis import why
    from importer.worker import load_chunks, local_pool, scan, verify
    print(*sorted({name.partition(".")[0] for name in sys.modules}))
    sys.exit()

BaseCommand.execute = stop
ManagementUtility(["manage.py", "import_csv", "x.csv", "--target", "t", "--table", "t"]).execute()
"""
LATER = {"celery", "kombu", "redis", "msgspec", "botocore", "paramiko", "matplotlib", "numpy"}

# Each stops a process where its start is over.
STARTED = """
import gc, sys
from django.core.management.base import BaseCommand

def stop(*_args, **_options):
    print(gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count() > 50_000)
    sys.exit()

BaseCommand.execute = stop
"""
STARTS = {
    "manage.py": "sys.argv[1:] = ['migrate']; from config.command_line import main; main()",
    "millrace": "sys.argv[1:] = ['job', 'list']; from importer.management.command_line.main import main; main()",
    # Its processes are forked then.
    "web server": """
import os
before = os.listdir("/proc/self/fd")
import config.asgi
assert "dashboard.urls" in sys.modules
assert len(os.listdir("/proc/self/task")) == 1
assert os.listdir("/proc/self/fd") == before
stop()
""",
    "worker": """
sys.argv[1:] = ['worker', '--queues=load']
from celery.signals import celeryd_after_setup
from importer.management.processes.celery_process import main
celeryd_after_setup.connect(stop)
main()
""",
}


def printed_by(program: str, var_dir: Path) -> list[str]:
    """The words that a Python program prints, in a new installation."""
    env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(var_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_import_csv_starts_without_packages_that_it_may_not_need(tmp_path):
    loaded = set(printed_by(PROGRAM, tmp_path))
    assert {"django", "importer"} <= loaded
    assert loaded & LATER == set()


@pytest.mark.thorough
@pytest.mark.parametrize("process", STARTS)
def test_once_started_a_process_looks_for_garbage_again_but_not_in_its_modules(process, tmp_path):
    assert printed_by(STARTED + STARTS[process], tmp_path) == ["True", str(LOOK_AFTER), "True"]
