"""The rows of a JSON text: a JSON array of objects, objects one after another, or JSON Lines."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import UTF8, invalid_at
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import CopyRecords, RowRefused
from importer.engine.source.formats.format import Layout, Wanted
from importer.engine.source.formats.json.values import JsonRows, Keys, not_utf8, too_deep, where
from importer.engine.source.records.blocks import MAX_RECORD_BYTES
from importer.engine.units import MIB

# Keys are looked for in so much of the file before the import is planned, some 200 MB/s.
KEYS_BYTES = 512 * MIB
_WHITE = re.compile(r"[ \t\r\n]+")


class JsonText(NamedTuple):
    """The text of one row, its first line and byte in the unpacked file, and how many of the file's bytes are read.

    `checked`: its bytes are UTF-8.
    """

    raw: bytes
    line: int
    offset: int
    used: int
    checked: bool = True

    def require_utf8(self) -> None:
        """Raise RowRefused for bytes that are not UTF-8."""
        try:
            self.checked or self.raw.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(self.raw, error, self.line) from error


def json_lines(contents: Contents) -> Iterator[JsonText]:
    """The lines of a file that are not blank."""
    rest, line, offset = b"", 1, 0
    used = 0
    for piece in contents.text():
        whole, end, after = piece.data.rpartition(b"\n")
        if not end:
            rest += piece.data
            _refuse_long(rest, line)
            continue
        block, used = rest + whole, piece.used
        checked = _is_utf8(block)
        for raw in block.split(b"\n"):
            if raw and not raw.isspace():
                yield JsonText(raw, line, offset, used, checked)
            line, offset = line + 1, offset + len(raw) + 1
        rest = after
    if rest.strip():
        yield JsonText(rest, line, offset, used, _is_utf8(rest))


def _is_utf8(block: bytes) -> bool:
    return block.isascii() or invalid_at(block, UTF8, final=True) < 0


def _refuse_long(data: bytes, line: int) -> None:
    if len(data) > MAX_RECORD_BYTES:
        raise SourceProblem(
            f"A row does not end within {MAX_RECORD_BYTES:,} bytes.", where(line), "Check that this is a file of rows."
        )


class _Elements:
    """Reads JSON values one after another from a text, with commas between them or without."""

    def __init__(self, contents: Contents) -> None:
        self._pieces = contents.text()
        self._decode = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
        self._data = b""
        self._text = ""
        self._at = self._offset = self._used = 0
        self._line = 1
        self._ended = False

    def each(self) -> Iterator[JsonText]:
        """The values in the array that the text begins with, or all of them if it does not begin with one."""
        in_array = self._next() == "["
        if in_array:
            self._take(self._at + 1)
        while (begins := self._next()) and not (in_array and begins == "]"):
            if begins == ",":
                self._take(self._at + 1)
                continue
            yield self._value()
        if in_array and not begins:
            raise SourceProblem(
                "The file ends in the middle of its array.", where(self._line), "Write or copy the file again."
            )
        if in_array:
            self._take(self._at + 1)
            if self._next():
                raise SourceProblem(
                    "Something follows the array.", where(self._line), "Divide the file: one array of rows for each."
                )

    def _next(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            found = _WHITE.match(self._text, self._at)
            self._take(found.end() if found else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def _value(self) -> JsonText:
        while True:
            try:
                _, end = self._decode(self._text, self._at)
                # A number may continue in the next piece.
                if end < len(self._text) or not self._read():
                    break
            except RecursionError as error:
                raise too_deep(self._line).problem from error
            except ValueError as error:
                _refuse_long(self._text[self._at :].encode(errors="replace"), self._line)
                if not self._read():
                    end = len(self._text)
                    raise self._no_json(error) from error
        raw = self._text[self._at : end].encode()
        value = JsonText(raw, self._line, self._offset, self._used)
        self._take(end)
        return value

    def _no_json(self, error: ValueError) -> SourceProblem:
        position = getattr(error, "pos", self._at)
        line = self._line + self._text.count("\n", self._at, position)
        cut = position >= len(self._text.rstrip()) or "Unterminated" in str(error)
        what = "The file ends in the middle of a row" if cut else f"This is no JSON: {getattr(error, 'msg', error)}"
        shown = self._text[max(self._at, position - 20) : position + 20]
        return SourceProblem(f"{what}: {shown}", where(line), "Correct it, or write or copy the file again.")

    def _take(self, end: int) -> None:
        taken = self._text[self._at : end]
        self._line += taken.count("\n")
        self._offset += len(taken) if taken.isascii() else len(taken.encode())
        self._at = end

    def _read(self) -> bool:
        """Add as much as the text still has, or a piece. False at the end."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        wanted, read = max(1, len(rest)), 0
        parts = []
        for piece in self._pieces:
            parts.append(piece.data)
            self._used, read = piece.used, read + len(piece.data)
            if read >= wanted:
                break
        else:
            self._ended = True
        data = self._data + b"".join(parts)
        text, self._data = self._decoded(data)
        self._text, self._at = rest + text, 0
        return bool(parts)

    def _decoded(self, data: bytes) -> tuple[str, bytes]:
        """The whole characters of the data, and the bytes of one that continues in the next piece."""
        try:
            return data.decode(), b""
        except UnicodeDecodeError as error:
            if error.end == len(data) and "unexpected end" in error.reason and not self._ended:
                return data[: error.start].decode(), data[error.start :]
            line = self._line + self._text.count("\n", self._at) + data.count(b"\n", 0, error.start)
            begin = data.rfind(b"\n", 0, error.start) + 1
            raw = data[begin:].partition(b"\n")[0]
            error.start -= begin
            raise not_utf8(raw, error, line).problem from error


def json_elements(contents: Contents) -> Iterator[JsonText]:
    """The values of a JSON array, or of a text of several values. Raises SourceProblem where it is no JSON."""
    return _Elements(contents).each()


def _layout(texts: Iterator[JsonText]) -> Layout:
    keys, last = Keys(), 0
    whole = True
    first: RowRefused | None = None
    for text in texts:
        try:
            text.require_utf8()
            keys.add(text.raw, text.line)
        except RowRefused as refused:
            first = first or refused
        last = text.offset
        if last > KEYS_BYTES:
            whole = False
            break
    names = keys.names
    if first and not names:
        raise first.problem
    read = "in the whole file" if whole else f"in the first {last:,} bytes"
    evidence = f"{len(names):,} keys {read} are the fields. A row without one of the keys has NULL there, as for null."
    decision = Decision("fields", ", ".join(names[:20]), Standing.PROVED, evidence)
    return Layout(names, decisions=(decision,), refused=first.problem if first else None)


def _convert(texts: Iterator[JsonText], dialect: Dialect, *, tolerate: bool) -> Iterator[Piece]:
    rows, out = JsonRows(dialect.fields), CopyRecords(len(dialect.fields), tolerate=tolerate)
    used = 0
    for text in texts:
        used = text.used
        try:
            text.require_utf8()
            full = out.add(rows.record(text.raw, text.line), text.line, text.offset)
        except RowRefused as refused:
            full = out.refuse(refused, text.line, text.offset)
        if full:
            yield out.piece(used)
    yield from out.rest(used)


def layout_of_lines(contents: Contents, _wanted: Wanted) -> Layout:
    """The layout of JSON Lines."""
    return _layout(json_lines(contents))


def layout_of_elements(contents: Contents, _wanted: Wanted) -> Layout:
    """The layout of a JSON array, or of objects one after another."""
    return _layout(json_elements(contents))


def convert_lines(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    """The records of JSON Lines."""
    return _convert(json_lines(contents), dialect, tolerate=contents.tolerate)


def convert_elements(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    """The records of a JSON array, or of objects one after another."""
    return _convert(json_elements(contents), dialect, tolerate=contents.tolerate)
