"""Reads a file's sample: detects its encoding, and reads its first records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.source import encodings
from importer.engine.source.decoding import SourceHead, SourceSample
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import EncodingKind
from importer.engine.source.records.blocks import blocks, end_of_records, read_exactly
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS
from importer.engine.source.records.fields import fields
from importer.engine.source.records.lines import line_ends

SAMPLE_BYTES = 1024 * 1024
# Control characters that are rare in a text of any encoding: all except tab, line ends, the old end-of-file mark, and
# the characters that switch between character sets.
CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1a\x1b\x0e\x0f"))
MOST_CONTROLS = 0.05  # share of all bytes; in random bytes it is 0.09


@dataclass(frozen=True)
class DetectedEncoding:
    """The detected encoding of a file, with `notes` on the reasons for people.

    If the encoding is a guess, `guess` says so to people who see the rows, and `doubt` is the problem for an import
    without a user who can check them.
    """

    encoding: str
    notes: tuple[str, ...] = ()
    guess: str = ""
    doubt: SourceProblem | None = None


def detect_encoding(head: SourceHead, requested: str = "") -> DetectedEncoding:
    """Detect the encoding: by a byte order mark, else as requested, else UTF-8 if the head is valid, else a guess."""
    marked, _ = encodings.detect_byte_order_mark(head.data)
    if marked:
        instead = f" So it is not read as {requested}." if requested not in ("", marked) else ""
        return DetectedEncoding(
            marked, (f"The file begins with the byte order mark of {marked}; it is left out.{instead}",)
        )
    invalid = encodings.invalid_at(head.data, encodings.UTF8, final=head.whole)
    odd = _odd_byte(head.data, invalid) if invalid >= 0 else ""
    if requested:
        return DetectedEncoding(requested, _notes_on_requested(head.data, requested, odd))
    wide = encodings.detect_wide(head.data)
    if not odd and not wide:
        return DetectedEncoding(encodings.UTF8)
    if not wide and (controls := _controls(head.data)) > len(head.data) * MOST_CONTROLS:
        return _no_text(head.data, controls)
    guess = wide or _fitting_guess(head.data)
    odd = odd or "It is full of zero bytes"
    doubt = SourceProblem(
        f"{odd}, so this is no UTF-8.",
        where=f"line {_line(head.data, invalid)}" if invalid >= 0 else "",
        advice=f"If it is {guess}: --encoding {guess}; else name its own.",
    )
    return DetectedEncoding(guess, guess=f"{odd}; {guess} is a guess: check the words below.", doubt=doubt)


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, delete=CONTROLS))


def _no_text(data: bytes, controls: int) -> DetectedEncoding:
    """A guess with a warning. UTF-16 without a mark, in letters beyond Latin 1, looks like this: it is not refused."""
    warning = (
        f"This does not look like a text file: {controls:,} of the first {len(data):,} bytes are control characters"
    )
    doubt = SourceProblem(
        f"{warning}.",
        advice="Choose the CSV file itself. If this is it, name its encoding, such as --encoding utf-16-le.",
    )
    warning += ". Choose another file, or the encoding that this one is in."
    return DetectedEncoding(_fitting_guess(data), guess=warning, doubt=doubt)


def _fitting_guess(data: bytes) -> str:
    return encodings.GUESS if encodings.invalid_at(data, encodings.GUESS) < 0 else encodings.LAST_GUESS


def _odd_byte(data: bytes, at: int) -> str:
    return f"The byte 0x{data[at]:02X} on line {_line(data, at)} is not UTF-8"


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _notes_on_requested(data: bytes, requested: str, odd: str) -> tuple[str, ...]:
    if requested == encodings.UTF8:
        return (f"{odd}: its row cannot be read.",) if odd else ()
    if encodings.kind(requested) is not EncodingKind.SINGLE:
        return ()
    if odd:
        return (f"{odd}; it is read as {requested}: check the words below.",)
    return () if data.isascii() else (f"The text would be valid UTF-8, too, but is read as {requested}: please check.",)


def skipped_bytes(sample: bytes, dialect: Dialect) -> int:
    """The size in bytes of the lines before the header. Raises SourceProblem if the sample has fewer lines."""
    if not dialect.skip_rows:
        return 0
    ends = islice(re.finditer(RECORD_ENDS[dialect.line_end], sample), dialect.skip_rows - 1, None)
    if not (last := next(ends, None)):
        raise SourceProblem(
            f"The file's first part has fewer than {dialect.skip_rows:,} lines, which are to be skipped.",
            advice="Skip fewer, or choose another line end.",
        )
    return last.end()


@dataclass(frozen=True)
class SampleRecord:
    """A record's byte offset and line in the plain file, and its values as text."""

    offset: int
    line: int
    values: tuple[str, ...]


def sample_records(sample: SourceSample, dialect: Dialect, start: int) -> Iterator[SampleRecord]:
    """The sample's records from byte `start` on, read as the scan reads them; raises as scan() does.

    A record that is cut by the end of the sample is left out.
    """
    fd, end, block_bytes = sample.fd, sample.readable + 1, max(1, sample.readable - start)
    if sample.whole:
        # Else `end` is a byte beyond the sample, so that the sample's end is not read as the file's end.
        end, block_bytes = end_of_records(fd, dialect, start, sample.readable), SAMPLE_BYTES
    try:
        for block in blocks(fd, dialect, start, 1 + dialect.skip_rows, end, block_bytes=block_bytes):
            data = block.data or read_exactly(fd, block.size, block.offset)
            blank = set(block.blank)
            low, line = 0, block.first_line
            while low < block.size:
                high = block.ends.first(low)
                if low in blank:
                    low, line = high, line + 1
                    continue
                values = (encodings.readable_text(value, dialect.encoding) for value in fields(data[low:high], dialect))
                yield SampleRecord(block.offset + low, line, tuple(values))
                line += line_ends(data, dialect.line_end, low, high)
                low = high
            if block.offset + block.size >= SAMPLE_BYTES:
                return
    except SourceChanged:
        if sample.whole:
            raise
