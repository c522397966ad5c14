"""Named pipes from which a server on this machine reads a chunk's bytes as if from a file.

Each pipe has its own folder, whose name begins with PREFIX, in a folder that the server may read. The owner locks the
pipe's folder. An unlocked folder was left by a killed process; the next process removes it, which also ends the wait of
a server for its bytes.
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
# The largest pipe buffer of an unprivileged process (man 7 pipe, /proc/sys/fs/pipe-max-size).
PIPE_BYTES = 2**20
# Seconds between checks whether the server has opened the pipe, and whether its statement has ended.
OPEN_POLL = 0.001
WRITE_POLL = 0.5


@contextmanager
def pipe_in(folder: Path) -> Iterator[Path]:
    """Make a pipe in the folder; removed at the end. Raises TargetProblem if no pipe can be made there."""
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
        # The server runs as another user. Other users cannot list the folder, so only the server learns the name.
        own.chmod(0o711)
        pipe = own / secrets.token_hex(16)
        os.mkfifo(pipe)
        pipe.chmod(0o644)
        yield pipe
    finally:
        _remove(own)
        os.close(lock)


def remove_stale(folder: Path) -> None:
    """Remove pipes whose owners are gone. Raises OSError if the folder cannot be read."""
    for own in folder.iterdir():
        if not own.name.startswith(PREFIX):
            continue
        with suppress(OSError):  # Another user's, or just removed.
            lock = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # An empty folder stays: its owner may have just made it, and not locked it yet.
                if any(own.iterdir()):
                    _remove(own)
            finally:
                os.close(lock)


def _remove(own: Path) -> None:
    """Remove the folder. A server that waits for a writer of its pipe gets an end of data."""
    with suppress(OSError):
        for pipe in own.iterdir():
            with suppress(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    shutil.rmtree(own, ignore_errors=True)


class PipeWriter:
    """Writes pieces into a pipe in a thread, until all are written, the reader is gone, or stop() is called.

    `error`: the exception that the pieces raised. `done`: all pieces have been written.
    """

    def __init__(self, pipe: Path, pieces: Iterable[bytes]) -> None:
        self._pipe, self._pieces = pipe, pieces
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pipe", daemon=True)
        self.error: BaseException | None = None
        self.done = False
        self._thread.start()

    def stop(self) -> None:
        """Stop writing and join the thread; to be called when the server's statement has ended."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        fd = self._open()
        if fd is None:
            return
        try:
            with suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            for piece in self._pieces:
                if not self._write(fd, piece):
                    return
            self.done = True
        except BrokenPipeError:
            pass  # The statement has ended; its own error tells the reason.
        except BaseException as error:
            self.error = error
        finally:
            os.close(fd)

    def _open(self) -> int | None:
        """Open the pipe once the server has it open, because bytes written and closed before would be lost."""
        while not self._stopped.wait(OPEN_POLL):
            try:
                return os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                continue
        return None

    def _write(self, fd: int, piece: bytes) -> bool:
        """Write the piece; False if stop() was called before the end, since the server may have stopped reading."""
        rest = memoryview(piece)
        poller = select.poll()
        poller.register(fd, select.POLLOUT)
        while rest:
            try:
                rest = rest[os.write(fd, rest) :]
            except BlockingIOError:
                while not poller.poll(WRITE_POLL * 1000):
                    if self._stopped.is_set():
                        return False
        return True
