"""Stray and unclosed quotes: the records they cost, the lines reported, and long texts that have none."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import SourceProblem
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ScanPolicy, scan
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, blocks
from importer.engine.source.records.malformed import find_flaws
from tests.engine.reference import in_file, scan_with
from tests.examples import examples

THREE = Dialect(width=3)
ROWS = b"".join(b"%d,text %d,2024-01-31\n" % (n, n) for n in range(200_000))  # 5 MB


def bad_records(data: bytes, dialect: Dialect = THREE, **options) -> list[tuple[int, str, bytes]]:
    """Line, code and bytes of each record that is left out."""
    found = []
    with in_file(data) as fd:
        for block in blocks(fd, dialect, 0, 1, len(data), **options):
            ends = [0, *block.ends.as_array().tolist()]
            for record, fault in find_flaws(block, dialect.encoding):
                low, high = block.offset + ends[record], block.offset + ends[record + 1]
                found.append((data.count(b"\n", 0, low) + 1, fault.code, data[low:high]))
    return found


def refusal(data: bytes, dialect: Dialect = THREE) -> SourceProblem:
    with in_file(data) as fd, pytest.raises(SourceProblem) as caught:
        list(scan(fd, dialect, ChunkSizes(1 << 30), end=len(data)))
    return caught.value


def rows(data: bytes, dialect: Dialect = THREE) -> int:
    with in_file(data) as fd:
        found = scan(fd, dialect, ChunkSizes(1 << 30), end=len(data), policy=ScanPolicy(tolerate=True))
        return sum(chunk.rows for chunk in found)


class TestStrayQuotes:
    def test_the_record_ends_with_its_line(self):
        assert bad_records(b'1,a,b\n2,"5" disk",c\n3,d,e\n') == [(2, "stray quote", b'2,"5" disk",c\n')]

    def test_line_and_field_are_named(self):
        problem = refusal(b'1,a,b\n2,"5" disk",c\n')
        assert problem.where == "line 2"
        assert problem.what.startswith("A quote in field 2 is neither doubled nor followed by")
        assert '"5" disk"' in problem.what

    def test_one_after_a_backslash_may_be_escaped(self):
        data = b'1,a,b\n2,"5\\" disk",c\n'
        assert "--escape quote" in refusal(data).advice
        assert rows(data, replace(THREE, escape="quote")) == 2
        assert "--escape" not in refusal(data.replace(b"\\", b"\\\\"), replace(THREE, escape="quote")).advice

    def test_one_after_lines_of_its_own_text_names_both_lines(self):
        data = b'1,"many\nlines of\ntext" and more,b\n2,c,d\n'
        assert bad_records(data) == [(1, "stray quote", b'1,"many\nlines of\ntext" and more,b\n')]
        assert "on line 3, in the field that opens on line 1," in refusal(data).what

    def test_each_has_the_same_reason_and_shows_its_place_in_the_files_encoding(self):
        dialect = replace(THREE, encoding="cp1252")
        data = '1,"5" Müller",b\n2,"6" Möller",b\n3,"x,b\n4,a,b\n'.encode("cp1252")
        with in_file(data) as fd:
            faults = [f for block in blocks(fd, dialect, 0, 1, len(data)) for _, f in find_flaws(block, "cp1252")]
        assert len({fault.reason for fault in faults[:2]}) == 1
        assert [fault.value for fault in faults] == ['1,"5" Müller",b', '2,"6" Möller",b', '3,"x,b']
        assert '\'1,"5" Müller",b\'' in refusal(data, dialect).what

    def test_the_place_shows_no_half_of_a_character(self):
        data = b"1," + b'"' + "é".encode() * 30 + b'" b' + "é".encode() * 30 + b'",c\n'
        with in_file(data) as fd:
            ((_, fault),) = [
                each for block in blocks(fd, THREE, 0, 1, len(data)) for each in find_flaws(block, "utf-8")
            ]
        assert set(fault.value) == set('é" b')

    @pytest.mark.thorough
    @pytest.mark.parametrize("block_bytes", [7, 64, BLOCK_BYTES])
    def test_many_of_them_do_not_take_each_other_along(self, block_bytes):
        count = 1000 if block_bytes < BLOCK_BYTES else 10_000
        data = b'1,"a"b,c\n2,d,e\n' * count
        found = bad_records(data, block_bytes=block_bytes)
        assert len(found) == count
        assert {raw for _, _, raw in found} == {b'1,"a"b,c\n'}
        assert [line for line, _, _ in found[:3]] == [1, 3, 5]


class TestUnclosedQuotes:
    @pytest.mark.parametrize("after", [b"", b'7,"quoted",x\n', b'"7","quoted","x"\n' * 50, b'7,"a ""b""",x\n'])
    @pytest.mark.parametrize("lines", [1, 100, 200_000])
    def test_an_unclosed_quote_costs_its_own_line(self, after, lines):
        body = b"".join(ROWS.splitlines(keepends=True)[:lines])
        data = b'0,"sound",x\n0,"not closed,x\n' + body + after
        assert bad_records(data) == [(2, "unclosed quote", b'0,"not closed,x\n')]
        assert rows(data) == 2 + lines + after.count(b"\n")

    def test_the_line_and_field_where_it_opened_are_named_soon(self):
        # With these, looking again from each quote would not end within a test's time: 200 MB.
        data = b'0,"not closed,x\n' + ROWS * 40 + b'1,"a",b\n'
        problem = refusal(data)
        assert problem.what.startswith("The quote that opens field 2 on line 1 is not closed")
        assert '"not closed,x' in problem.what

    def test_an_unclosed_quote_in_every_row_costs_every_row(self):
        data = b'1,"not closed,x\n' * 5000
        assert len(bad_records(data)) == rows(data) == 5000

    def test_where_the_line_has_another_number_of_fields_nobody_can_tell(self):
        assert "not closed" in refusal(b'1,"a\n' + ROWS).what
        assert "not closed" in refusal(b'1,"a,b\n' + ROWS, Dialect()).what


class TestLongTexts:
    @pytest.mark.parametrize(
        "text",
        [
            b"words and words, more words\n" * 400_000,
            b"a,b,c\n" + ROWS * 2,
            (b"a,b,c\n" + ROWS.replace(b"text", b'"text"')).replace(b'"', b'""'),
            b'"""",""\n' * 100_000,
        ],
        ids=["ten megabytes", "a whole file", "a whole file with quotes", "quotes only"],
    )
    def test_long_texts_in_quotes_are_one_value(self, text):
        data = b'1,"' + text + b'",x\n2,y,z\n'
        assert bad_records(data) == []
        assert rows(data) == 2

    def test_a_table_of_the_same_width_with_a_title_in_the_last_field(self):
        data = b'1,x,"Title\n' + ROWS + b'"\n2,y,z\n'
        assert (bad_records(data), rows(data)) == ([], 2)


@examples(300)
@given(
    kinds=st.lists(
        st.sampled_from([b'1,"a"b,c\n', b'1,"b,c\n', b"1,a,b\n", b'1,"a","b"\n', b'"1",a,"b\nc"\n']), max_size=30
    ),
    chunk_bytes=st.integers(1, 60),
    block_bytes=st.sampled_from([5, 40, BLOCK_BYTES]),
)
def test_every_bad_record_is_found_in_every_chunk_of_any_size(kinds, chunk_bytes, block_bytes):
    data = b"".join(kinds) + b"9,x,y\n"
    wanted = [kind for kind in kinds if kind in (b'1,"a"b,c\n', b'1,"b,c\n')]
    whole = bad_records(data, block_bytes=block_bytes)
    assert [raw for _, _, raw in whole] == wanted
    with in_file(data) as fd:
        options = {"end": len(data), "block_bytes": block_bytes, "tolerate": True}
        chunks = list(scan_with(fd, THREE, ChunkSizes(chunk_bytes), **options))
    assert sum(chunk.rows for chunk in chunks) == len(kinds) + 1
    again = [bad for c in chunks for bad in bad_records(data[c.offset : c.offset + c.length], block_bytes=block_bytes)]
    assert [raw for _, _, raw in again] == wanted
