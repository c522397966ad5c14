"""A new table's types are checked against the whole file, with the same result as a check of each value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.type_inference import TypeTracker
from importer.engine.source.dialect import MYSQL_TSV, RFC4180, Dialect
from importer.engine.validation.type_widening import (
    FileScan,
    TypeMismatch,
    describe_changes,
    find_mismatches,
    widen_types,
)
from tests.engine.reference import in_file
from tests.examples import examples

TYPES = ["tinyint", "int", "int unsigned", "bigint", "decimal(5,2)", "double", "date", "datetime", "datetime(3)",
         "time", "timestamp", "char(3)", "varchar(4)", "text", "json", "varbinary(3)"]  # fmt: skip
VALUES = ["0", "7", "-7", "007", "128", "3000000000", "1.5", "-1.25", "1.255", "0.5", "00.5", "1234567.5", "1e3", "NA",
          "", "2024-02-29", "2024-02-31", "2024-01-02 03:04:05", "2024-01-02T03:04", "2024-01-02 03:04:05.25",
          "2024-01-02 03:04:05.000", "2024/01/02", "1e-05", "5.0", "+7", " 7",
          "0.30000000000000004", "00.30000000000000004", "12:34:56",
          "abc", "abcd", "abcde", "ab ", "éé", "ééééé", "[1]"]  # fmt: skip


def table_of(*types: str, widen: bool = True) -> NewTable:
    columns = tuple(NewColumn(f"c{number}", type_) for number, type_ in enumerate(types))
    return NewTable("s", "t", columns, widen=widen)


def mapping_of(table: NewTable, *markers: str, **how: str) -> list[ColumnMapping]:
    return [ColumnMapping(each.name, null_markers=markers, **how) for each in table.columns]


def mismatches_in(
    text: str, table: NewTable, mapping: list[ColumnMapping], block_bytes: int = 64, dialect: Dialect = RFC4180
) -> dict[str, TypeMismatch]:
    data = text.encode()
    with in_file(data) as fd:
        return find_mismatches(FileScan(fd, dialect, 0, 1, len(data), block_bytes=block_bytes), table, mapping)


@examples(400)
@given(
    types=st.lists(st.sampled_from(TYPES), min_size=2, max_size=3),
    picks=st.lists(st.tuples(*[st.sampled_from(VALUES)] * 3), min_size=1, max_size=30),
    markers=st.sampled_from([(), ("",), ("NA",), ("", "NA")]),
    block_bytes=st.sampled_from([64, 256, 65536]),
)
def test_mismatches_are_those_of_a_check_of_each_value(types, picks, markers, block_bytes):
    table = table_of(*types)
    rows = [pick[: len(types)] for pick in picks]
    text = "".join(",".join(row) + "\n" for row in rows)
    wanted = {}
    for number, type_ in enumerate(types):
        values = [row[number] for row in rows]
        tracker = tracker_of(values, markers)
        if not tracker.fits(type_):
            first = next(at for at, value in enumerate(values) if not tracker_of([value], markers).fits(type_))
            wanted[f"c{number}"] = TypeMismatch(tracker.type, first + 1, values[first])
    assert mismatches_in(text, table, mapping_of(table, *markers), block_bytes) == wanted


def tracker_of(values: list[str], markers: tuple[str, ...]) -> TypeTracker:
    tracker = TypeTracker()
    tracker.take(values, frozenset(markers))
    return tracker


def test_mismatch_in_the_first_block_is_reported_with_its_line():
    table = table_of("int", "varchar(16)", widen=False)
    mismatches = mismatches_in("1,a\n2,b\nx,c\n4,d\n", table, mapping_of(table), 1 << 20)
    assert mismatches == {"c0": TypeMismatch("varchar(16)", 3, "x")}
    with pytest.raises(Problem, match="'x' does not fit c0 int; the whole file needs") as caught:
        widen_types(table, mismatches)
    assert caught.value.where == "line 3, column c0"


def test_types_of_columns_with_a_format_or_transform_are_left_to_the_load():
    table = table_of("date", "int")
    for how in ({"datetime_format": "%d.%m.%Y"}, {"transforms": ("trim",)}):
        assert mismatches_in("31.12.2024,x\n", table, mapping_of(table, **how)) == {}


@pytest.mark.parametrize("odd", ["", "x\t1\n"])
def test_null_of_the_dialect_fits_every_type(odd):
    """In a block with or without an unusual value."""
    table = table_of("varchar(1)", "int")
    text = "a\t1\n" * 9 + odd + "\\N\t\\N\n"
    assert mismatches_in(text, table, mapping_of(table), 65536, MYSQL_TSV) == {}


def test_types_ignore_rows_with_a_wrong_number_of_fields():
    table = table_of("int", "int")
    assert mismatches_in("1,2\n1,2,x\nx\n3,4\n", table, mapping_of(table)) == {}


def test_changed_types_are_described_with_their_reasons():
    before = table_of("int", *["varchar(1000)"] * 20)
    mismatches = {"c0": TypeMismatch("varchar(16)", 7, "x")}
    after = widen_types(before, mismatches)
    reasons = dict(describe_changes(before, after, mismatches))
    assert reasons.pop("c0 is varchar(16), not int") == "line 7 has 'x'"
    assert set(reasons.values()) == {"rows could be too large otherwise"}
