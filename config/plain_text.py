"""Text for logs and terminals: what others wrote begins no line of a log and controls no terminal."""

import logging
import os
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable
from functools import cached_property
from types import TracebackType
from typing import Any, TextIO

# Control characters, and those that turn the direction of a text round.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_IN_A_LINE = re.compile(rf"[\t\n{_CONTROL}]")
# Django's colours and the ends of lines are left alone.
_ON_A_TERMINAL = re.compile(rf"(\x1b\[[0-9;]*m|\r\n)|[{_CONTROL}]")


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

    def flush(self) -> None:
        self.buffer.end_character()
        self._stream.flush()

    @cached_property
    def buffer(self) -> "TerminalBytes":
        return TerminalBytes(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class TerminalBytes:
    """The bytes of a file on their way to a terminal: decoded as UTF-8, with other bytes as escapes."""

    def __init__(self, text: TerminalText) -> None:
        self._text = text
        self._decoder = getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: bytes) -> int:
        self._text.write(self._decoder.decode(data))
        return len(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._text.flush()

    def end_character(self) -> None:
        """Show the bytes of a character whose other bytes do not come."""
        if rest := self._decoder.decode(b"", final=True):
            self._text.write(rest)


def undecoded(text: str) -> str:
    """A word of the command line that is not in UTF-8, with these bytes as escapes; "" for any other."""
    shown = os.fsencode(text).decode(errors="backslashreplace")
    return "" if shown == text else shown
