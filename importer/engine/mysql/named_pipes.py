"""Named pipes that a server on this machine reads a chunk's bytes from, as if they were a file.

Each lies in a folder of its own, whose name begins with PREFIX, under one that the server may read. The owner holds a
lock on that folder: one without an owner was left behind by a process that was killed, and whoever comes next removes
it, which also ends a server's waiting for its bytes.
"""

import fcntl
import os
import secrets
import select
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from importer.engine.errors import TargetProblem

PREFIX = "millrace-"
# The most that the system gives an unprivileged process (man 7 pipe, /proc/sys/fs/pipe-max-size).
PIPE_BYTES = 2**20
# Seconds between two looks whether the server has opened the pipe, and whether its statement has ended.
LOOK = 0.001
LOOK_AGAIN = 0.5


@contextmanager
def pipe_in(folder: Path) -> Iterator[Path]:
    """A new pipe in the folder, gone at the end. Raises TargetProblem if none can be made there."""
    try:
        remove_stale(folder)
        own = folder / f"{PREFIX}{secrets.token_hex(8)}"
        own.mkdir()
    except OSError as error:
        raise TargetProblem(
            f"No pipe can be made there: {error.strerror}.",
            where=str(folder),
            advice="Let the account that Millrace runs as write into that folder, or set SERVER_FILES_DIR.",
        ) from error
    lock = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The server runs as somebody else. Nobody can list the folder, so nobody else knows the pipe's name.
        own.chmod(0o711)
        pipe = own / secrets.token_hex(16)
        os.mkfifo(pipe)
        pipe.chmod(0o644)
        yield pipe
    finally:
        _remove(own)
        os.close(lock)


def remove_stale(folder: Path) -> None:
    """Remove the pipes whose owners are gone. Raises OSError if the folder cannot be read."""
    for own in folder.iterdir():
        if not own.name.startswith(PREFIX):
            continue
        with suppress(OSError):  # Somebody else's, or just removed.
            lock = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its owner may have made it a moment ago, and not locked it yet.
                if any(own.iterdir()):
                    _remove(own)
            finally:
                os.close(lock)


def _remove(own: Path) -> None:
    """Remove the folder; a server that waits for its pipe to be opened gets an end of data."""
    with suppress(OSError):
        for pipe in own.iterdir():
            with suppress(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    shutil.rmtree(own, ignore_errors=True)


class PipeWriter:
    """Writes pieces into a pipe from a thread of its own, until all are written, the reader is gone, or stop().

    `error` is what the pieces raised; `done`: all of them have been written.
    """

    def __init__(self, pipe: Path, pieces: Iterable[bytes]) -> None:
        self._pipe, self._pieces = pipe, pieces
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pipe", daemon=True)
        self.error: BaseException | None = None
        self.done = False
        self._thread.start()

    def stop(self) -> None:
        """To be called when the server's statement has ended: nobody reads any more."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        fd = self._opened()
        if fd is None:
            return
        try:
            with suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            for piece in self._pieces:
                if not self._written(fd, piece):
                    return
            self.done = True
        except BrokenPipeError:
            pass  # The statement has ended, and says why.
        except BaseException as error:
            self.error = error
        finally:
            os.close(fd)

    def _opened(self) -> int | None:
        """The pipe, as soon as the server has it open: it would see nothing of bytes that were gone by then."""
        while not self._stopped.wait(LOOK):
            try:
                return os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                continue
        return None

    def _written(self, fd: int, piece: bytes) -> bool:
        """Whether all of it went in. Never waits for ever: the server may have stopped reading."""
        rest = memoryview(piece)
        poller = select.poll()
        poller.register(fd, select.POLLOUT)
        while rest:
            try:
                rest = rest[os.write(fd, rest) :]
            except BlockingIOError:
                while not poller.poll(LOOK_AGAIN * 1000):
                    if self._stopped.is_set():
                        return False
        return True
