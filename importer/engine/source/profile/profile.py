"""Profiles a file by a sample: its encoding, dialect, header and first rows."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from importer.engine.errors import RecordUnreadable, SourceProblem, in_file
from importer.engine.source import encodings
from importer.engine.source.archives import LISTED_BYTES, PACKING_NAMES
from importer.engine.source.byte_source import Readable, SourceLocation
from importer.engine.source.decisions import Decision, SkippedLine, Standing, answer
from importer.engine.source.decoding import SourceHead, SourceSample, open_sample, read_head
from importer.engine.source.dialect import CSV, RFC4180, Dialect
from importer.engine.source.formats.choice import MEMBER, Part
from importer.engine.source.profile.converted_layout import ConvertedLayout, converted_layout
from importer.engine.source.profile.encoding_detection import DetectedEncoding, detect_encoding
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.header import is_like
from importer.engine.source.profile.layout.odd_headers import fitted_header
from importer.engine.source.profile.plain import names_first
from importer.engine.source.profile.sample import (
    SAMPLE_BYTES,
    SampleRecord,
    first_records,
    header_notes,
    last_bytes,
    require_a_table,
    sample_records,
    skipped_bytes,
    width_notes,
    without_end_marks,
)
from importer.engine.source.profile.sniff import Sniffed, sniff, stated_decisions
from importer.engine.source.records.blocks import MAX_RECORD_BYTES, read_exactly
from importer.engine.source.records.boundary.lines import line_ends
from importer.engine.source.records.null_words import NULL_MARK, has_bare_mark
from importer.engine.units import count_of, human_bytes

SAMPLE_ROWS = 1000


@dataclass(frozen=True)
class Profile:
    """The contents of a file, as its sample shows them.

    - `size`: the plain file's size in bytes; an estimate while the file is packed.
    - `header`: a name for each field; column_1, ... if the file has no header.
    - `rows`: the values of the first data records (at most SAMPLE_ROWS) as text; `lines`: the physical line of
      each. Both are empty for a file with a header only.
    - `data_offset`, `data_line`: the first data record's byte and physical line in the plain file; its end without one.
    - `notes`: what was detected and how certain it is, in plain words.
    - `decisions`: each decision about the file's format, with its standing.
    - `null_mark`: a field of the sample is NULL_MARK without quotes, where no escape makes it NULL; `quoted_null_mark`:
      one is the mark in quotes, which is a text.
    - `differing`: questions why the file differs from the one whose dialect it is read with (reading/other_file.py).
    - `skipped`: the lines of the sample that are no records, at most MOST_LINES_SHOWN of a kind.
    - `packing`: how the file is packed, "" if it is not.
    - `refused`: of a file in another format, the problem of the first row that cannot be read, if one was met.
    - `types`: the column types that the file itself states for its fields, each "" if it states none.
    - `primary_key`: the positions (from 0) of the fields of the primary key that the file itself states.
    - `of_bytes`: the positions (from 0) of fields that have bytes, whose values are hexadecimal digits after 0x.
    """

    size: int
    dialect: Dialect
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    data_offset: int
    data_line: int
    notes: tuple[str, ...]
    packing: str = ""
    decisions: tuple[Decision, ...] = ()
    skipped: tuple[SkippedLine, ...] = ()
    refused: RecordUnreadable | None = None
    types: tuple[str, ...] = ()
    of_bytes: frozenset[int] = frozenset()
    differing: tuple[Decision, ...] = ()
    primary_key: tuple[int, ...] = ()
    null_mark: bool = False
    quoted_null_mark: bool = False

    @cached_property
    def record_bytes(self) -> float:
        """The average size of the first records in bytes, with a byte after each value and without quotes."""
        return sum(len(value.encode()) + 1 for row in self.rows for value in row) / len(self.rows) if self.rows else 0

    def values_of(self, number: int) -> Counter[str]:
        """The values of a field (from 0) in `rows` that are not NULL in the dialect, in the file's order.

        The same object each time, which nobody changes.
        """
        if number not in self._counted:
            null = self.dialect.null or None
            values = (row[number] for row in self.rows if number < len(row))
            self._counted[number] = Counter(value for value in values if value != null)
        return self._counted[number]

    @cached_property
    def _counted(self) -> dict[int, Counter[str]]:
        return {}


def profile_file(
    path: SourceLocation,
    dialect: Dialect | None = None,
    expected: Sequence[ExpectedColumn] = (),
    **known: Any,
) -> Profile:
    """Profile a file by its first part. Without a dialect, sniff encoding, delimiter, quote, line end and header.

    `expected`: the columns of the table that the file is for, () if there is none yet. `known` fields of the dialect,
    such as header=False, are stated and override the sample; only a byte order mark overrides a requested encoding.
    Raises SourceProblem, with the file's name and the line if there is one, if it is not a file, is empty, is not
    CSV, or cannot be unpacked or read in the dialect.
    """
    requested = dialect.encoding if dialect else known.get("encoding", "")
    member = known.get(MEMBER.option) or (dialect.member if dialect else "")
    with in_file(path.name), _opened(path) as fd:
        # A record may be larger than a sample; that is seldom worth the unpacking.
        for wanted in (SAMPLE_BYTES, MAX_RECORD_BYTES):
            head = read_head(fd, wanted, member)
            if blank := _blank(head.data):
                table = () if dialect or not head.whole else expected
                return _profile_without_rows(blank, len(head.data), known, table)
            named = names_first(head.data, [column.name for column in expected], final=head.whole)
            if named:
                head = replace(head, format=CSV)  # Values may look like SQL.
            if (converted := converted_layout(fd, head, dialect, known, expected)) is not None:
                with open_sample(fd, head, converted.dialect) as sample:
                    profile = _profile_converted(sample, converted)
            else:
                of_bytes = any(column.of_bytes for column in expected)
                detected = detect_encoding(head, requested, named=named, of_bytes=of_bytes)
                with open_sample(fd, head, replace(RFC4180, encoding=detected.encoding, member=head.member)) as sample:
                    profile = _profile(sample, detected, dialect, known, expected)
            if profile:
                whole = _of_member(replace(profile, packing=head.packing), head, stated=bool(member))
                return whole if dialect else _with_sampled_rows(path, whole)
        raise SourceProblem(
            f"No record ends within {MAX_RECORD_BYTES:,} bytes.", advice="Check that this is a CSV file, and its quote."
        )


def _with_sampled_rows(path: SourceLocation, profile: Profile) -> Profile:
    """The profile, whose dialect has seen the lines that are left out above the first record, unless one looks like it.

    So they are compared with those of the next file (reading/other_file.py).
    """
    dialect = profile.dialect
    if not dialect.skip_rows or not profile.rows or "skip_rows" in dialect.sampled or rows_above(path, profile):
        return profile
    return replace(profile, dialect=replace(dialect, sampled=(*dialect.sampled, "skip_rows")))


def rows_above(path: SourceLocation, profile: Profile) -> list[tuple[str, ...]]:
    """The lines that are left out above the first record, in a file without a header, and look like it."""
    dialect = profile.dialect
    if dialect.header or not dialect.skip_rows or not profile.rows:
        return []
    try:
        whole = profile_file(path, replace(dialect, skip_rows=0))
    except SourceProblem:  # A title may be read as a quote that never closes.
        return []
    above = (row for row, line in zip(whole.rows, whole.lines, strict=True) if line < profile.lines[0])
    return [row for row in above if is_like(row, profile.rows[0])]


def _profile_converted(sample: SourceSample, converted: ConvertedLayout) -> Profile | None:
    """The profile of a file in another format by the first part of its copy; None as _profile()."""
    # Rows that are left out in the file are not in its copy.
    found = _profile(sample, converted.encoding, replace(converted.dialect, skip_rows=0), {}, ())
    if found is None:
        return None
    places = sample.places
    lines = found.lines if places is None else tuple(int(each) for each in places[: len(found.rows), 1])
    notes = tuple(each.evidence for each in converted.decisions if each.evidence and not each.guessed)
    dialect = replace(found.dialect, encoding=converted.encoding.encoding, skip_rows=converted.dialect.skip_rows)
    return replace(
        found,
        dialect=dialect,
        header=converted.dialect.fields,
        lines=lines,
        decisions=converted.decisions,
        notes=(*notes, *header_notes(converted.dialect.fields)),
        refused=sample.refused or converted.layout.refused,
        types=converted.layout.types,
        primary_key=converted.layout.primary_key,
        of_bytes=converted.layout.of_bytes,
    )


def _blank(sample: bytes) -> str:
    """In words, that the file is empty or has blank lines only; "" if it has more."""
    _, mark = encodings.detect_byte_order_mark(sample)
    if sample[mark:].strip(b"\0\x1a \t\r\n\v\f"):
        return ""
    return "The file is empty: it has blank lines only." if b"\n" in sample or b"\r" in sample else "The file is empty."


def _profile_without_rows(
    blank: str, size: int, known: Mapping[str, Any], expected: Sequence[ExpectedColumn]
) -> Profile:
    """The profile of a blank file for a table: no rows, which is a guess unless a header is stated to be absent.

    Raises SourceProblem without a table, or if a header is stated to be there.
    """
    if not expected or known.get("header"):
        raise SourceProblem(blank, advice="Check how it was written.")
    stated = "header" in known
    decision = Decision(
        "header",
        "no",
        Standing.STATED if stated else Standing.GUESSED,
        f"{blank} So there is no row to load.",
        answers=() if stated else (answer("it has no rows", ["0 rows"], header=False),),
    )
    header = tuple(column.name for column in expected if not column.numbered)
    dialect = replace(RFC4180, **{**known, "header": False, "width": len(header)})
    return Profile(size, dialect, header, (), (), data_offset=size, data_line=1, notes=(), decisions=(decision,))


def _profile(
    sample: SourceSample,
    detected: DetectedEncoding,
    dialect: Dialect | None,
    known: dict[str, Any],
    expected: Sequence[ExpectedColumn],
) -> Profile | None:
    """The profile of a plain file; None if no data record ends in the sample, but may do so in a larger one."""
    whole_dialect = dialect is not None
    sample, marks = _without_end_marks(sample)
    begin = read_exactly(sample.fd, min(sample.readable, SAMPLE_BYTES), 0)
    start = 0
    while begin.startswith(encodings.UTF8_MARK, start):
        start += len(encodings.UTF8_MARK)
    sniffed = (
        Sniffed(dialect.stating(**known), stated_decisions(dialect))
        if dialect
        else _sniffed(sample, begin[start:], detected, known, expected)
    )
    dialect = replace(sniffed.dialect, **{**known, "encoding": detected.encoding, "odd_bytes": detected.odd})
    start += skipped_bytes(begin[start:], dialect)
    try:
        dialect, first, data = _records(sample, begin, dialect, start)
    except SourceProblem as problem:
        from importer.engine.source.profile.fault_lines import show_lines  # Few loads need it.

        show_lines(problem, sample, dialect)
        raise
    if first or data:
        require_a_table(first or data[0], dialect)
    if not data and not sample.whole:
        return None
    if not data and not first:
        below = "The file has neither a header nor data below the lines that are left out."
        return _profile_without_rows(below, sample.size, known, () if whole_dialect else expected)
    decisions = (detected.decision, *(each for each in sniffed.decisions if each.name != "encoding"), *marks)
    rows = tuple(record.values for record in data)
    usual = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    header = first.values if first else tuple(f"column_{number}" for number in range(1, usual + 1))
    width = usual or len(header)
    if first and {len(row) for row in rows} == {width}:
        header = fitted_header(header, width)
    return Profile(
        size=sample.size,
        dialect=replace(dialect, width=width),
        header=header,
        rows=rows,
        lines=tuple(record.line for record in data),
        data_offset=data[0].offset if data else sample.size,
        data_line=data[0].line if data else begin.count(b"\n") + 1,
        notes=tuple(each.evidence for each in decisions if each.evidence and not each.guessed)
        + header_notes(header)
        + width_notes(header, data),
        decisions=decisions,
        skipped=sniffed.skipped,
        null_mark=has_bare_mark(begin, dialect.plain),
        quoted_null_mark=dialect.quote.join(("", NULL_MARK, "")).encode() in begin,
    )


def _records(
    sample: SourceSample, begin: bytes, dialect: Dialect, start: int
) -> tuple[Dialect, SampleRecord | None, list[SampleRecord]]:
    """The header and the first data records, and the dialect with the header's line if that is needed.

    A comment above the header may have as many fields as a record.
    """
    plain = replace(dialect.plain, sampled=())
    if not (dialect.header and (dialect.skip_after_header or dialect.skip_repeated_header)):
        records = first_records(sample, plain, start, SAMPLE_ROWS + dialect.header)
        return dialect, *((records[0], records[1:]) if dialect.header and records else (None, records))
    if not (first := next(sample_records(sample, plain, start), None)):
        return dialect, None, []
    raw = read_exactly(sample.fd, first.end - first.offset, first.offset)
    if dialect.skip_repeated_header:
        dialect = replace(dialect, header_line=raw.rstrip(b"\r\n").decode(plain.encoding, "replace"))
    skipped = skipped_bytes(begin[first.end :], replace(plain, skip_rows=dialect.skip_after_header))
    line = first.line + line_ends(raw, plain.line_end) + dialect.skip_after_header
    below = sample_records(sample, replace(dialect.plain, sampled=()), first.end + skipped, line)
    return dialect, first, list(islice(below, SAMPLE_ROWS))


def _sniffed(
    sample: SourceSample,
    begin: bytes,
    detected: DetectedEncoding,
    known: dict[str, Any],
    expected: Sequence[ExpectedColumn],
) -> Sniffed:
    """Sniff the sample, which begins with the bytes `begin` after a byte order mark."""
    plain = Dialect(encoding=detected.encoding).plain.encoding
    final = sample.whole and sample.readable <= SAMPLE_BYTES
    tail = last_bytes(sample.fd, sample.readable) if sample.whole and not final else b""
    return sniff(begin, final=final, known=known, encoding=plain, expected=expected, tail=tail)


def _without_end_marks(sample: SourceSample) -> tuple[SourceSample, tuple[Decision, ...]]:
    """The sample without the marks behind the last record, and the decision about them if there are some."""
    if not sample.whole or (end := without_end_marks(sample.fd, sample.readable)) == sample.readable:
        return sample, ()
    size = count_of(sample.readable - end, "byte")
    evidence = (
        f"The file ends with {size} behind the last record: the Ctrl-Z of DOS, or zeros where a disk lost data. They"
        " are left out. If they are zeros, check the last row."
    )
    return replace(sample, readable=end), (Decision("file_end", "left out", Standing.RULE, evidence),)


def _of_member(profile: Profile, head: SourceHead, *, stated: bool) -> Profile:
    """The profile with what is known of the file's packing, and of the member of an archive of several."""
    notes = (*_packing_notes(head), *profile.notes)
    dialect = replace(profile.dialect, member=head.member)
    if not head.member:
        return replace(profile, dialect=dialect, notes=notes)
    parts = [Part(name, ()) for name in (head.member, *(each for each in head.members if each != head.member))]
    _, decision = MEMBER.stated(parts[0]) if stated else MEMBER.of(parts, ())
    return replace(profile, dialect=dialect, notes=notes, decisions=(decision, *profile.decisions))


def _packing_notes(head: SourceHead) -> Iterator[str]:
    if head.packing:
        yield f"Packed with {PACKING_NAMES[head.packing]}; it is unpacked before it is read."
    if head.member and not head.all_listed:
        yield (
            f"Only the files in the first {human_bytes(LISTED_BYTES)} of the archive were looked at. Of files with the"
            f" name {head.member}, the first is read: if the archive may have a newer version, unpack it, and import"
            " that."
        )


@contextmanager
def _opened(path: SourceLocation) -> Iterator[Readable]:
    """The open file. Raises SourceProblem if it is not a regular file that can be read."""
    if not isinstance(path, Path):
        with path.open() as elsewhere:
            yield elsewhere
        return
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceProblem("This is a folder, not a file.", advice="Choose the CSV file inside.")
        if not stat.S_ISREG(mode):
            raise SourceProblem("This is not a regular file.", advice="Write the data to a file first.")
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        raise SourceProblem("There is no such file.", advice="Check its path.") from None
    except OSError as error:
        raise SourceProblem(
            f"The file cannot be opened: {error.strerror}.", advice="Check the path and its permissions."
        ) from error
    try:
        yield fd
    finally:
        os.close(fd)
