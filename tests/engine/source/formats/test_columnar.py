"""Parquet and Arrow files: values of all types as text."""

import datetime
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from importer.engine.errors import SourceProblem
from importer.engine.mapping.new_table.suggestion import suggest_table
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.source.profile.profile import profile_file
from tests.engine.source.formats.copies import copied
from tests.engine.tables import table as table_of

MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 59, 123456)
ZONE = datetime.timezone(datetime.timedelta(hours=2))
COLUMNS: dict[str, tuple[pa.DataType, object, str]] = {
    "big": (pa.uint64(), 2**64 - 1, "18446744073709551615"),
    "real": (pa.float64(), 0.1, "0.1"),
    "short": (pa.float32(), 0.1, "0.1"),
    "money": (pa.decimal128(38, 9), Decimal("0.000000010"), "0.000000010"),
    "text": (pa.string(), "a\tb\\N\né", "a\tb\\N\né"),
    "word": (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
    "bytes": (pa.binary(), b"\x00\xff", "0x00ff"),
    "day": (pa.date32(), MOMENT.date(), "2024-02-29"),
    "moment": (pa.timestamp("us"), MOMENT, "2024-02-29 23:59:59.123456"),
    "zoned": (pa.timestamp("us", "Europe/Berlin"), MOMENT.replace(tzinfo=ZONE), "2024-02-29 21:59:59.123456Z"),
    "clock": (pa.time64("us"), MOMENT.time(), "23:59:59.123456"),
    "truth": (pa.bool_(), True, "true"),
    "many": (pa.list_(pa.int64()), [1, None], "[1, null]"),
    "whole": (
        pa.struct([("a", pa.string()), ("d", pa.decimal128(5, 2))]),
        {"a": "ü", "d": Decimal("1.10")},
        '{"a": "ü", "d": "1.10"}',
    ),
}


def table(rows: int = 1) -> pa.Table:
    """Each row has all values, and a last one has none."""
    schema = pa.schema([(name, type_) for name, (type_, _, _) in COLUMNS.items()])
    values = {name: [value] * rows + [None] for name, (_, value, _) in COLUMNS.items()}
    return pa.table(values, schema)


def write_parquet(path: Path, written: pa.Table) -> Path:
    parquet.write_table(written, path, row_group_size=5000)
    return path


def write_arrow(path: Path, written: pa.Table) -> Path:
    with pa.OSFile(str(path), "wb") as out, ipc.new_file(out, written.schema) as writer:
        writer.write_table(written)
    return path


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
def test_values_of_all_types_are_their_texts(tmp_path: Path, write):
    path = write(tmp_path / "file", table())
    texts = tuple(text for _, _, text in COLUMNS.values())
    assert copied(path) == [tuple(COLUMNS), texts, (r"\N",) * len(COLUMNS)]
    types = next(each for each in profile_file(path).decisions if each.name == "types")
    assert "money decimal128(38, 9)" in types.evidence


def test_the_types_of_a_new_table_are_those_of_the_file(tmp_path: Path):
    path = write_parquet(tmp_path / "file", table())
    types = {each.name: each.type for each in suggest_table("shop", "t", profile_file(path)).columns}
    stated = {"big": "bigint unsigned", "real": "double", "money": "decimal(38,9)", "day": "date"}
    assert {name: types[name] for name in stated} == stated
    assert types["moment"] == "datetime(6)"
    digits = write_arrow(tmp_path / "digits", pa.table({"code": ["12", "2024"], "n": pa.array([1, 2], pa.int16())}))
    assert [each.type for each in suggest_table("shop", "t", profile_file(digits)).columns][1] == "smallint"
    assert suggest_table("shop", "t", profile_file(digits)).columns[0].type.startswith("varchar")


BYTES = [
    pa.binary(),
    pa.large_binary(),
    pa.binary(2),
    pa.binary_view(),
    pa.dictionary(pa.int8(), pa.binary()),
    pa.uuid(),
]


@pytest.mark.parametrize("type_", BYTES, ids=str)
def test_columns_of_bytes_are_read_as_such_where_the_sample_has_none(tmp_path: Path, type_: pa.DataType):
    written = pa.table({"n": pa.array([1], pa.int8()), "b": pa.array([None], type_)})
    profile = profile_file(write_arrow(tmp_path / "file", written))
    assert profile.of_bytes == {1}
    assert [each.transforms for each in suggest_mapping(profile, table_of(n="int", b="blob"))] == [(), ("hex",)]


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
def test_rows_of_several_groups_are_numbered_on(tmp_path: Path, write):
    path = write(tmp_path / "file", table(12_000).select(["big", "text"]))
    assert len(copied(path)) == 12_002
    assert profile_file(path).lines[:3] == (1, 2, 3)


def test_a_type_that_no_column_has_is_refused_by_name(tmp_path: Path):
    written = pa.table({"id": [1], "took": pa.array([5], pa.duration("s"))})
    path = write_arrow(tmp_path / "file", written)
    with pytest.raises(SourceProblem, match=r"took has the type duration\[s\]"):
        profile_file(path)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ([1], pa.list_(pa.timestamp("ns"))),
        ({"at": 2**62}, pa.struct([("at", pa.timestamp("us"))])),
        ([1], pa.list_(pa.time64("ns"))),
        ([2**40], pa.list_(pa.timestamp("s", "Nowhere/Land"))),
    ],
    ids=lambda each: str(each) if isinstance(each, pa.DataType) else "",
)
def test_a_time_in_a_list_that_cannot_be_read_is_reported_with_its_column(tmp_path: Path, value: object, type_):
    written = pa.table({"id": [1], "times": pa.array([value], type_)})
    with pytest.raises(SourceProblem, match="column times has a value in a list"):
        copied(write_arrow(tmp_path / "file", written))


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
def test_a_cut_file_is_refused(tmp_path: Path, write):
    path = write(tmp_path / "file", table())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SourceProblem, match="cannot be read"):
        profile_file(path)


def test_without_the_optional_package_the_advice_names_it(tmp_path: Path, monkeypatch):
    path = write_parquet(tmp_path / "file", table())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SourceProblem, match="need the package pyarrow") as refused:
        profile_file(path)
    assert "pipx inject millrace pyarrow" in refused.value.advice
