"""Usual values of formatted columns are a part of those that the column stores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.new_table.typed_values import reader
from importer.engine.mapping.new_table.usual_values import usual_values
from importer.engine.schema.table import Column
from importer.engine.schema.type_inference import TypeTracker
from tests.examples import examples

FORMATS = ["%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y %H:%i", "%d.%m.%y", "%Y-%m-%dT%H:%i:%s.%fZ", "%d.%m.%Y %h:%i %p", "%H:%i"]
TRANSFORMS = ["decimal-comma", "thousands-dot", "thousands-comma", "thousands-space", "thousands-apostrophe"]
TYPES = ["date", "datetime", "datetime(3)", "tinyint", "int", "int unsigned", "bigint", "decimal(4,2)", "decimal(9,0)",
         "decimal(12,3)", "double"]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(
        ["31.12.2024", "31.02.2024", "1.1.2024", "01.01.0000", "2024/02/29", "2023/02/29", "28/02/2024 08:15",
         "1.1.2024 12:30 PM", "1.234,56", "1,234.56", "007,5", "0,5", "0", "-0", "+5", "12.345.678,9", "1'234",
         "1 234,5", "127", "128", "2.147.483.647", "9.999.999.999", "999", "1.5", "1,5", "", "x", "1,50\n"]
    ),
    st.text("0123456789.,' -+/:", max_size=14),
)  # fmt: skip


@examples(1500)
@given(st.sampled_from(FORMATS + TRANSFORMS), st.sampled_from(TYPES), TEXTS)
def test_a_usual_value_is_read_and_fits(how, type_, text):
    column = Column("c", type_, True, None, False, False)
    mapping = ColumnMapping("c", datetime_format=how) if "%" in how else ColumnMapping("c", transforms=(how,))
    usual = usual_values(mapping, column)
    if ("%" in how) != column.column_type.has_date or not usual or not usual.fullmatch(text):
        return
    read = reader(mapping, column)
    tracker = TypeTracker()
    tracker.take([read(text)], frozenset())
    assert tracker.fits(type_), read(text)


@pytest.mark.parametrize(
    ("mapping", "type_", "texts"),
    [
        (ColumnMapping("c", datetime_format="%d.%m.%Y"), "date", ["01.12.2024", "28.2.1999"]),
        (
            ColumnMapping("c", transforms=("thousands-dot",)),
            "decimal(10,2)",
            ["0,50", "-1.234,5", "1234567,00", "12.345"],
        ),
        (ColumnMapping("c", transforms=("thousands-dot",)), "int", ["0", "-1.234", "999.999.999"]),
        (ColumnMapping("c", transforms=("thousands-comma",)), "decimal(10,2)", ["1,234.56", "7"]),
    ],
)
def test_ordinary_values_are_usual(mapping, type_, texts):
    usual = usual_values(mapping, Column("c", type_, True, None, False, False))
    assert all(map(usual.fullmatch, texts))
