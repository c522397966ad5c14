"""Standard output and standard error of a program that may be closed, full, or lead to a terminal."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from config.plain_text import TerminalText

STANDARD_ERROR = 2  # its number


class OutputLost(Exception):
    """Standard output cannot be written, such as to a full disk."""


class _StandardOutput:
    """Standard output of a program: a write that fails raises OutputLost; BrokenPipeError once nobody reads it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def buffer(self) -> "_StandardOutput":
        return _StandardOutput(self._stream.buffer)

    def write(self, text: Any) -> Any:
        with _lost():
            return self._stream.write(text)

    def writelines(self, lines: Iterable[Any]) -> None:
        with _lost():
            self._stream.writelines(lines)

    def flush(self) -> None:
        with _lost():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _StandardError:
    """Standard error of a program: what cannot be written is left out, because an import matters more."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _lost() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputLost(error.strerror or str(error)) from error


def guard_streams() -> None:
    """Guard standard output and standard error against control characters and failing writes.

    A closed stream leads nowhere. Otherwise the next file that is opened, such as a database, would take its number,
    and get what is printed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = _guarded(sys.stdout or os.fdopen(1, "w"), _StandardOutput)
    sys.stderr = _guarded(sys.stderr or os.fdopen(STANDARD_ERROR, "w"), _StandardError)


def _guarded(stream: TextIO, of_scripts: Callable[[TextIO], Any]) -> Any:
    """The stream, guarded: if it leads to a terminal against control characters, while scripts get every byte."""
    guarded = of_scripts(stream)
    return TerminalText(guarded) if stream.isatty() else guarded
