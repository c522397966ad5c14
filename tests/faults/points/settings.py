"""The product's settings with the failpoints switched on: for the processes of these tests alone.

FAILPOINTS names a folder. In `armed/` a test arms points (importer/engine/failpoints.py); in `busy/` each process that
works on a task has a file with its process id as name.
"""

import os
from pathlib import Path

# The product's settings refuse the variable.
FOLDER = Path(os.environ.pop("FAILPOINTS", "no failpoints"))

from celery import signals

from config.settings import *
from importer.engine import failpoints

if FOLDER.is_dir():
    failpoints.switch_on(FOLDER / "armed")


@signals.task_prerun.connect(weak=False)
def begin(**_: object) -> None:
    """Note that this process works on a task."""
    (FOLDER / "busy" / str(os.getpid())).touch()


@signals.task_postrun.connect(weak=False)
def end(**_: object) -> None:
    """Note that it has ended."""
    (FOLDER / "busy" / str(os.getpid())).unlink(missing_ok=True)
