"""Commands in processes of their own that are interrupted while they load."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from types import ModuleType, SimpleNamespace

import psutil
import pytest
from django.db import connection

from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.models import Target
from importer.worker.shutdown import ENDS
from tests.stack import ROOT, wait_until


def started(program: str, words: tuple[str, ...], env: Mapping[str, str]) -> "subprocess.Popen[str]":
    """Start a program of Python with the words in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A test run in the background of a shell ignores signals, and so would the command.
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in ENDS],  # noqa: PLW1509
    )


def press_ctrl_c_in_sleep(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, then: Callable[[], object] | None = None
) -> None:
    """Ctrl-C is pressed as soon as this module sleeps; what other threads sleep is left alone.

    It is pressed once if `then` is given, which works while the module sleeps the next times.
    """
    pressed: list[bool] = []

    def sleep(_seconds: float) -> None:
        if pressed and then:
            then()
            return
        pressed.append(True)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=sleep))


@contextmanager
def locked(target: Target, table: str) -> Iterator[None]:
    """Nothing loads into the table inside the block."""
    with connect(target.address) as held:
        execute(held, f"LOCK TABLES {table} READ")
        yield


def waiting_loads(target: Target) -> int:
    """How many loads wait for the locked table.

    Without those of an earlier test that are still ending, and without the probe of the network, which loads nothing
    into the ledger.
    """
    loads = (
        "SELECT info FROM information_schema.processlist"
        f" WHERE db = DATABASE() AND info LIKE 'LOAD DATA%' AND info NOT LIKE '%INTO TABLE {ledger.TABLE} %'"
    )
    with connect(target.address) as connection:
        return len(fetch_all(connection, loads))


def suspend(processes: Sequence[psutil.Process]) -> None:
    """Suspend the processes while none of them writes to the application's database: no other process could then."""
    wait_until(lambda: _suspended_between_writes(processes), what="the processes to write nothing")


def _suspended_between_writes(processes: Sequence[psutil.Process]) -> bool:
    for each in processes:
        each.suspend()
    with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=0)) as another:
        try:
            another.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            for each in processes:
                each.resume()
            return False
    return True
