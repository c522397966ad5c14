"""A conversion on the way into a column skips no check: trimmed, with NULL markers and formatted values are checked as
plain ones are.
"""

from dataclasses import replace

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.source.dialect import Dialect
from tests.engine.load.values import REJECT, came_of

DIALECT = Dialect(delimiter=";", header=False)

# By type: values that are fine, stored with a notice, and refused.
CHECKS = {
    "INT": ["12", "5.0", "1.5", "1e3", "12abc", "99999999999", ""],
    "INT UNSIGNED": ["12", "-1"],
    "DECIMAL(5,2)": ["1.25", "1.256", "-1.001", "1e1", "1234.5", "x"],
    "DECIMAL(5,2) UNSIGNED": ["1.25", "1.256", "-1.25"],
    "FLOAT": ["1.5", "16777217", "nan"],
    "DOUBLE": ["1.5", "1234567890123456789", "x"],
    "YEAR": ["2024", "24", "0", "2024.5"],
    "DATE": ["2024-01-31", "20240131", "2024-02-30", "24-01-31", "2024-01-31 10:00:00", "2024-01-31 00:00:00"],
    "DATETIME": ["2024-01-31 10:11:12", "2024-01-31 10:11:12.5", "2024-01-31 25:00:00", "2024-01-31T10:11:12Z"],
    "DATETIME(3)": ["2024-01-31 10:11:12.125", "2024-01-31 10:11:12.1254"],
    "TIMESTAMP NULL": ["2024-01-31 10:11:12", "2024-01-31 10:11:12.5", "1960-01-31 10:11:12"],
    "TIME": ["10:11:12", "10:11:12.5", "12", "839:00:00"],
    "CHAR(3)": ["abc", "abcd", "a"],
    "VARCHAR(3)": ["abc", "abcd", ""],
    "ENUM('x','y','2')": ["y", "Y", "2", "1", "z"],
    "SET('a','b')": ["b,a", "A", "3", "c"],
    "BINARY(4)": ["abcd", "ab", "abcde"],
    "VARBINARY(3)": ["abc", "abcd"],
    "JSON": ['{"a": 1}', "{", '{"a": 123456789012345678901234567890.5}'],
    "POINT": ["x"],
}
CONVERSIONS = {
    "trim": (ColumnMapping("x", transforms=("trim",)), "{}"),
    "trim both ends": (ColumnMapping("x", transforms=("trim",)), " \t{}\u00a0 "),
    "trim the end": (ColumnMapping("x", transforms=("trim-right",)), "{}  "),
    "NULL marker": (ColumnMapping("x", ("?",)), "{}"),
    "trim and NULL marker": (ColumnMapping("x", ("?",), "", ("trim",)), " {} "),
}


def outcome(database: Address, tmp_path, type_: str, values: list[str], mapping: ColumnMapping, **options):
    """The stored values, the notices, and the row and code of each reject."""
    data = "".join(f'{row};"{value.replace(chr(34), chr(34) * 2)}"\n' for row, value in enumerate(values, 1))
    asked = replace(REJECT, **options)
    came = came_of(
        database, tmp_path, f"n INT, x {type_}", data, mapping=("n", mapping), dialect=DIALECT, options=asked
    )
    return came.rows, came.notices, [(row, code) for row, _, _, code in came.rejects]


@pytest.mark.one_of("rounding")
@pytest.mark.parametrize("rounding", ["notice", "reject"])
@pytest.mark.parametrize("type_", CHECKS)
def test_each_check_is_the_same_after_a_conversion(database: Address, tmp_path, type_: str, rounding: str):
    values = CHECKS[type_]
    plain = outcome(database, tmp_path, type_, values, ColumnMapping("x"), rounding=rounding)
    for name, (mapping, written) in CONVERSIONS.items():
        converted = [written.format(value) for value in values]
        assert (name, outcome(database, tmp_path, type_, converted, mapping, rounding=rounding)) == (name, plain)


@pytest.mark.parametrize(
    ("type_", "mapping", "plain", "converted"),
    [
        ("DECIMAL(9,2)", "decimal-comma", ["1.25", "1.256", "-1.001", "7"], ["1,25", "1,256", "-1,001", "7"]),
        ("DECIMAL(9,2)", "thousands-dot", ["1234.25", "1234.256", "1234567"], ["1.234,25", "1.234,256", "1.234.567"]),
        ("DECIMAL(9,4)", "thousands-dot", ["1234.25", "1234.25678"], ["1.234,25", "1.234,25678"]),
        ("DECIMAL(9,0)", "thousands-comma", ["1234", "1234.5"], ["1,234", "1,234.5"]),
        ("DECIMAL(9,2)", "thousands-space", ["1234.5", "1234.567"], ["1\u202f234,5", "1\u202f234,567"]),
        ("FLOAT", "decimal-comma", ["1.5", "0.123456789"], ["1,5", "0,123456789"]),
        ("CHAR(3)", "lower", ["abc", "ab "], ["ABC", "AB "]),
        ("BINARY(2)", "hex", ["ab", "a"], ["6162", "61"]),
        ("BINARY(2)", "hex", ["ab", "a"], ["0x6162", "0x61"]),
        ("DATETIME", "%d.%m.%Y %H:%i:%s.%f", ["2024-01-31 10:11:12.5"], ["31.01.2024 10:11:12.5"]),
        ("TIME", "%H.%i.%s.%f", ["10:11:12.5"], ["10.11.12.5"]),
    ],
)
@pytest.mark.one_of("rounding")
@pytest.mark.parametrize("rounding", ["notice", "reject"])
def test_converted_value_is_checked_as_the_plain_one(
    database: Address, tmp_path, type_, mapping, plain, converted, rounding
):
    read = ColumnMapping("x", datetime_format=mapping) if "%" in mapping else ColumnMapping("x", transforms=(mapping,))
    wanted = outcome(database, tmp_path, type_, plain, ColumnMapping("x"), rounding=rounding)
    assert outcome(database, tmp_path, type_, converted, read, rounding=rounding) == wanted
    assert wanted[1] or wanted[2]
