"""The tokens of an SQL dump, read one after another from a stream: names, literals, comments, whole statements."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import Piece
from importer.engine.source.formats.sql.session import SET, SessionVariable
from importer.engine.source.records.blocks import MAX_RECORD_BYTES

_IN_COMMENT = rb"(?:[^*]++|\*(?!/)|(?!))*+"
# What stands between tokens. A comment that MySQL executes (/*!40101 ... */) is a statement, or a part of one.
_GAP = re.compile(rb"(?:\s++|--(?=\s)[^\n]*+(?:\n|\Z)|#[^\n]*+(?:\n|\Z)|/\*(?!!)" + _IN_COMMENT + rb"\*/|(?!))*+")
_BEGINS_GAP = frozenset(b" \t\r\n\f\v-#/")
# The begin of a comment of any kind that the data ends within, or the end of the data.
_CUT_COMMENT = re.compile(rb"(?:--?|/(?:\*" + _IN_COMMENT + rb")?)?\Z")
_EXECUTED_COMMENT = re.compile(rb"/\*!" + _IN_COMMENT + rb"\*/")


@dataclass(frozen=True)
class Strings:
    """The patterns of texts in single and in double quotes. `backslashes`: they escape the next character.

    They do unless the dump sets the SQL mode NO_BACKSLASH_ESCAPES (Manual, "Server SQL Modes").
    """

    single: bytes
    double: bytes
    backslashes: bool


ESCAPING = Strings(rb"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'", rb'"[^"\\]*+(?:(?:\\.|"")[^"\\]*+)*+"', backslashes=True)
LITERAL = Strings(rb"'[^']*+(?:''[^']*+)*+'", rb'"[^"]*+(?:""[^"]*+)*+"', backslashes=False)
NAME = rb"`(?:[^`]|``)++`|\"(?:[^\"]|\"\")++\"|[\w$\x80-\xff]++"
# Python keeps a kilobyte for each repetition of a group until the match ends.
PARTS_AT_ONCE = 1000


@cache
def _parts(strings: Strings) -> re.Pattern[bytes]:
    """The parts of a statement up to its end, as far as they are whole."""
    return re.compile(
        rb"(?:[^;'\"`#/-]++|" + strings.single + rb"|" + strings.double + rb"|`[^`]*+`|--(?=\s)[^\n]*+\n"
        rb"|-(?!-(?:\s|\Z))(?=.)|#[^\n]*+\n|/\*" + _IN_COMMENT + rb"\*/|/(?!\*)(?=.)|(?!)){0,%d}+" % PARTS_AT_ONCE,
        re.DOTALL,
    )


# Bytes within which a token that is no text ends.
SHORT = 512
_DELIMITER = re.compile(rb"DELIMITER[ \t]+(\S+)[ \t\r]*\n", re.IGNORECASE)


class SqlText:
    """A dump that is read from its start. `line` and `offset` are those of the next token, `strings` its texts'.

    `zone`: the time zone of the session, as the dump sets it.
    """

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self.strings, self._mode, self.zone = ESCAPING, SessionVariable(b"SQL_MODE"), SessionVariable(b"TIME_ZONE")
        self._pieces = pieces
        self._data, self._at = b"", 0
        self._ended = False
        self.line, self.offset, self.used = 1, 0, 0

    def more(self) -> bool:
        """Read on: a piece, or as much as there already is. False at the end. Raises SourceProblem if that is too
        much."""
        rest = self._data[self._at :]
        if self._ended:
            return False
        if len(rest) > MAX_RECORD_BYTES:
            raise self.problem(f"Nothing ends within {MAX_RECORD_BYTES:,} bytes.", "Check that this is a dump.")
        parts, size = [rest], 0
        for piece in self._pieces:
            parts.append(piece.data)
            size += len(piece.data)
            self.used = piece.used
            if size >= len(rest):
                break
        else:
            self._ended = True
        self._data, self._at = b"".join(parts), 0
        return bool(size)

    def match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The pattern at the next token, if it is there; nothing is taken. Reads on where it ends with the data."""
        while True:
            found = pattern.match(self._data, self._at)
            if found and (found.end() < len(self._data) or self._ended):
                return found
            if not found and not self._may_continue():
                return None
            if not self.more():
                return pattern.match(self._data, self._at)

    def peek(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The pattern at the next token if it is there, for patterns that are no longer than SHORT bytes."""
        if len(self._data) - self._at < SHORT:
            self.more()
        return pattern.match(self._data, self._at)

    def _may_continue(self) -> bool:
        """Whether the next token may be one that the data ends within: there is little of it, or a text begins."""
        begin = self._data[self._at : self._at + SHORT]
        return len(begin) < SHORT or any(quote in begin for quote in (b"'", b'"', b"`"))

    def match_now(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The pattern at the next token within the data that is there, which its end does not touch."""
        found = pattern.match(self._data, self._at)
        return found if found and found.end() < len(self._data) else None

    def take(self, found: re.Match[bytes]) -> None:
        """Skip a match."""
        end = found.end()
        self.line += self._data.count(b"\n", self._at, end)
        self.offset += end - self._at
        self._at = end

    def take_gap(self) -> bytes:
        """Skip white space and comments, and return them. A comment that follows is in the data with its end."""
        if self._at < len(self._data) and self._data[self._at] not in _BEGINS_GAP:
            return b""
        while True:
            found = _GAP.match(self._data, self._at)
            assert found
            if self._ended or not _CUT_COMMENT.match(self._data, found.end()):
                self.take(found)
                return found[0]
            self.more()

    def skip_executed_comment(self) -> bool:
        """Skip a comment that MySQL executes, and nothing behind it. False if it does not end.

        An older server than the one that it names, and any server for /*!999999 ... */, ignores it. So it ends no
        statement, and without a semicolon the next one follows.
        """
        found = self.match(_EXECUTED_COMMENT)
        if found:
            self.take(found)
        return found is not None

    def take_byte(self) -> None:
        """Skip a byte that is no line end."""
        self.offset, self._at = self.offset + 1, self._at + 1

    def next(self) -> bytes:
        """The next byte; b"" at the end."""
        if self._at >= len(self._data):
            self.more()
        return self._data[self._at : self._at + 1]

    def end_insert(self) -> None:
        """Skip the rest of an INSERT. Raises SourceProblem without its semicolon: rows may be missing behind it."""
        if not self.skip_statement():
            raise self.problem(
                "The file ends without the semicolon of its last INSERT: it may have been cut between two rows.",
                "Write or copy the dump again; if all of its rows are there, add the semicolon.",
            )

    def read_settings(self) -> None:
        """Learn the SQL mode and the time zone from the statement that is the next token, if it sets them."""
        if found := self.peek(SET):
            self.zone.read(found[0])
            self._mode.read(found[0])
            self.strings = LITERAL if b"NO_BACKSLASH_ESCAPES" in self._mode.value.upper() else ESCAPING

    def skip_statement(self) -> bool:
        """Skip the rest of the statement, in bounded memory. False for the last one if it has no semicolon."""
        if found := self.peek(_DELIMITER):
            self.take(found)
            self._skip_until(re.compile(rb"DELIMITER[ \t]+;[ \t\r]*(?:\n|\Z)", re.IGNORECASE))
            return True
        while True:
            found = _parts(self.strings).match(self._data, self._at)
            assert found
            self.take(found)
            if self._data[self._at : self._at + 1] == b";":
                self.take_byte()
                return True
            if found.end() > found.start():
                continue
            if not self.more():
                if not _GAP.fullmatch(self._data, self._at):
                    raise self.problem("The file ends in the middle of a statement.", "Write or copy the dump again.")
                return False

    def _skip_until(self, pattern: re.Pattern[bytes]) -> None:
        """Skip all up to and with the first line that the pattern matches, or to the end."""
        whole = re.compile(rb"[^\n]*+(?:\n|\Z)")
        while self.next():
            if found := self.peek(pattern):
                self.take(found)
                return
            if found := self.match(whole):
                self.take(found)

    def problem(self, what: str, advice: str) -> SourceProblem:
        """A problem with the next token."""
        return SourceProblem(what, f"line {self.line:,}", advice)

    def shown(self) -> str:
        """The next few characters, for a message."""
        return self._data[self._at : self._at + 40].decode(errors="replace").split("\n")[0]


def name_of(token: bytes) -> str:
    """The name that a token of NAME stands for."""
    text = token.decode(errors="backslashreplace")
    quote = text[:1]
    return text[1:-1].replace(quote * 2, quote) if quote in ("`", '"') else text
