"""Rows of a file in another format that cannot be read, although the rows after them can, in its working copy.

Such a row has a value for each field, NULL where there is none, and one field more, its mark: why it is refused, where
it stands, which field is at fault, and its text. Every reader counts a field too many, so that no such row is loaded
even where nobody looks for marks. No value of a copy looks like a mark (copy_escapes.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import Ends
from importer.engine.source.records.boundary.stray_quotes import MalformedRecord
from importer.engine.source.records.copy_escapes import unescaped

_BEGIN, _BETWEEN = b"\\!", b"|"
_PARTS = 4


@dataclass(frozen=True)
class Refusal:
    """Why a row is refused: a code, the reason, which is the same for all such rows, and what to do."""

    code: str
    reason: str
    advice: str


_WRITE_AGAIN = "Correct it, or write the file again: it may have been cut."
NO_JSON = Refusal("no JSON", "The row is no JSON.", _WRITE_AGAIN)
CUT_JSON = Refusal("cut JSON", "The JSON of the row ends in the middle of an object.", _WRITE_AGAIN)
NO_OBJECT = Refusal(
    "no object",
    "The row is no JSON object with values.",
    'Write each row as an object, such as {"id": 1, "name": "a"}.',
)
TOO_DEEP = Refusal(
    "too deep",
    "The row has too many arrays or objects within each other.",
    "Write its values as members of the row's object.",
)
HALF_CHARACTER = Refusal("half character", "A text has half of a character (a lone surrogate).", "Correct the value.")
KEY_TWICE = Refusal("key twice", "A key stands twice in the row.", "Rename or remove one of the two.")
UNKNOWN_KEY = Refusal(
    "unknown key",
    "The row has a key that is not among those in the first part of the file, from which the import was planned.",
    "Write a row that has all keys at the beginning of the file, with null for those without a value.",
)
NOT_UTF8 = Refusal(
    "encoding",
    "There are bytes that are not in the file's encoding.",
    "State the encoding, or write the file in UTF-8.",
)
CELL_ERROR = Refusal(
    "cell error", "The cell has an error.", "Correct the formula, or clear the cell, and save the workbook."
)
NO_RESULT = Refusal(
    "no result",
    "The cell has a formula without a saved result.",
    "Open the workbook in its program, save it, and import it again.",
)
NO_LITERAL = Refusal(
    "expression",
    "The value is a function or an expression, and nothing of a dump is executed.",
    "Write the value itself.",
)
WRONG_COUNT = Refusal("count", "The row has another number of values than its statement has columns.", "Correct it.")
NO_START = Refusal(
    "no start", "The record does not have the line start.", "Correct it, or choose another line start (--line-start)."
)
REFUSALS = {
    each.code: each
    for each in (
        *(NO_JSON, CUT_JSON, NO_OBJECT, TOO_DEEP, HALF_CHARACTER, KEY_TWICE, UNKNOWN_KEY, NOT_UTF8),
        *(CELL_ERROR, NO_RESULT, NO_LITERAL, WRONG_COUNT, NO_START),
    )
}


def mark(refusal: Refusal, line: int, field: int, text: bytes) -> bytes:
    """The mark of a row on this line of the file. `field`: the one at fault, from 1; 0: the row as a whole.

    `text`: that of the row or of the value, as a value of the copy.
    """
    return _BEGIN + _BETWEEN.join((refusal.code.encode(), str(line).encode(), str(field).encode(), text))


def is_marked(record: bytes, dialect: Dialect) -> bool:
    """Whether the last field of a record is a mark."""
    return dialect.marks_refused and dialect.delimiter_bytes + _BEGIN in record


def refused_records(data: bytes, ends: Ends, dialect: Dialect) -> Iterator[MalformedRecord]:
    """The refused rows among the records of data[:ends.size], with their lines in the file."""
    begin = dialect.delimiter_bytes + _BEGIN
    low = 0
    while low < ends.size and (at := data.find(begin, low, ends.size)) >= 0:
        low = ends.first(at)
        parts = data[at + len(begin) : low].removesuffix(b"\n").split(_BETWEEN, _PARTS - 1)
        if found := _malformed(parts):
            yield found.of_record(ends.count(0, low) - 1)


def _malformed(parts: Sequence[bytes]) -> MalformedRecord | None:
    """The flaw that the parts of a mark describe; None if somebody has changed it in a reject file."""
    if len(parts) < _PARTS or not (parts[1].isdigit() and parts[2].isdigit()):
        return None
    refusal = REFUSALS.get(parts[0].decode(errors="replace"))
    if refusal is None:
        return None
    return MalformedRecord(
        refusal.code, int(parts[1]), int(parts[2]), refusal.reason, refusal.advice, unescaped(parts[3])
    )
