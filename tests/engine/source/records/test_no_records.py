"""Lines among the records that are none: the records are those of the same file without these lines."""

import random

import pytest

from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.skipped_lines import SkippedLines
from importer.engine.source.dialect import Dialect
from importer.engine.source.records import blocks as blocks_module
from importer.engine.source.records.blocks import blocks
from importer.engine.source.records.boundary.stray_quotes import DOUBTFUL
from importer.engine.source.records.record_stream import whole_records
from tests.engine.reference import in_file, scan_with

LINE_ENDS = {"\n": ["\n"], "\r\n": ["\r\n"], "\r": ["\r"], "any": ["\n", "\r\n", "\r"]}
COMMENTS = ["//", "// it's", '//,"open', '//"', '// "a","b', "//\\", "// 1,2", "//, \\", '//""', "//é,东"]
RECORDS = ['{n},"a"', '{n},"two', "{n},x // no comment", '"// text",{n}', "/{n},x", "{n},y"]
ESCAPED = ['{n},"a\\" b"', '"\\"// text",{n}']


def made(seed: int, line_end: str, escape: str) -> tuple[list[tuple[str, str]], Dialect]:
    """Parts of a file, each a kind and a text: whole records, comments and blank lines."""
    rng = random.Random(seed)
    parts = []
    for number in range(rng.randrange(1, 30)):
        record = rng.choice(RECORDS + (ESCAPED if escape else [])).format(n=number)
        end = lambda: rng.choice(LINE_ENDS[line_end])  # noqa: E731
        if record.endswith("two"):
            record += f'{end()}// in quotes{end()}three"'
        parts.append(("record", record + end()))
        while rng.random() < 0.5:
            parts.append(("comment", rng.choice(COMMENTS) + end()))
        if rng.random() < 0.2 and not parts[-1][1].endswith("\r"):
            parts.append(("blank", end()))
    rng.shuffle(parts)
    for at in range(1, len(parts)):
        # A CR and an LF that follow one another are one line end.
        if parts[at - 1][1].endswith("\r") and parts[at][1].startswith("\n"):
            parts[at] = ("blank", "\r\n")
    return parts, Dialect(line_end=line_end, escape=escape, comment="//", header=False, width=2)


@pytest.mark.parametrize("escape", ["", "\\", "quote", "php"])
@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("block_bytes", [1, 7, 60, 2**19])
def test_comments_are_found_and_hide_no_record(block_bytes: int, line_end: str, escape: str):
    for seed in range(12):
        check_comments(*made(seed, line_end, escape), block_bytes)


def check_comments(parts: list[tuple[str, str]], dialect: Dialect, block_bytes: int) -> None:
    """Assert that records and lines that are none are found in the parts, read in blocks of this size."""
    data = "".join(text for _, text in parts).encode()
    found, line = [], 1
    with in_file(data) as fd:
        for block in blocks(fd, dialect, 0, 1, len(data), block_bytes):
            assert not block.flaws
            assert block.first_line == line
            line += block.lines
            low = 0
            for high in block.ends.as_array().tolist():
                found.append(("left out" if low in block.blank else "record", data[block.offset :][low:high].decode()))
                low = high
            own = found[len(found) - block.ends.count(0, block.size) :]
            rows = block.only_rows()
            assert rows.data[: rows.size].decode() == "".join(text for kind, text in own if kind == "record")
    assert found == [("record" if kind == "record" else "left out", text) for kind, text in parts]
    pieces = [data[at : at + block_bytes] for at in range(0, len(data), block_bytes)]
    texts = [joined[low:high].decode() for joined, ends in whole_records(pieces, dialect) for low, high in spans(ends)]
    assert texts == [text for _, text in parts]


def spans(ends) -> list[tuple[int, int]]:
    lasts = ends.as_array().tolist()
    return list(zip([0, *lasts], lasts, strict=False))


@pytest.mark.parametrize("chunk_bytes", [1, 40, 2**20])
@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("seed", range(6))
def test_chunks_count_rows_and_comments(seed: int, line_end: str, chunk_bytes: int):
    parts, dialect = made(seed, line_end, "")
    while parts[-1][0] == "blank":
        parts.pop()
    data = "".join(text for _, text in parts).encode()
    with in_file(data) as fd:
        chunks = list(scan_with(fd, dialect, ChunkSizes(chunk_bytes), end=len(data), block_bytes=50))
    assert sum(chunk.rows for chunk in chunks) == sum(kind == "record" for kind, _ in parts)
    skipped = sum((chunk.skipped for chunk in chunks), SkippedLines())
    for kind in ("comment", "blank"):
        assert skipped.counts.get(kind, 0) == sum(each == kind for each, _ in parts)
    lines = data.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for each in skipped.shown:
        assert lines[each.line - 1] == each.text
    for chunk in chunks:
        low = chunk.offset
        assert chunk.suspect == any(
            kind != "record" and low <= begin < chunk.end for (kind, _), begin in zip(parts, begins(parts), strict=True)
        )


def begins(parts: list[tuple[str, str]]) -> list[int]:
    at, found = 0, []
    for _, text in parts:
        found.append(at)
        at += len(text.encode())
    return found


def test_a_comment_that_is_larger_than_a_block_is_no_record(monkeypatch):
    monkeypatch.setattr(blocks_module, "BLOCK_BYTES", 20)
    data = b'1,a\n#"' + b'"x,' * 50 + b"\n2,b\n"
    with in_file(data) as fd:
        dialect = Dialect(comment="#", header=False)
        [chunk] = scan_with(fd, dialect, ChunkSizes(2**20), end=len(data), block_bytes=10)
        assert (chunk.rows, chunk.skipped.counts) == (2, {"comment": 1})


def test_bytes_of_another_encoding_in_a_comment_are_no_flaw():
    data = b"1,a\n# \xff\n2,b\n"
    with in_file(data) as fd:
        [chunk] = scan_with(fd, Dialect(comment="#", header=False), ChunkSizes(2**20), end=len(data))
        assert (chunk.rows, chunk.skipped.shown[0].text[:2]) == (2, "# ")


@pytest.mark.parametrize("comment", ['"x', "a\nb", "x" * 11, "\\x"])
def test_a_comment_that_could_be_something_else_is_refused(comment: str):
    with pytest.raises(Exception, match="comment"):
        Dialect(comment=comment, escape="\\")


@pytest.mark.parametrize("block_bytes", [1, 7, 2**19])
def test_a_comment_that_may_be_a_record_is_a_flaw_unless_it_is_stated(block_bytes: int):
    data = b"A1,6,c\n# by, x\n#77,5,row\n\nA2,7,d\n#,,\n"
    dialect = Dialect(comment="#", header=False, width=3, sampled=("comment",))
    with in_file(data) as fd:
        found = list(blocks(fd, dialect, 0, 1, len(data), block_bytes))
        stated = list(blocks(fd, dialect.stating(comment="#"), 0, 1, len(data), block_bytes))
    assert [(each.code, each.line) for block in found for each in block.flaws] == [(DOUBTFUL, 3), (DOUBTFUL, 6)]
    assert [sum(block.rows(0, block.size) for block in each) for each in (found, stated)] == [4, 2]
    assert not any(block.flaws for block in stated)
