"""Reads the end of a file whose import has begun before the end was there, and asks about it."""

from collections.abc import Mapping
from typing import Any

from importer.engine.errors import Problem
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.layout.lines_among import footer_decision, last_lines
from importer.engine.source.profile.sample import TAIL_BYTES, last_bytes


class EndNeedsAnswer(Problem):
    """The last lines of the file may be a footer or rows. Neither they nor the rows just before them were loaded."""

    code = 1401

    def __init__(self, where: str, lines: int, shown: str, *, expected: bool = False) -> None:
        """`shown`: the lines. `expected`: they do not look like a footer, but files of this format have one."""
        self.lines = lines
        reason = ", as files of this format have one" if expected else ""
        super().__init__(
            f"The file ends with {lines} line{'s' if lines > 1 else ''} that may be a footer{reason}: {shown}."
            " The import had begun before the end of the file was there.",
            where,
            "Retry it, and say whether they are a footer, which is left out, or rows.",
        )

    def as_json(self) -> dict[str, Any]:
        """The problem, with the number of lines that a retry may leave out."""
        return {**super().as_json(), "footer_lines": self.lines}


def footer_lines(problem: Mapping[str, Any]) -> int:
    """The number of lines that a stored problem asks about; 0 if it is another problem."""
    return int(problem.get("footer_lines", 0)) if problem.get("kind") == EndNeedsAnswer.__name__ else 0


def check_end(fd: Readable, size: int, dialect: Dialect, where: str) -> None:
    """Raise EndNeedsAnswer if the file does not end with the footer of the dialect, which is that of another file.

    `size`: that of the plain file in bytes. `dialect`: that of the plain file, with its number of fields.
    """
    tail = last_bytes(fd, size)
    lines, _ = footer_decision(tail, dialect, dialect.width)
    if lines != dialect.skip_footer:
        asked = lines or dialect.skip_footer
        raise EndNeedsAnswer(where, asked, last_lines(tail, dialect, asked), expected=not lines)


def unread_bytes(size: int) -> int:
    """How many bytes at the end of a file are not scanned before its end was read: no footer begins before them."""
    return min(size, TAIL_BYTES)
