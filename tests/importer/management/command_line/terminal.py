"""A terminal that runs `millrace`, as a person has one."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from select import select

from importer.worker.shutdown import ENDS
from tests.stack import ROOT, wait_until

CTRL_C = b"\x03"
LINES, COLUMNS = 24, 200
COMMAND = (sys.executable, "-m", "importer.management.command_line")


class Terminal:
    """Runs one command on a terminal of its own, which its output and its errors go to."""

    def __init__(self, env: dict[str, str], term: str, *words: str) -> None:
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=ROOT,
            env=env | {"TERM": term},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 -- no thread of the tests holds a lock that the child takes
        )
        os.close(theirs)
        self._read = bytearray()
        self._open = True
        self._reader = threading.Thread(target=self._read_all, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """Everything that was written until now."""
        return self._read.decode(errors="replace")

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self._own, key)

    def until(self, text: str) -> None:
        """Wait until the text has been written."""
        wait_until(lambda: text in self.text or self.process.poll() is not None, what=text)
        assert text in self.text, self.text

    def end(self) -> int:
        """Wait for the command's end; its exit code."""
        code = self.process.wait(60)
        self._reader.join(10)
        return code

    def hang_up(self) -> None:
        """Close the terminal's window while its command runs."""
        self._open = False
        self._reader.join(10)
        os.close(self._own)

    def close(self) -> None:
        """End what is left of it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self._open:
            self.hang_up()

    def _read_all(self) -> None:
        while self._open or select([self._own], [], [], 0)[0]:
            # Nobody may read a terminal that is to be closed.
            if not select([self._own], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(self._own, 2**16)
            except OSError:  # The last program on the other side has ended (EIO).
                return
            if not piece:
                return
            self._read += piece


def _take_terminal() -> None:
    """Make standard input the process's terminal, so that its keys send signals; these are those of a terminal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for each in ENDS:
        signal.signal(each, signal.SIG_DFL)


@contextmanager
def terminal(env: dict[str, str], *words: str, term: str = "xterm") -> Iterator[Terminal]:
    """A terminal of this kind that runs `millrace` with the words."""
    opened = Terminal(env, term, *words)
    try:
        yield opened
    finally:
        opened.close()
