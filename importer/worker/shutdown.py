"""Whether this worker has been asked to end: its first process is told, those that are forked from it must know.

Celery waits for what they do. A run or a scan that goes on for long ends by itself then, and somebody else goes on.
"""

import mmap

# Shared with every process forked from here on. No lock: a process that is killed while it looks must not keep one.
_asked = mmap.mmap(-1, 1)


def request() -> None:
    """The worker is to end: told by its first process."""
    _asked[0] = True


def requested() -> bool:
    """Whether nothing further is to be begun."""
    return bool(_asked[0])
