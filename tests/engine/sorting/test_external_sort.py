"""Sorted copies: all records, unchanged, in the order of their keys, with their original positions."""

import io
import itertools
from dataclasses import replace
from decimal import Decimal
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import RecordUnreadable
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.table import Column, Key, Table
from importer.engine.sorting.external_sort import SortInput, SortLimits, sort_records
from importer.engine.sorting.key_sample import key_order
from importer.engine.sorting.original_positions import OriginalPositions
from importer.engine.sorting.sort_key import SortKey, Unsortable
from importer.engine.source.byte_source import open_source
from importer.engine.source.dialect import ANY_LINE_END, RFC4180, Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, blocks
from importer.engine.source.records.fields import fields, records
from importer.engine.stored import from_json, to_json
from tests.examples import examples

HEADERLESS = replace(RFC4180, header=False)
SMALL = SortLimits(unit=60, bucket=40, largest_bucket=90, buckets=3)
COUNTER = itertools.count()


def key_of(*types: str, names: str = "abc", key: str = "") -> SortKey:
    """Of a table with columns of these types, a field each; its primary key has those in `key`, else the first."""
    columns = tuple(Column(name, type_, False, None, False, False) for name, type_ in zip(names, types, strict=False))
    table = Table("s", "t", "InnoDB", columns, (Key("PRIMARY", tuple(key or names[0]), True),))
    return SortKey.of(table, [ColumnMapping(column.name) for column in columns])


def sorted_copy(folder, data: bytes, key: SortKey, dialect: Dialect = HEADERLESS, start: int = 0, **how):
    """The copy's bytes, and row, line and offset in `data` of each of its rows."""
    path = folder / f"file-{next(COUNTER)}"
    path.write_bytes(data)
    out, places = io.BytesIO(), io.BytesIO()
    with open_source(path) as fd:
        source = SortInput(fd, dialect, start, 1 + data[:start].count(b"\n"), len(data), how.pop("tolerate", True))
        count, _ = sort_records(source, key, out, places, folder, limits=how.pop("limits", SMALL))
    path.with_suffix(".places").write_bytes(places.getvalue())
    return out.getvalue(), OriginalPositions(path.with_suffix(".places")).of(1, count).tolist()


def rows_of(data: bytes, dialect: Dialect) -> list[bytes]:
    return [data[each.start : each.end] for each in records(data, dialect)]


def expected(rows: list[bytes], number_of) -> list[bytes]:
    """In the order of their numbers, those without one behind; the last stays the last if it has no line end."""
    last = [] if rows and rows[-1].endswith((b"\n", b"\r")) else rows[-1:]
    others = rows[: len(rows) - len(last)]
    with_number = [row for row in others if number_of(row) is not None]
    return sorted(with_number, key=number_of) + [row for row in others if number_of(row) is None] + last


LINE_ENDS = ["\n", "\r\n", "\r", ANY_LINE_END]
CELLS = st.sampled_from(["", "x", "é", 'a "b"', "two\nlines", "a,b", " 5", "7"])
ODD_NUMBERS = ["", "x", "+4", " 3", str(-(2**63)), str(2**63 - 1)]
NUMBERS = st.one_of(st.integers(-30, 30).map(str), st.sampled_from(ODD_NUMBERS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sorting")


def written(cell: str, dialect: Dialect) -> str:
    cell = cell.replace("\n", "\n" if dialect.line_end == ANY_LINE_END else dialect.line_end)
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in '",\r\n') else cell


class TestSort:
    @examples(150)
    @given(
        rows=st.lists(st.tuples(NUMBERS, CELLS), max_size=60),
        line_end=st.sampled_from(LINE_ENDS),
        ended=st.booleans(),
        block=st.sampled_from([BLOCK_BYTES, 24]),
    )
    def test_any_file_is_sorted_in_buckets_of_any_size(self, folder, rows, line_end, ended, block):
        dialect = replace(HEADERLESS, line_end=line_end)
        end = "\n" if line_end == ANY_LINE_END else line_end
        text = end.join(f"{number},{written(cell, dialect)}" for number, cell in rows) + (end if rows and ended else "")
        data = text.encode()

        def number_of(row: bytes) -> int | None:
            value = fields(row, dialect)[0].strip()
            return int(value) if value.lstrip(b"+-").isdigit() else None

        # What is larger than a block stays in the file until it is written.
        with patch("importer.engine.source.records.blocks.BLOCK_BYTES", block):
            limits = replace(SMALL, block=block)
            copy, places = sorted_copy(folder, data, key_of("bigint", "text"), dialect, limits=limits)
        wanted = expected(rows_of(data, dialect), number_of)
        assert rows_of(copy, dialect) == wanted
        # Each place names the record that is there, and none comes twice.
        stands = {each.start: (number, each.line) for number, each in enumerate(records(data, dialect), start=1)}
        assert [stands[offset] for _, _, offset in places] == [(row, line) for row, line, _ in places]
        assert [data[offset : offset + len(row)] for (_, _, offset), row in zip(places, wanted, strict=True)] == wanted
        assert len({row for row, _, _ in places}) == len(wanted)

    def test_a_header_and_what_comes_before_stay(self, folder):
        copy, places = sorted_copy(folder, b"id,v\n3,a\n1,b\n2,c\n", key_of("int", "int"), start=5)
        assert copy == b"id,v\n1,b\n2,c\n3,a\n"
        assert places == [[2, 3, 9], [3, 4, 13], [1, 2, 5]]

    def test_one_key_more_often_than_a_bucket_holds(self, folder):
        data = b"".join(b"%d,%d\n" % (5 if n % 3 else n % 11, n) for n in range(300))
        copy, _ = sorted_copy(folder, data, key_of("int", "int"))
        assert copy.splitlines() == sorted(data.splitlines(), key=lambda row: int(row.split(b",")[0]))

    def test_borders_that_fit_badly(self, folder):
        """The sample sees the file's beginning and a part of what follows: nearly all keys fall into one bucket."""
        data = b"".join(b"%d,%s\n" % (n, b"x" * 40) for n in [*range(2000), *range(5000, 4000, -1)])
        limits = SortLimits(unit=3000, bucket=5000, largest_bucket=6000, buckets=2)
        copy, _ = sorted_copy(folder, data, key_of("int", "text"), limits=limits)
        assert [int(row.split(b",")[0]) for row in copy.splitlines()] == [*range(2000), *range(4001, 5001)]

    def test_a_line_feed_after_a_carriage_return_stays_a_line_of_its_own(self, folder):
        dialect = replace(HEADERLESS, line_end=ANY_LINE_END, blank_lines="keep")
        data = b"2\r\n1\r\n\n3\n\n0\r"
        copy, places = sorted_copy(folder, data, key_of("varchar(5)"), dialect)
        assert sorted(rows_of(copy, dialect)) == sorted(rows_of(data, dialect))
        assert len(places) == 6

    def test_blank_lines_that_are_no_rows_are_left_out(self, folder):
        copy, places = sorted_copy(folder, b"\n2,a\n\n\n1,b\n", key_of("int", "text"))
        assert copy == b"1,b\n2,a\n"
        assert places == [[2, 5, 7], [1, 2, 1]]

    def test_an_escaped_line_end_at_the_end_escapes_nothing_else(self, folder):
        dialect = Dialect(delimiter="\t", quote="", escape="\\", header=False)
        data = b"3\ta\\\nb\n1\tc\n2\td\\\n"
        copy, _ = sorted_copy(folder, data, key_of("int", "text"), dialect)
        assert copy == b"1\tc\n3\ta\\\nb\n2\td\\\n"

    def test_a_record_larger_than_a_block(self, folder):
        large = b'2,"' + b"x\n" * 300_000 + b'"\n'
        copy, places = sorted_copy(folder, b"3,a\n" + large + b"1,b\n", key_of("int", "text"), limits=SortLimits())
        assert copy == b"1,b\n" + large + b"3,a\n"
        assert [line for _, line, _ in places] == [300_003, 2, 1]

    def test_a_file_without_records_gives_an_empty_copy(self, folder):
        assert sorted_copy(folder, b"a,b\n", key_of("int", "int"), start=4) == (b"a,b\n", [])

    def test_bytes_that_are_not_in_the_encoding_move_like_others(self, folder):
        copy, _ = sorted_copy(folder, b"2,\xe9\n1,b\n", key_of("int", "text"))
        assert copy == b"1,b\n2,\xe9\n"
        with pytest.raises(RecordUnreadable, match="0xE9"):
            sorted_copy(folder, b"2,a\n1,\xe9\n", key_of("int", "text"), tolerate=False)

    @pytest.mark.parametrize("bad", [b'2,"a"b\n', b'2,"a\n'])
    def test_a_quote_that_hides_where_records_end(self, folder, bad):
        data = b"3,a\n" + bad + b"1,b\n" * 20
        dialect = replace(HEADERLESS, width=2)
        with pytest.raises(Unsortable, match="line 2"):
            sorted_copy(folder, data, key_of("int", "text"), dialect)
        with pytest.raises(RecordUnreadable, match="line 2"):
            sorted_copy(folder, data, key_of("int", "text"), dialect, tolerate=False)


class TestKeys:
    """What a key's bytes order by, for each kind of column."""

    @pytest.mark.parametrize(
        ("type_", "ascending"),
        [
            ("int", ["-10", "-9", " -1", "0", "+1", "02", "10", "999"]),
            ("bigint unsigned", ["0", "9", "18446744073709551615"]),
            ("decimal(9,7)", ["-10.5", "-10.25", "-0.5", "0", "0.25", ".5", "0.75", "1", "10.125"]),
            ("datetime", ["2024-01-31 00:00:00", "2024-02-01", "2024-02-01 10:00:00"]),
            ("varchar(20)", ["", "a", "B", "bb", "c"]),
            ("varbinary(20)", ["B", "a", "b"]),
        ],
    )
    def test_keys_have_the_order_of_their_column_type(self, folder, type_, ascending):
        data = "".join(f"{value},{at}\n" for at, value in enumerate(ascending)).encode()
        shuffled = b"".join(sorted(data.splitlines(keepends=True), key=hash_of))
        assert sorted_copy(folder, shuffled, key_of(type_, "int"))[0] == data

    @examples(150)
    @given(st.lists(st.decimals(-9999, 9999, places=4), unique=True))
    def test_decimals_are_sorted_by_value(self, folder, numbers):
        data = "".join(f"{number:f}\n" for number in numbers).encode()
        copy, _ = sorted_copy(folder, data, key_of("decimal(8,4)"))
        assert [Decimal(row.decode()) for row in copy.splitlines()] == sorted(numbers)

    def test_columns_one_after_the_other(self, folder):
        data = b"1,b,2\n2,a,1\n1,b,1\n1,a,9\n"
        copy, _ = sorted_copy(folder, data, key_of("int", "varchar(9)", "int", key="abc"))
        assert copy == b"1,a,9\n1,b,1\n1,b,2\n2,a,1\n"

    def test_marks_that_are_read_one_record_at_a_time(self, folder):
        dialect = replace(HEADERLESS, delimiter="||")
        copy, _ = sorted_copy(folder, b'20||x\n"3"||y\nz\n-1||"a||b"\n', key_of("int", "text"), dialect)
        assert copy == b'-1||"a||b"\n"3"||y\n20||x\nz\n'

    def test_a_key_that_is_not_in_the_file_as_it_is(self):
        column = Column("a", "int", False, None, True, False)
        table = Table("s", "t", "InnoDB", (column,), (Key("PRIMARY", ("a",), True),))
        with pytest.raises(Unsortable, match="a, with which the primary key begins"):
            SortKey.of(table, [ColumnMapping("b")])
        with pytest.raises(Unsortable, match="no primary key"):
            SortKey.of(replace(table, keys=()), [ColumnMapping("a")])
        with pytest.raises(Unsortable):
            SortKey.of(table, [ColumnMapping("a", transforms=("trim",))])

    def test_a_sort_key_survives_json(self):
        key = key_of("int", "varchar(9)", key="ab")
        assert from_json(SortKey, to_json(key)) == key


class TestKeyOrder:
    def look(self, folder, numbers) -> str:
        data = b"".join(b"%d,%s\n" % (number, b"x" * 80) for number in numbers)
        path = folder / "ordered"
        path.write_bytes(data)
        with open_source(path) as fd:
            order = key_order(fd, HEADERLESS, key_of("int", "text"), 0, len(data))
        return order.description

    def test_a_sample_tells_whether_keys_are_in_order(self, folder):
        count = 20_000
        assert self.look(folder, range(count)) == "in order"
        assert self.look(folder, [n ^ 5 for n in range(count)]) == "nearly in order"
        assert self.look(folder, [n * 7919 % count for n in range(count)]) == "not in order"

    def test_too_few_rows_have_no_key_order(self, folder):
        path = folder / "few"
        path.write_bytes(b"1,a\n")
        with open_source(path) as fd:
            assert key_order(fd, HEADERLESS, key_of("int", "text"), 0, 4) is None


def hash_of(row: bytes) -> int:
    """Some order that is not the file's."""
    return sum(row) * 31 % 17


def test_a_copy_has_the_records_that_the_scan_finds(folder):
    data = b"".join(b'%d,"a\n""%d"""\n' % (n * 37 % 101, n) for n in range(500))
    copy, _ = sorted_copy(folder, data, key_of("int", "text"))
    path = folder / "copy"
    path.write_bytes(copy)
    with open_source(path) as fd:
        found = [block.rows(0, block.size) for block in blocks(fd, HEADERLESS, 0, 1, len(copy))]
    assert sum(found) == 500
