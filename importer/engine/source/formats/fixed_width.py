"""Files of fixed width: each field has its place in the line, counted in characters."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import Row, RowRefused, invalid_utf8, pieces_of, record
from importer.engine.source.formats.format import Format, Layout, Wanted
from importer.engine.source.formats.header_names import header_decision

LINES_LOOKED_AT = 1000
LONGEST_LINE = 1024 * 1024
_WIDTHS = re.compile(r"[1-9][0-9]{0,5}(?:[,;\s]+[1-9][0-9]{0,5})*")


class Line(NamedTuple):
    """A line without its end: its text, number and byte, and the bytes of the file read so far.

    `refused`: its bytes are not UTF-8; the text has them as escapes.
    """

    text: str
    number: int
    offset: int
    used: int
    refused: RowRefused | None = None


def widths_of(text: str) -> list[int]:
    """The widths that a text such as `5,20,8` states, in characters. Raises SourceProblem if it states none."""
    if not _WIDTHS.fullmatch(text.strip()):
        raise SourceProblem(f"{text!r} are no widths.", advice="Write the number of characters of each field: 5,20,8.")
    return [int(each) for each in re.split(r"[,;\s]+", text.strip())]


def widths_text(text: str) -> str:
    """Widths as they are stored. Raises SourceProblem if the text states none."""
    return ",".join(map(str, widths_of(text))) if text.strip() else ""


def _lines(contents: Contents) -> Iterator[Line]:
    rest, number, offset, used = b"", 1, 0, 0
    for piece in contents.text():
        used = piece.used
        *lines, rest = (rest + piece.data).split(b"\n")
        for raw in lines:
            yield _line(raw, number, offset, used)
            number, offset = number + 1, offset + len(raw) + 1
        if len(rest) > LONGEST_LINE:
            raise SourceProblem(
                f"A line has more than {LONGEST_LINE:,} bytes.", f"line {number:,}", "Check that the file has lines."
            )
    if rest:
        yield _line(rest, number, offset, used)


def _line(raw: bytes, number: int, offset: int, used: int) -> Line:
    raw = raw.removesuffix(b"\r")
    try:
        return Line(raw.decode(), number, offset, used)
    except UnicodeDecodeError as error:
        return Line(raw.decode(errors="backslashreplace"), number, offset, used, invalid_utf8(raw, error, number))


def _cut(text: str, bounds: Sequence[tuple[int, int]]) -> list[str]:
    """The values of a line without blanks at their ends; what follows the last field is one more if it is not blank."""
    values = [text[begin:end].strip() for begin, end in bounds]
    beyond = text[bounds[-1][1] :].strip()
    return [*values, beyond] if beyond else values


def _bounds(widths: Sequence[int]) -> list[tuple[int, int]]:
    ends = list(accumulate(widths))
    return list(zip([0, *ends], ends, strict=False))


def _layout(contents: Contents, wanted: Wanted) -> Layout:
    stated = wanted.stated
    skip = int(stated.get("skip_rows", 0))
    first = [line.text for line in islice(_lines(contents), skip, skip + LINES_LOOKED_AT) if line.text.strip()]
    if not first:
        raise SourceProblem("The file has no line with text.", advice="Check how it was written.")
    decisions = []
    text = stated.get("widths", "")
    if text:
        widths = widths_of(text)
        decisions.append(Decision("widths", text, Standing.STATED, f"The fields have {text} characters."))
    else:
        widths = proposed_widths(first)
        text = ",".join(map(str, widths))
        shown = tuple(" | ".join(_cut(line, _bounds(widths))) for line in first[:3])
        answer = Answer(f"{text} characters", f"--widths {text}", (("widths", text),), shown)
        evidence = "Where fields begin is read from the columns of blanks in the first lines."
        if len(widths) == 1:
            evidence = "No column is blank in all of the first lines: if fields touch, give the characters of each."
        decisions.append(Decision("widths", text, Standing.GUESSED, evidence, answers=(answer,)))
    names = _cut(first[0], _bounds(widths))
    header, decision = header_decision(first[0], names, stated, wanted.columns)
    names = names if header else [f"column_{at}" for at in range(1, len(widths) + 1)]
    decisions.append(decision)
    return Layout(tuple(names), {"widths": text, "header": header, "skip_rows": skip}, tuple(decisions))


def proposed_widths(lines: Sequence[str]) -> list[int]:
    """The widths by the columns of characters that are blank in all lines: a field ends where the next one begins."""
    longest = max(map(len, lines))
    blank = [all(at >= len(line) or line[at].isspace() for line in lines) for at in range(longest)]
    begins = [at for at in range(longest) if not blank[at] and (at == 0 or blank[at - 1])]
    begins = [0, *begins[1:]] if begins else [0]
    return [end - begin for begin, end in zip(begins, [*begins[1:], longest], strict=True)]


def _convert(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    return pieces_of(_rows(contents, dialect), len(dialect.fields), tolerate=contents.tolerate)


def _rows(contents: Contents, dialect: Dialect) -> Iterator[Row]:
    bounds = _bounds(widths_of(dialect.widths))
    lines = (line for line in islice(_lines(contents), dialect.skip_rows, None) if line.text.strip())
    for line in islice(lines, int(dialect.header), None):
        content = line.refused or record(value.encode() for value in _cut(line.text, bounds))
        yield Row(content, line.number, line.offset, line.used)


FIXED_WIDTH = Format(
    "fixed",
    "fixed width",
    (".fwf", ".prn"),
    lambda _head: False,
    _layout,
    _convert,
    ("encoding", "widths", "header", "skip_rows"),
    "A file of fixed width has neither NULL nor empty texts, only blanks: they are read as empty texts.",
)
