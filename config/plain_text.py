"""Text for logs and terminals: what others wrote begins no line of a log and controls no terminal."""

import logging
import os
import re
from types import TracebackType
from typing import Any, TextIO

# Control characters, and those that turn the direction of a text round.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_IN_A_LINE = re.compile(rf"[\t\n{_CONTROL}]")
# Django's colours are left alone.
_ON_A_TERMINAL = re.compile(rf"(\x1b\[[0-9;]*m)|[{_CONTROL}]")


def one_line(text: str) -> str:
    """The text in one line: each control character as an escape."""
    return _IN_A_LINE.sub(_escaped, text)


def for_terminal(text: str) -> str:
    """The text with its lines, tabs and colours; each other control character as an escape."""
    return _ON_A_TERMINAL.sub(lambda found: found[1] or _escaped(found), text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class LineFormatter(logging.Formatter):
    """A record begins one line; the lines of a traceback below it are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return one_line(super().formatMessage(record))

    def formatException(
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return "\n".join(f"    {one_line(line)}" for line in super().formatException(ei).split("\n"))


class TerminalText:
    """A stream to a terminal that shows control characters instead of sending them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(for_terminal(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def undecoded(text: str) -> str:
    """A word of the command line that is not in UTF-8, with these bytes as escapes; "" for any other."""
    shown = os.fsencode(text).decode(errors="backslashreplace")
    return "" if shown == text else shown
