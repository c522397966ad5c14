"""Ctrl-C and other signals that ask a command for its end.

While a command loads its modules, which takes a second, they are held until it can end in a message or a document.
After that each of them interrupts the command as Ctrl-C does, so that it puts everything away and ends as cancelled.
"""

import signal
import threading
from types import FrameType

from importer.worker.shutdown import ENDS


class HeldCtrlC:
    """Holds the first signal of ENDS until `release`; a second one ends the process at once.

    A signal that is ignored, as Ctrl-C in the background of a shell, stays so.
    """

    def __init__(self) -> None:
        self._pressed = False
        takes = threading.current_thread() is threading.main_thread()
        self._held = [each for each in ENDS if takes and signal.getsignal(each) is not signal.SIG_IGN]
        for each in self._held:
            signal.signal(each, self._press)

    def release(self) -> None:
        """Hold no longer. Raises KeyboardInterrupt if a signal came, and from now on in the place where one comes."""
        for each in self._held:
            signal.signal(each, interrupt)
        if self._pressed:
            raise KeyboardInterrupt

    def _press(self, number: int, _frame: FrameType | None) -> None:
        self._pressed = True
        signal.signal(number, signal.SIG_DFL)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt."""
    # systemd may send SIGHUP after SIGTERM, and a shell after its terminal: that would interrupt what puts things away.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise KeyboardInterrupt
