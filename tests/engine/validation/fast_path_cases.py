"""Values as files have them, and helpers that run native/src/fast_path.c on records with them."""

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import pytest

from importer.engine.native import loader
from importer.engine.source.dialect import MYSQL_TSV, Dialect
from importer.engine.source.records.blocks import Block, blocks
from importer.engine.validation import ValidationRules
from importer.engine.validation.fast_path import FastPath
from tests.engine.reference import in_file

needs_library = pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")

NUMBERS = ["0", "-0", "7", "-7", "007", "127", "128", "-128", "-129", "255", "256", "99999", "2147483647", "2147483648",
           "-2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
           "12345678", "123456789012345678901234567890", "1.5", "-1.25", "1.255", "0.123456", "0.1234567", "1234567.5",
           "1.", ".5", "-.5", "-", "--1", "+1", "1e3", " 1", "1 ", "", "1234567x", "999.99", "1000.00",
           "-0.30000000000000004", "0.99999999999999999", "9.007199254740901", "-122.41941550000001",
           "100000000000000000.5", "90071992547409930",
           "1e-05", "1.5e+300", "1e400", "1e-400", "5e-324", "0e5", "-1.25E2", "1.e5", "1e", "e5", "1e5.5",
           " 17", "  -5", "  ", " +5", "+", "+-5", "-+5", "5.0", "5.", "+5.00", "-1.0", "-0.0", "1.05",
           "5.0.0", ".0", "-.0", "127.0", "128.0", "- 5", f"{17:25}", f"{17:32}", f"{7:030}.0"]  # fmt: skip
TIMES = ["2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-04-31", "2024-12-31", "2024-13-01", "2024-00-10",
         "2024-01-00", "24-1-2", "2024-01-02 23:59:59", "2024-01-02T23:59:59", "2024-01-02 24:00:00",
         "2024-01-02 03:60:00", "2024-01-02 03:04:60", "2024-01-02 03:04:05.5", "1969-01-02 03:04:05", "2024/01/02",
         "12:34:56", "99:59:59", "12:60:00", "12:34", "1999", "2155", "1899", "2156", "0000", "0000-00-00",
         "2024-01-00 03:04:05", "2024-00-10 03:04:05", "2024-13-01 03:04:05", "2024-04-31 03:04:05",
         "2023-02-29 03:04:05", "2024-02-30 03:04:05", "2024-02-29 03:04:05", "2024-12-31 23:59:59",
         "2024-01-02x03:04:05", "2024-01-02 03:04-05",
         "2024-01-02 03:04", "2024-01-02T03:60", "2024-01-02 24:00", "2024-01-02 03:04:05.", "2024-01-02 03:04:05.12",
         "2024-01-02T03:04:05.120", "2024-01-02 03:04:05.123456", "2024-01-02 03:04:05.000000",
         "2024-01-02 03:04:05.0000000", "2024-01-02 03:04:05.1200000", "2024-01-02 03:04:05.12x",
         "2024/01/02 03:04:05.12", "2024/02/30",
         "2024/1/02", "2024-01/02", "2024-01-02 ", "2024-01-02 03:04:05Z", "2024-01-02 03:04:05+00:00",
         "1970-01-01 00:00:00.5",
         "2024-01-02x03:04", "12:34:56.1", "12:34:56.12", "12:34:56.123", "12:34:56.", "99:59",
         "12:60", "12:34.5"]  # fmt: skip
TEXTS = ["abcd", "abcde", "abcd ", "ab ", " ", "éé", "ééé", "red", "Red", "blue", "NULL", "NA", "a,b", 'a"b', "", "7"]
ESCAPED = [r"\N", r"\NULL", r"N\ULL", r"\1", r"1\2", r"a\tb", r"ab\ ", r"\\N", r"abc\d", r"re\d", r"\"a", r"\N ",
           "a\\\tb", r"a\\", "ab\\", "a\\,b", r"\-7", r"2024-01-0\2", "|", "a|", "|a", "~|"]  # fmt: skip
VALUES = [*NUMBERS, *TIMES, *TEXTS, *ESCAPED]
# Types, each with a value that is usual for it.
USUAL = {
    "tinyint": "127", "tinyint unsigned": "255", "int": "2147483647", "bigint unsigned": "18446744073709551615",
    "decimal(5,2)": "-1.25", "decimal(5,2) unsigned": "999.99", "float": "0.1234567", "double": "-0.30000000000000004",
    "date": "2024-02-29", "datetime": "2024-01-02T23:59:59", "timestamp": "2024-01-02 23:59:59", "time": "99:59:59",
    "float(7,2)": "999.99", "double(9,3)": "1.255", "double(9,3) unsigned": "99999", "float(5,3)": "-7",
    "datetime(6)": "2024-01-02 03:04:05.123456", "datetime(2)": "2024-01-02T03:04:05.120", "time(2)": "12:34:56.12",
    "timestamp(3)": "2024-01-02T03:04:05.120", "int unsigned": "+5.00", "smallint": "  -5", "mediumint": "5.0",
    "year": "1999", "char(4)": "abcd", "varchar(4)": "ab ", "enum('red','blue')": "blue", "varbinary(4)": "abcd",
}  # fmt: skip
DIALECTS = (
    Dialect(),
    Dialect(line_end="\r\n"),
    MYSQL_TSV,
    Dialect(escape="\\"),
    Dialect(trailing_delimiter=True),
    Dialect(unquoted_empty_is_null=True),
    Dialect(escape="\\", unquoted_empty_is_null=True, trailing_delimiter=True),
    Dialect(delimiter="||"),
    Dialect(delimiter="|~|", escape="\\", trailing_delimiter=True),
    Dialect(delimiter="東", quote=""),
)


def block_of(data: bytes, dialect: Dialect) -> Block:
    with in_file(data) as fd:
        (block,) = blocks(fd, dialect, 0, 1, len(data))
    return block


def all_usual(fast_path: FastPath, data: bytes) -> bool:
    return fast_path.are_all_usual(SimpleNamespace(data=data, size=len(data)))


def is_usual(validation: ValidationRules, data: bytes) -> bool:
    """Whether all records are usual. If they are, also assert that they have no fault or notice."""
    fast_path = validation.validator.fast_path
    assert fast_path
    if not all_usual(fast_path, data):
        return False
    findings = validation.validator.examine_one_by_one(block_of(data, validation.dialect))
    assert not any((findings.faults, findings.notices, findings.noted))
    return True


def records_of(block: Block) -> Iterator[tuple[int, int]]:
    """The begin and end of each record of a block."""
    return pairwise([0, *block.ends.as_array().tolist()])
