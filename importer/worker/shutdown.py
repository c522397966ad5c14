"""Tells the worker's processes that it is shutting down: the first process gets the signal, forked ones read a flag.

Celery waits for running tasks. A long run or scan ends by itself on this flag, and another worker continues it. A chunk
that is not loaded after GRACE_SECONDS is rolled back and released (heartbeat.py), before a supervisor kills the worker.
"""

import ctypes
import mmap
import signal
import sys
from collections.abc import Mapping
from uuid import UUID

PR_SET_PDEATHSIG = 1  # prctl(2)

# The signals that ask a command for its end: Ctrl-C, kill or `timeout`, and a terminal that was closed.
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Seconds that a chunk in hand may take after the signal. A supervisor must wait longer before it kills the worker.
GRACE_SECONDS = 5.0

# Shared with all processes that are forked later. Without a lock, which a killed process would never release.
_flag = mmap.mmap(-1, 1)


def end_with_parent(how: signal.Signals = signal.SIGTERM) -> None:
    """Let Linux send `how` to this process when its parent dies, so that a killed parent leaves no processes behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, how)


def leave_ends_to_the_parent() -> None:
    """Ignore the signals that ask a command for its end, which terminals, `timeout` and systemd send to all processes.

    The parent cancels the import, which ends theirs.
    """
    for each in ENDS:
        signal.signal(each, signal.SIG_IGN)


def begin_spawned(passwords: Mapping[UUID, str]) -> None:
    """Begin a process of an import's pool that has imported nothing yet. This module must not import Django.

    `passwords`: those that the parent holds (security/held_passwords.py).
    """
    leave_ends_to_the_parent()
    import django

    django.setup()
    from importer.security import held_passwords

    held_passwords.hold_all(passwords)


def request() -> None:
    """Set the flag. Called by the worker's first process."""
    _flag[0] = True


def requested() -> bool:
    """Whether the worker is shutting down, so that no further work may begin."""
    return bool(_flag[0])
