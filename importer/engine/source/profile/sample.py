"""Reads the first records of a file's sample, and notes what is odd about them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.source import encodings
from importer.engine.source.arriving import NotArrived
from importer.engine.source.byte_source import Readable
from importer.engine.source.decoding import SourceSample
from importer.engine.source.dialect import ANY_LINE_END, RFC4180, Dialect
from importer.engine.source.formats.format import MOST_FIELDS
from importer.engine.source.profile.delimiters import delimiter_name
from importer.engine.source.records.blocks import blocks, end_of_contents, end_of_records, read_exactly
from importer.engine.source.records.boundary.lines import line_end_pattern, line_ends
from importer.engine.source.records.fields import fields
from importer.engine.units import count_of

SAMPLE_BYTES = 1024 * 1024
TAIL_BYTES = 64 * 1024


def skipped_bytes(sample: bytes, dialect: Dialect) -> int:
    """The size in bytes of the lines before the header. Raises SourceProblem if the sample has fewer lines."""
    if not dialect.skip_rows:
        return 0
    ends = islice(line_end_pattern(dialect.line_end).finditer(sample), dialect.skip_rows - 1, None)
    if not (last := next(ends, None)):
        raise SourceProblem(
            f"The file's first part has fewer than {dialect.skip_rows:,} lines, which are to be skipped.",
            advice="Skip fewer, or choose another line end.",
        )
    return last.end()


def without_end_marks(fd: Readable, size: int) -> int:
    """The end of a plain file without the marks behind its last record, of which nothing is known yet."""
    return end_of_contents(fd, replace(RFC4180, line_end=ANY_LINE_END), 0, size)


def last_bytes(fd: Readable, size: int) -> bytes:
    """The last bytes of a plain file of this size, without the marks behind the last record."""
    end = without_end_marks(fd, size)
    begin = max(0, end - TAIL_BYTES)
    return read_exactly(fd, end - begin, begin)


@dataclass(frozen=True)
class SampleRecord:
    """A record's byte offset and line in the plain file, its values as text, and its end in bytes.

    Of more than MOST_FIELDS values it has one more than these.
    """

    offset: int
    line: int
    values: tuple[str, ...]
    end: int = 0


def sample_records(sample: SourceSample, dialect: Dialect, start: int, first_line: int = 0) -> Iterator[SampleRecord]:
    """The sample's records from byte `start` on, read as the scan reads them; raises as scan() does.

    `first_line`: the line at `start`, 0 for the first one that the dialect does not skip. A record that is cut by the
    end of the sample is left out.
    """
    fd, end, block_bytes = sample.fd, sample.readable + 1, max(1, sample.readable - start)
    if sample.whole:
        # Else `end` is a byte beyond the sample, so that the sample's end is not read as the file's end.
        end, block_bytes = end_of_records(fd, dialect, start, sample.readable), SAMPLE_BYTES
    try:
        for block in blocks(fd, dialect, start, first_line or 1 + dialect.skip_rows, end, block_bytes=block_bytes):
            data = block.data or read_exactly(fd, block.size, block.offset)
            blank = set(block.blank)
            low, line = 0, block.first_line
            while low < block.size:
                high = block.ends.first(low)
                if low in blank:
                    low, line = high, line + 1
                    continue
                found = fields(data[low:high], dialect)[: MOST_FIELDS + 1]
                values = tuple(encodings.readable_text(value, dialect.encoding) for value in found)
                yield SampleRecord(block.offset + low, line, values, block.offset + high)
                line += line_ends(data, dialect.line_end, low, high)
                low = high
            if block.offset + block.size >= SAMPLE_BYTES:
                return
    except (SourceChanged, NotArrived):
        if sample.whole:
            raise


def require_a_table(record: SampleRecord, dialect: Dialect) -> None:
    """Raise SourceProblem if the record has more fields than any table has columns."""
    if len(record.values) <= MOST_FIELDS:
        return
    if dialect.fields:
        raise SourceProblem(
            f"The rows have more than {MOST_FIELDS:,} fields, and no table has more columns.",
            advice="Export fewer of them, or write them as values: a row for each field of each row.",
        )
    raise SourceProblem(
        f"Line {record.line:,} has more than {MOST_FIELDS:,} fields with the delimiter"
        f" {delimiter_name(dialect.delimiter)}, and no table has more columns.",
        advice="Choose the delimiter, or the line end, if it is another one.",
        option="delimiter",
    )


def first_records(sample: SourceSample, dialect: Dialect, start: int, most: int) -> list[SampleRecord]:
    """At most `most` records of the sample from byte `start` on; raises as scan() does.

    A quote that never closes in the last record is judged by the number of fields of the records before it, so that
    only its own line is bad (boundary/stray_quotes.py). Above others it may have swallowed them: that is a problem.
    """
    records: list[SampleRecord] = []
    try:
        for record in islice(sample_records(sample, dialect, start), most):
            records.append(record)
    except SourceProblem:
        width = Counter(len(record.values) for record in records).most_common(1)[0][0] if records else 0
        if dialect.width or width < 2:
            raise
        judged = list(islice(sample_records(sample, replace(dialect, width=width), start), most))
        if len(judged) > len(records) + 1:
            raise
        return judged
    return records


def header_notes(header: Sequence[str]) -> tuple[str, ...]:
    """What is noted of the names: one is missing, or is there twice."""
    notes = []
    if empty := [number for number, name in enumerate(header, start=1) if not name.strip()]:
        notes.append(f"Field {empty[0]} has no name in the header.")
    counts = Counter(name.strip().lower() for name in header)
    if doubled := sorted(name for name, times in counts.items() if name and times > 1):
        notes.append(f"The header has {doubled[0]!r} more than once; the first one counts.")
    return tuple(notes)


def width_notes(header: Sequence[str], data: Sequence[SampleRecord]) -> tuple[str, ...]:
    """What is noted of records with another number of fields than the header."""
    odd = [record for record in data if len(record.values) != len(header)]
    if not odd:
        return ()
    example = f"the one on line {odd[0].line} has {len(odd[0].values)}"
    return (
        f"{count_of(len(odd), 'record')} of the sample {'does' if len(odd) == 1 else 'do'} not have"
        f" {count_of(len(header), 'field')}: {example}.",
    )
