"""Tells the worker's processes that it is shutting down: the first process gets the signal, forked ones read a flag.

Celery waits for running tasks. A long run or scan ends by itself on this flag, and another worker continues it.
"""

import mmap

# Shared with all processes that are forked later. Without a lock, which a killed process would never release.
_flag = mmap.mmap(-1, 1)


def request() -> None:
    """Set the flag. Called by the worker's first process."""
    _flag[0] = True


def requested() -> bool:
    """Whether the worker is shutting down, so that no further work may begin."""
    return bool(_flag[0])
