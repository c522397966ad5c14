"""The values of a large record, in pieces, are those that are read at once; and they are judged in the same way."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from importer.engine.source.records import large_values
from importer.engine.source.records.fields import fields, values
from importer.engine.source.records.large_values import shown_values
from importer.engine.validation.converted_rules import FieldCheck
from importer.engine.validation.field_check import CellRule
from tests.engine.validation.test_validator import DIALECTS
from tests.examples import examples


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_values, "PIECE", 3)
    monkeypatch.setattr("importer.engine.validation.field_check.PIECE", 3)


RECORDS = st.lists(
    st.sampled_from([b'"', b'""', b",", b"|", b"||", b"\t", b"\\", b"\\N", b'\\"', b"ab", b"\xc3\xa9"]), max_size=12
)


@examples(600)
@given(dialect=st.sampled_from(DIALECTS), parts=RECORDS, ended=st.booleans())
@example(DIALECTS[0], [b'"', b'""', b'""', b"ab", b'"'], True)
def test_large_values_in_pieces_are_those_read_at_once(dialect, parts, ended):
    record = b"".join(parts) + (dialect.line_end.encode() if ended and dialect.line_end != "any" else b"")
    found = [None if each is None else each.whole() for each in large_values.large_values(record, dialect)]
    assert found == values(record, dialect)
    shown, count = shown_values(record, dialect, 2, 4)
    assert count == len(found)
    if not dialect.unquoted_empty_is_null:
        assert shown == [each[:4] for each in fields(record, dialect)[:2]]


TYPES = (
    "varchar(5)",
    "char(5)",
    "tinytext",
    "longtext",
    "varbinary(5)",
    "binary(5)",
    "longblob",
    "int",
    "json",
)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    "value",
    [
        "ab",
        "abcde",
        "abcdef",
        "abcde  ",
        "abcd  ",
        "ééééé",
        "éééééé",
        "12",
        "12345",
        "1.50000",
        "2024-01-02",
        "[1, 2, 3]",
    ],
)
def test_large_values_are_judged_as_those_read_at_once(type_, value):
    judge = CellRule.of(FieldCheck("a", type_), mariadb=False, encoding="utf-8")
    raw = value.encode()
    for record in (raw, b'"' + raw + b'"'):
        (large,) = large_values.large_values(record.replace(b",", b";"), DIALECTS[0])
        assert large is not None
        assert judge.verdict_of_large(large) == judge.verdict(raw.replace(b",", b";"))
