"""Ctrl-C while a command loads its modules, which takes a second: held until it can end in a message or a document."""

import signal
import threading
from types import FrameType


class HeldCtrlC:
    """Holds the first Ctrl-C until `release`; a second one ends the process at once.

    Where Ctrl-C is ignored, as in the background of a shell, it stays so.
    """

    def __init__(self) -> None:
        self._pressed = False
        takes = threading.current_thread() is threading.main_thread()
        self._holds = takes and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        if self._holds:
            self._before = signal.signal(signal.SIGINT, self._press)

    def release(self) -> None:
        """Hold no longer. Raises KeyboardInterrupt if it was pressed."""
        if self._holds:
            signal.signal(signal.SIGINT, self._before)
        if self._pressed:
            raise KeyboardInterrupt

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        self._pressed = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
