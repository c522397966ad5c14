"""Text whose records end in marks of its own, such as `^^^` and a line feed, or begin with one.

LOAD DATA reads such files with LINES TERMINATED BY and STARTING BY, and here they are read as it does (Manual, LOAD
DATA, "Field and Line Handling"): of a line, all before its start is left out. The working copy has a record a line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Decision, Standing, answer
from importer.engine.source.dialect import COPY, LINE_ENDS, OWN_MARKS, Dialect, escape_mark, unescape_mark
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import LINE_END, TAB, Row, RowRefused, invalid_utf8, pieces_of
from importer.engine.source.formats.format import Format, Layout, Wanted
from importer.engine.source.formats.header_names import header_decision
from importer.engine.source.records.copy_escapes import ESCAPED, escaped, unescaped
from importer.engine.source.records.refused import NO_START

LONGEST_MARK = 16  # characters
RECORDS_LOOKED_AT = 1000
LONGEST_RECORD = 64 * 1024 * 1024  # bytes
# Bytes after a quote at the begin of a value in which it closes; otherwise it is a character.
LONGEST_QUOTED = 1024 * 1024
_DELIMITERS = (",", ";", "\t", "|")
_ESCAPED_BYTES = re.compile(rb"\\(.)|[\t\n\r\0]", re.DOTALL)
# What a backslash and a letter stand for, where it is not what they stand for in the copy.
_LETTERS = {b"b": b"\b", b"Z": b"\x1a"}


def line_end_of(text: str) -> str:
    r"""The line end for a name (lf, crlf, cr, any) or for its text, in which `\n` and `\x01` stand for characters.

    Raises SourceProblem for a text that can be none.
    """
    return LINE_ENDS[text] if text in LINE_ENDS else _mark_of(text, "line end")


def line_start_of(text: str) -> str:
    """The mark before a record for its text, as of a line end; "" for none. Raises SourceProblem."""
    return _mark_of(text, "line start") if text else ""


def _mark_of(text: str, name: str) -> str:
    mark = unescape_mark(text)
    if not 0 < len(mark) <= LONGEST_MARK or "\0" in mark:
        names = f"{', '.join(LINE_ENDS)}, or " if name == "line end" else ""
        raise SourceProblem(
            f"The {name} {text!r} is not supported.", advice=f"It can be {names}1 to {LONGEST_MARK} characters."
        )
    return mark


def has_own_line_ends(known: Mapping[str, Any]) -> bool:
    """Whether stated fields of a dialect have marks that this format has and CSV does not."""
    return bool(known.get("line_start")) or known.get("line_end", "\n") not in LINE_ENDS.values()


@dataclass(frozen=True)
class _Marks:
    """The marks of the file itself; those of its working copy are others."""

    line_end: str
    line_start: str = ""
    delimiter: str = ","
    quote: str = ""
    escape: str = ""


class _Record(NamedTuple):
    """A record: its values as they stand in the copy, line and byte, and the bytes of the file read so far."""

    values: list[bytes]
    line: int
    offset: int
    used: int
    refused: RowRefused | None = None


class _Reader:
    """Splits text into records and values."""

    def __init__(self, marks: _Marks) -> None:
        self._end, self._start = marks.line_end.encode(), marks.line_start.encode()
        self._delimiter, self._quote = marks.delimiter.encode(), marks.quote.encode()
        self._escapes = bool(marks.escape)
        self._simple = not (self._quote or self._escapes)
        self._splits_at_once = self._simple and not any(each in self._delimiter for each in ESCAPED)
        end, delimiter, quote = map(re.escape, (self._end, self._delimiter, self._quote))
        ends = b"(%b|%b|\\Z)" % (delimiter, end)
        any_one = rb"(?:\\.|(?!%b|%b).)*" if self._escapes else b"(?:(?!%b|%b).)*"
        self._plain = re.compile(b"(%b)%b" % (any_one % (delimiter, end), ends), re.DOTALL)
        inside = rb"[^%b\\]*(?:(?:%b%b|\\.)[^%b\\]*)*" if self._escapes else b"[^%b]*(?:%b%b[^%b]*)*"
        quoted = b"%b(%b)%b%b" % (quote, inside % (quote, quote, quote, quote), quote, ends) if quote else b"(?!)"
        self._quoted = re.compile(quoted, re.DOTALL)

    def records(self, contents: Contents) -> Iterator[_Record]:
        """The records of a file. Raises SourceProblem for one that is too long."""
        rest, line, offset, used = b"", 1, 0, 0
        for piece in contents.text():
            used, data = piece.used, rest + piece.data
            low = 0
            for high, values in self._whole_records(data):
                yield self._record(data[low:high], values, line, offset + low, used)
                line, low = line + data.count(b"\n", low, high), high
            rest, offset = data[low:], offset + low
            if len(rest) > LONGEST_RECORD:
                mark = escape_mark(self._end.decode())
                raise SourceProblem(
                    f"A record has more than {LONGEST_RECORD:,} bytes without the line end {mark!r}.",
                    f"line {line:,}",
                    "Check the line end (--line-end).",
                )
        if rest.strip(b"\r\n"):
            values = self._split(rest) if self._simple else self._values(rest, whole=True)[1]
            yield self._record(rest, values, line, offset, used)

    def _whole_records(self, data: bytes) -> Iterator[tuple[int, list[bytes]]]:
        """The end of each record in data that has its line end there, and its values."""
        low = 0
        if self._simple:
            while (at := data.find(self._end, low)) >= 0:
                values, low = self._split(data[low:at]), at + len(self._end)
                yield low, values
            return
        while low < len(data):
            high, values = self._values(data, low)
            if not high:
                return
            low = high
            yield low, values

    def _split(self, record: bytes) -> list[bytes]:
        if self._start:
            record = record.partition(self._start)[2]
        if self._splits_at_once:
            return escaped(record).split(self._delimiter)
        return [escaped(value) for value in record.split(self._delimiter)]

    def _values(self, data: bytes, low: int = 0, *, whole: bool = False) -> tuple[int, list[bytes]]:
        """Where the record from `low` ends, 0 if its line end is not in data, and its values. `whole`: that is all."""
        values: list[bytes] = []
        if self._start and (at := data.find(self._start, low)) >= 0:
            low = at + len(self._start)
        while True:
            quoted = self._quote and data.startswith(self._quote, low)
            found = self._quoted.match(data, low) if quoted else None
            if quoted and not found and not whole and len(data) - low < LONGEST_QUOTED:
                return 0, values  # The closing quote may be among the next bytes.
            found = found or self._plain.match(data, low)
            assert found  # The pattern of a plain value matches any bytes.
            values.append(self._copied(found[1], quoted=found.re is self._quoted))
            low = found.end()
            if found[2] != self._delimiter:
                return low if found[2] else 0, values

    def _copied(self, value: bytes, *, quoted: bool) -> bytes:
        if quoted:
            value = value.replace(self._quote * 2, self._quote)
        if not self._escapes:
            return escaped(value)
        return value if value == rb"\N" and not quoted else _ESCAPED_BYTES.sub(_copied_escape, value)

    def _record(self, raw: bytes, values: list[bytes], line: int, offset: int, used: int) -> _Record:
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            return _Record(values, line, offset, used, invalid_utf8(raw, error, line))
        if self._start and self._start not in raw:
            mark = escape_mark(self._start.decode())
            problem = RecordUnreadable(f"The record does not have the line start {mark!r}.", f"line {line:,}")
            return _Record(values, line, offset, used, RowRefused(NO_START, problem, raw))
        return _Record(values, line, offset, used)


def _copied_escape(found: re.Match[bytes]) -> bytes:
    if not (letter := found[1]):
        return escaped(found[0])
    if letter in (b"t", b"n", b"r", b"0", b"\\"):
        return found[0]
    return _LETTERS.get(letter) or escaped(letter)


def _layout(contents: Contents, wanted: Wanted) -> Layout:
    stated = wanted.stated
    marks = _Marks(stated.get("line_end", "\n"), stated.get("line_start", ""))
    # Records without their line end cannot have it as a delimiter, so that each is one value.
    texts = [unescaped(values[0]) for values in _first(contents, replace(marks, delimiter=marks.line_end))]
    if not texts:
        raise SourceProblem("The file has no record.", advice="Check the line end (--line-end).")
    decisions = []
    for name, decide in (("delimiter", _delimiter), ("quote", _quote), ("escape", _escape)):
        decision, mark = _stated(name, stated[name]) if name in stated else decide(texts, marks)
        marks = replace(marks, **{name: mark})
        decisions.append(decision)
    names = [unescaped(value).decode(errors="replace") for value in _first(contents, marks)[0]]
    header, decision = header_decision(" | ".join(names), names, stated, wanted.columns)
    names = names if header else [f"column_{at}" for at in range(1, len(names) + 1)]
    own = {name: getattr(marks, name) for name in OWN_MARKS}
    of_copy = {name: getattr(COPY, name) for name in own}
    chosen = {**of_copy, "own_marks": json.dumps(own), "line_start": marks.line_start, "header": header}
    return Layout(tuple(names), chosen, (*decisions, decision))


def _first(contents: Contents, marks: _Marks) -> list[list[bytes]]:
    return [each.values for each in islice(_Reader(marks).records(contents), RECORDS_LOOKED_AT)]


def _stated(name: str, mark: str) -> tuple[Decision, str]:
    if name == "escape" and mark not in ("", "\\"):
        raise SourceProblem(
            f"The escape {mark!r} is not supported with a line end of its own.",
            advice="It can be a backslash, or none.",
        )
    return Decision(name, escape_mark(mark) or "none", Standing.STATED, ""), mark


def _delimiter(texts: list[bytes], _marks: _Marks) -> tuple[Decision, str]:
    """The one that divides each record into most fields, and as many. It is a question."""
    counts = {each: {text.count(each.encode()) for text in texts} for each in _DELIMITERS}
    even = {each: min(found) for each, found in counts.items() if len(found) == 1 and min(found)}
    best = max(even, key=lambda each: even[each], default=_DELIMITERS[0])
    ranked = [best, *(each for each in _DELIMITERS if each != best)]
    answers = tuple(answer(f"the delimiter is {escape_mark(each)}", delimiter=each) for each in ranked)
    evidence = "The fields of a record are separated by a mark that nobody has stated."
    return Decision("delimiter", escape_mark(best), Standing.GUESSED, evidence, answers=answers), best


def _quote(texts: list[bytes], marks: _Marks) -> tuple[Decision, str]:
    """None, unless values are in quotes: then it is a question."""
    values = (value for text in texts for value in text.split(marks.delimiter.encode()))
    shows = next((value for value in values if re.fullmatch(b'".*"', value, re.DOTALL)), None)
    if shows is None:
        return Decision("quote", "none", Standing.PROVED, "No value is in quotes."), ""
    text = shows.decode(errors="replace")
    answers = (
        answer("quotes are around values", [text[1:-1]], quote='"'),
        answer("quotes are characters", [text], quote=""),
    )
    evidence = "Values begin and end with a quote."
    return Decision("quote", '"', Standing.GUESSED, evidence, answers=answers), '"'


def _escape(texts: list[bytes], _marks: _Marks) -> tuple[Decision, str]:
    """None, unless there are backslashes: then it is a question."""
    shows = next((text.decode(errors="replace") for text in texts if b"\\" in text), None)
    if shows is None:
        return Decision("escape", "none", Standing.PROVED, "No record has a backslash."), ""
    answers = (
        answer("a backslash escapes, as the servers write it", [shows], escape="\\"),
        answer("a backslash is a character", [shows], escape=""),
    )
    return Decision("escape", "\\", Standing.GUESSED, "Records have backslashes.", answers=answers), "\\"


def _convert(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    records = _Reader(_Marks(line_start=dialect.line_start, **dialect.own)).records(contents)
    rows = (
        Row(each.refused or TAB.join(each.values) + LINE_END, each.line, each.offset, each.used)
        for each in islice(records, int(dialect.header), None)
    )
    return pieces_of(rows, len(dialect.fields), tolerate=contents.tolerate)


OWN_LINE_ENDS = Format(
    "own-line-ends",
    "text with line ends of its own",
    (),
    lambda _head: False,
    _layout,
    _convert,
    ("encoding", "line_end", "line_start", "delimiter", "quote", "escape", "header"),
)
