"""A new table's types are checked against the whole file, with the same result as a check of each value."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import BadRow, Problem, RowsRefused
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.new_table.typed_values import is_few, is_value_of
from importer.engine.schema.column_types import column_type
from importer.engine.schema.new_table import NewColumn, NewTable
from importer.engine.schema.table import Column
from importer.engine.schema.type_inference import TypeTracker, scale_of
from importer.engine.source.dialect import MYSQL_TSV, RFC4180, Dialect
from importer.engine.validation.file_scan import FileScan
from importer.engine.validation.type_widening import (
    TypeMismatch,
    describe_changes,
    find_mismatches,
    map_widened,
    widen_types,
)
from tests.engine.reference import in_file
from tests.examples import examples

TYPES = ["tinyint", "int", "int unsigned", "bigint", "decimal(5,2)", "double", "date", "datetime", "datetime(3)",
         "time", "timestamp", "char(3)", "varchar(4)", "text", "json", "varbinary(3)"]  # fmt: skip
VALUES = ["0", "7", "-7", "007", "128", "3000000000", "1.5", "-1.25", "1.255", "0.5", "00.5", "1234567.5", "1e3", "NA",
          "", "2024-02-29", "2024-02-31", "2024-01-02 03:04:05", "2024-01-02T03:04", "2024-01-02 03:04:05.25",
          "2024-01-02 03:04:05.000", "2024/01/02", "1e-05", "5.0", "+7", " 7",
          "0.30000000000000004", "00.30000000000000004", "1e400", "1.234567890123456789e5", "9" * 5000, "12:34:56",
          "abc", "abcd", "abcde", "ab ", "éé", "ééééé", "[1]"]  # fmt: skip


GERMAN = {"datetime_format": "%d.%m.%Y"}
COMMA = {"transforms": ("thousands-dot",)}


def table_of(*types: str, widen: bool = True) -> NewTable:
    columns = tuple(NewColumn(f"c{number}", type_) for number, type_ in enumerate(types))
    return NewTable("s", "t", columns, widen=widen)


def mapping_of(table: NewTable, *markers: str, **how) -> list[ColumnMapping]:
    return [ColumnMapping(each.name, null_markers=markers, **how) for each in table.columns]


def mismatches_in(
    text: str, table: NewTable, mapping: list[ColumnMapping], block_bytes: int = 64, dialect: Dialect = RFC4180
) -> dict[str, TypeMismatch]:
    data = text.encode(dialect.encoding)
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
        if not tracker_of(values, markers).fits(type_):
            wanted[f"c{number}"] = mismatch_of(values, type_, markers)
    assert mismatches_in(text, table, mapping_of(table, *markers), block_bytes) == wanted


def mismatch_of(values: list[str], type_: str, markers: tuple[str, ...]) -> TypeMismatch:
    """The mismatch of a column by a check of each value."""
    column = Column("c", type_, True, None, False, False)
    present = [value for value in values if value not in markers]
    bad = [value for value in present if not is_value_of(column, value)]
    first = next(at for at, value in enumerate(values) if not tracker_of([value], markers).fits(type_))
    if bad and not is_few(len(bad), len(present)):
        return TypeMismatch(tracker_of(present, ()).type, first + 1, values[first])
    good = tracker_of([value for value in present if value not in bad], ())
    text = tracker_of(present, ()).text_type
    may_be_codes = good.bare_exponent or max(good.padded_scales, default=0) > scale_of(type_)
    wide = (
        good.type if column_type(good.type).is_typed and not (column.column_type.is_number and may_be_codes) else text
    )
    found = type_ if good.fits(type_) else wide
    if bad and column_type(found).is_typed:
        at = values.index(bad[0])
        return TypeMismatch(found, at + 1, bad[0], len(bad), len(present), text)
    return TypeMismatch(found, first + 1, values[first])


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


@pytest.mark.parametrize(
    ("type_", "how", "lines", "found"),
    [
        ("date", GERMAN, ["31.12.2024"], None),
        ("date", GERMAN, [*["31.12.2024"] * 9, "n/k"], TypeMismatch("date", 10, "n/k", 1, 10, "varchar(16)")),
        ("date", GERMAN, [*["31.12.2024"] * 9, "31.02.2024"],
         TypeMismatch("date", 10, "31.02.2024", 1, 10, "varchar(16)")),
        ("date", GERMAN, ["31.12.2024", "2024-12-31", "n/k"], TypeMismatch("varchar(16)", 2, "2024-12-31")),
        ("decimal(6,2)", COMMA, ["1.234,56", "7", "-3,5"], None),
        ("decimal(6,2)", COMMA, ["1.234,56", "1,125"], TypeMismatch("decimal(9,3)", 2, "1,125")),
        ("decimal(6,2)", COMMA, ["1.234,56", "7.654.321,00"], TypeMismatch("decimal(11,2)", 2, "7.654.321,00")),
        ("decimal(6,2)", COMMA, [*["1,00"] * 5, "1.5"], TypeMismatch("decimal(6,2)", 6, "1.5", 1, 6, "varchar(16)")),
        ("int", COMMA, ["1.234", "5,50"], TypeMismatch("decimal(8,2)", 2, "5,50")),
        ("int", {"transforms": ("trim",)}, [" 7", "8 "], None),
        ("int", {"transforms": ("trim",)}, [*[" 7"] * 4, " x"], TypeMismatch("int", 5, " x", 1, 5, "varchar(16)")),
        ("tinyint", {"transforms": ("yes-no",)}, ["yes", "perhaps"], None),
    ],
)  # fmt: skip
def test_values_of_a_column_with_a_format_or_transform_are_checked_as_they_are_read(type_, how, lines, found):
    table = table_of(type_)
    text = "".join(f"{line};\n" for line in lines)
    mismatches = mismatches_in(text, table, [*mapping_of(table, **how), ColumnMapping("")], dialect=Dialect(";"))
    assert mismatches == ({"c0": found} if found else {})


@pytest.mark.parametrize("escape", ["", "\\"])  # read by Python's csv, or record by record
@pytest.mark.parametrize(
    ("encoding", "type_", "how", "text", "found"),
    [
        ("cp1252", "decimal(6,2)", {"transforms": ("thousands-space",)}, "1\xa0234,50;\n", None),
        ("cp1251", "varchar(3)", {}, "Рґабв;\n", TypeMismatch("varchar(16)", 1, "Рґабв")),
        ("latin1", "int", {}, "7§\nabc§\n", TypeMismatch("varchar(16)", 2, "abc")),
    ],
)
def test_values_are_read_in_the_encoding_of_the_file(encoding, type_, how, text, found, escape):
    table = table_of(type_)
    dialect = Dialect("§" if "§" in text else ";", encoding=encoding, escape=escape)
    mismatches = mismatches_in(text, table, [*mapping_of(table, **how), ColumnMapping("")], dialect=dialect)
    assert mismatches == ({"c0": found} if found else {})


@pytest.mark.parametrize("escape", ["", "\\"])
@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("1;2;\n3;abc;\n", {"trailing_delimiter": True}, TypeMismatch("varchar(16)", 2, "abc")),
        ('1;2;\n3;""\n', {"trailing_delimiter": True}, TypeMismatch("varchar(16)", 2, "")),
        ('1;2;\n3;"";\n', {"trailing_delimiter": True}, TypeMismatch("varchar(16)", 2, "")),
        ("1;2\n3;\n", {"unquoted_empty_is_null": True}, None),
        ('1;2\n3;""\n', {"unquoted_empty_is_null": True}, TypeMismatch("varchar(16)", 2, "")),
    ],
)
def test_fields_are_those_of_the_dialect(text, known, found, escape):
    table = table_of("int", "int")
    mismatches = mismatches_in(text, table, mapping_of(table), dialect=Dialect(";", escape=escape, **known))
    assert mismatches == ({"c1": found} if found else {})


@pytest.mark.parametrize(
    ("type_", "values", "wide"),
    [
        ("int", ["7", "12e5"], "varchar(16)"),
        ("int", ["7", "007"], "varchar(16)"),
        ("decimal(4,1)", ["1.1", "1.10"], "varchar(16)"),
        ("decimal(6,2)", ["12.50", "1.125"], "decimal(7,3)"),
        ("int", ["7", "1.5e-3"], "double"),
        ("int", ["7", "9" * 20], "decimal(20,0)"),
        ("int", ["7", "9" * 5000], "text"),
        ("double", ["1.5e3", "1.234567890123456789"], "varchar(32)"),
        ("double", ["1.5e3", "1e-400"], "varchar(16)"),
    ],
)
def test_a_later_value_whose_text_a_number_type_would_change_makes_a_text(type_, values, wide):
    table = table_of(type_)
    assert mismatches_in("".join(f"{each}\n" for each in values), table, mapping_of(table))["c0"].type == wide


@pytest.mark.parametrize(
    ("type_", "value", "wide"),
    [("int", "007", None), ("int", "+5", None), ("decimal(9,0)", "12e5", None), ("int", "12e8", None),
     ("int", "12e9", "bigint"), ("decimal(4,1)", "1.10", "decimal(5,2)"), ("int", "1.5", "decimal(4,1)")],
)  # fmt: skip
def test_a_stated_type_takes_numbers_in_any_notation_and_never_becomes_a_text(type_, value, wide):
    table = replace(table_of(type_), stated=("c0",))
    mismatches = mismatches_in(f"1\n{value}\n", table, mapping_of(table))
    assert mismatches == ({"c0": TypeMismatch(wide, 2, value)} if wide else {})


def test_a_stated_type_keeps_its_kind_beside_any_number_of_bad_values():
    table = replace(table_of("date"), stated=("c0",))
    mismatches = mismatches_in("2024-01-01\nx\ny\n", table, mapping_of(table))
    assert mismatches == {"c0": TypeMismatch("date", 2, "x", 2, 3, "varchar(16)")}


def test_a_bad_value_stops_with_the_choice_unless_rows_are_rejected():
    table = table_of("date")
    mismatches = {"c0": TypeMismatch("date", 7, "n/k", 1, 90, "varchar(16)", ((7, "n/k"),))}
    with pytest.raises(RowsRefused, match="'n/k' does not fit c0 date: 1 of 90 values is no date") as caught:
        widen_types(table, mismatches)
    assert caught.value.where == "line 7, column c0"
    assert (caught.value.rows, caught.value.bad_rows) == ((BadRow(7, "c0", "n/k", "no date"),), 1)
    assert all(flag in caught.value.advice for flag in ("--on-error reject", "--type 'c0=varchar(16)'", "--null"))
    assert widen_types(table, mismatches, rejects=True) == table
    [(what, why)] = describe_changes(table, table, mismatches)
    assert what == "c0 is date, and rows with another value are rejected"
    assert why == "1 of 90 values do not fit, such as 'n/k' on line 7"


@pytest.mark.parametrize(("suggested", "kept"), [(("c0", "c1"), ()), (("c1",), ("", "NA")), ((), ("", "NA"))])
def test_a_column_that_becomes_a_text_loses_its_format_and_suggested_null_markers(suggested, kept):
    before = replace(table_of("date", "int"), suggested_null=suggested)
    after = widen_types(before, {"c0": TypeMismatch("varchar(16)", 7, "x")})
    null = ("", "NA")
    mapping = [ColumnMapping("c0", null, datetime_format="%d.%m.%Y"), ColumnMapping("c1", null, transforms=("trim",))]
    assert map_widened(mapping, before, after) == (ColumnMapping("c0", kept), mapping[1])


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
