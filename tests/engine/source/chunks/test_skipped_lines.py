"""Lines that are not records: with the lines of the records they are all lines of the file, however it is cut."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import Position, ScanPolicy, scan
from importer.engine.source.chunks.skipped_lines import (
    LONGEST_TEXT,
    NO_LINES,
    SkippedLines,
    lines_after,
    lines_before,
)
from importer.engine.source.decisions import MOST_LINES_SHOWN, SkippedLine
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.source.profile.profile import profile_file

RECORD = "record"
LINE_ENDS = {"\n": ["\n"], "\r\n": ["\r\n"], "\r": ["\r"], "any": ["\n", "\r\n", "\r"]}


def found(path: Path, dialect: Dialect, chunk_bytes: int, block_bytes: int) -> tuple[SkippedLines, int]:
    """The lines that are no records, and the number of lines that the chunks have, as the scan of a job finds them."""
    profile = profile_file(path, dialect)
    begin, size = Position(profile.data_offset, profile.data_line), path.stat().st_size
    with open_source(path) as fd:
        chunks = list(
            scan(fd, dialect, ChunkSizes(chunk_bytes), begin, end=size, policy=ScanPolicy(block_bytes=block_bytes))
        )
        before = lines_before(fd, dialect, profile.data_offset)
        assert before.total + 1 == begin.line == chunks[0].first_line
        # The scan continues where a chunk ends: the next line is known from a scan of the rest as one chunk.
        end = chunks[-1].offset + chunks[-1].length
        last_lines = lines_in(path.read_bytes()[chunks[-1].offset : end], dialect)
        after = lines_after(fd, dialect, end, chunks[-1].first_line + last_lines, size)
    in_chunks = chunks[-1].first_line + last_lines - begin.line
    return sum((each.skipped for each in chunks), before) + after, in_chunks - sum(
        each.skipped.total for each in chunks
    )


def lines_in(data: bytes, dialect: Dialect) -> int:
    text = data.decode()
    text = text if dialect.line_end == "any" else text.replace(dialect.line_end, "\n")
    return len(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n"))


def made(seed: int, line_end: str) -> tuple[list[tuple[str, str]], str, Dialect]:
    """The physical lines of a file, each with its kind, the text of the file, and its dialect."""
    rng = random.Random(seed)
    preamble = [("preamble", f"Report {n}") if rng.random() < 0.7 else ("blank", "") for n in range(rng.randrange(4))]
    blank = lambda most: [("blank", "")] * rng.randrange(most)  # noqa: E731
    header = rng.choice([[("header", "a,b")], [("header", '"a'), ("header", ""), ("header", 'x",b')]])
    lines = [*preamble, *blank(3), *header, *blank(3)]
    for number in range(rng.randrange(1, 40)):
        long = [(RECORD, f'{number},"two'), (RECORD, ""), (RECORD, f'lines {number}"')]
        lines += long if rng.random() < 0.3 else [(RECORD, f"{number},é")]
        lines += blank(3) if rng.random() < 0.3 else []
    lines += blank(15) if rng.random() < 0.5 else []
    text = ""
    for _, line in lines:
        # A CR and an LF that follow one another are one line end.
        ends = [end for end in LINE_ENDS[line_end] if not (text.endswith("\r") and f"{line}{end}".startswith("\n"))]
        text += f"{line}{rng.choice(ends)}"
    if rng.random() < 0.3 and lines[-1][0] == RECORD:
        text = text.rstrip("\r\n")
    dialect = replace(RFC4180, line_end=line_end, skip_rows=len(preamble))
    return lines, rng.choice(["", "\ufeff"]) + text, dialect


@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("seed", range(25))
def test_every_line_of_the_file_is_accounted_for(source, seed: int, line_end: str):
    lines, text, dialect = made(seed, line_end)
    path = source(text.encode())
    kinds = Counter(kind for kind, _ in lines)
    for chunk_bytes, block_bytes in ((1, 1), (1, 4096), (40, 16), (1 << 20, 1 << 20)):
        skipped, in_records = found(path, dialect, chunk_bytes, block_bytes)
        assert (skipped.total + in_records, in_records) == (len(lines), kinds[RECORD])
        assert {RECORD: in_records, **skipped.counts} == dict(kinds)
        assert [each.line for each in skipped.shown] == sorted(each.line for each in skipped.shown)
        for each in skipped.shown:
            assert lines[each.line - 1] == (each.kind, each.text)
        shown = Counter(each.kind for each in skipped.shown)
        assert shown == {kind: min(count, MOST_LINES_SHOWN) for kind, count in skipped.counts.items()}
        assert SkippedLines.from_json(skipped.as_json()) == skipped


def test_lines_of_windows_and_of_old_macs_are_counted_once(source):
    skipped, in_records = found(source(b"a,b\r\n\r\n1,2\r3,4\n\n\r\n"), replace(RFC4180, line_end="any"), 1, 1)
    assert (skipped.counts, in_records) == ({"header": 1, "blank": 3}, 2)


def test_blank_lines_that_are_records_are_not_counted(source):
    skipped, in_records = found(source(b"a\n1\n\n2\n\n"), replace(RFC4180, blank_lines="keep"), 3, 4)
    assert (skipped.counts, in_records) == ({"header": 1}, 4)


def test_only_the_first_lines_of_a_kind_are_kept_with_a_part_of_their_text(source):
    path = source("".join(f"{n} {'é' * 1000}\n" for n in range(30)).encode() + b"a,b\n1,2\n")
    with open_source(path) as fd:
        lines = lines_before(fd, replace(RFC4180, skip_rows=30), path.stat().st_size - len(b"1,2\n"))
    assert lines.counts == {"preamble": 30, "header": 1}
    assert [each.line for each in lines.shown] == [*range(1, MOST_LINES_SHOWN + 1), 31]
    assert lines.shown[0].text == f"0 {'é' * (LONGEST_TEXT - 2)}…"
    assert str(lines) == "1 header, 30 above the table"


def test_parts_of_a_file_add_up():
    early = SkippedLines({"blank": 9}, tuple(SkippedLine(n, "", "blank") for n in range(1, 10)))
    late = SkippedLines({"blank": 5, "footer": 1}, (*(SkippedLine(n, "", "blank") for n in range(20, 25)),))
    both = early + late
    assert both.counts == {"blank": 14, "footer": 1}
    assert [each.line for each in both.shown] == [*range(1, 10), 20]
    assert (NO_LINES + late, late + NO_LINES, str(NO_LINES)) == (late, late, "none")


@pytest.mark.parametrize("header", ['a"b,c', '"a,b"x', "\\"])
def test_a_header_with_a_stray_quote_is_counted_too(source, header: str):
    skipped, in_records = found(source(f"\n{header}\n\n1,2\n3,4\n"), RFC4180, 1, 4096)
    assert (skipped.counts, in_records) == ({"header": 1, "blank": 2}, 2)
    assert skipped.as_json()["header"]["texts"] == [{"line": 2, "text": header}]
