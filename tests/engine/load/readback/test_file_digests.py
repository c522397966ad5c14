"""native/src/digests/row_digests.c computes the digests of row_hash.py, for every dialect, length and form."""

import random
import zlib
from dataclasses import replace

import pytest

from importer.engine.load.readback.canonical_forms import canonical_form
from importer.engine.load.readback.file_digests import PADDING, Digest, FileDigests
from importer.engine.load.readback.row_hash import NULL_TEXT, factor
from importer.engine.native import loader
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.schema.table import Column
from importer.engine.source.dialect import MYSQL_TSV, Dialect

pytestmark = [
    pytest.mark.skipif(not loader.library(), reason="digests need the C library"),
    pytest.mark.usefixtures("each_build"),
]

PLAIN = Dialect(delimiter=";", header=False)

COLUMNS = (Column(f"c{at}", "varchar(9)", True, None, False, False) for at in (0, 2))
READINGS = tuple(ComparedColumn(column, at, ("NA",), "") for column, at in zip(COLUMNS, (0, 2), strict=True))
READBACK = Readback("", "", READINGS, key=(), rounding=False)


def digest(data: str, dialect: Dialect = PLAIN) -> Digest | None:
    digests = FileDigests.of(READBACK, dialect, 3)
    assert digests
    return digests.digest(data.encode() + PADDING, len(data.encode()))


def of_rows(*rows: tuple[str, str]) -> Digest:
    hashes = []
    for row in rows:
        mixed = 0
        for number, value in enumerate(row):
            mixed ^= zlib.crc32((NULL_TEXT if value == "NA" else value).encode()) * factor(number)
        hashes.append(zlib.crc32(str(mixed).encode()))
    return Digest(len(rows), sum(hashes))


def test_no_two_columns_have_one_factor():
    factors = {factor(number) for number in range(4096)}
    assert len(factors) == 4096, "a table has fewer columns (manual, Limits on Table Column Count)"
    assert max(factors) < 2**31


@pytest.mark.parametrize("length", range(20))
def test_values_of_each_length(length):
    assert digest(f"{'x' * length};-;NA\n") == of_rows(("x" * length, "NA"))


def test_quotes_and_a_last_line_without_an_end():
    assert digest('"a;""b""\n";"";c\nd;e;""') == of_rows(('a;"b"\n', "c"), ("d", ""))


@pytest.mark.parametrize("data", ["a;b\n", "a;b;c;d\n", '"a"b;c;d\n', '"a;b;c\n', "a;b;c\r\n", "\n"])
def test_a_record_of_another_form_has_no_digest(data):
    assert digest(f"1;2;3\n{data}") is None


def test_rows_count_as_often_as_they_occur():
    row = ("a", "b")
    seen = {digest("a;-;b\n" * times) for times in range(1, 6)}
    assert seen == {of_rows(*[row] * times) for times in range(1, 6)}
    assert len({each.sum for each in seen}) == 5


def test_a_delimiter_of_several_bytes_and_an_empty_value_as_null():
    dialect = Dialect(delimiter="¦|", header=False, unquoted_empty_is_null=True)
    assert digest('a¦b¦|¦|\nc¦|x¦|""\n', dialect) == of_rows(("a¦b", "NA"), ("c", ""))


TYPES = (
    "bigint", "decimal(9,3)", "double", "date", "datetime(6)", "time(3)", "bit(9)", "char(9)", "binary(99)", "blob"
)  # fmt: skip


def alone(type_: str) -> Readback:
    return Readback("", "", (ComparedColumn(Column("c", type_, True, None, False, False), 0, ("NA",), ""),), (), False)


@pytest.mark.parametrize(
    ("type_", "written", "shown"),
    [
        ("int", "+007.00", "7"),
        ("int", "-0", "0"),
        ("decimal(9,3)", "-00.5", "-0.500"),
        ("decimal(9,3)", "-0.0", "0.000"),
        ("double", "1.50", "1.5"),
        ("double", "-179.99999999999997", "-179.99999999999997"),
        ("date", "2024-1-2", "2024-01-02"),
        ("datetime", "2024-01-02T3:04", "2024-01-02 03:04:00"),
        ("datetime(2)", "2024-01-02", "2024-01-02 00:00:00.00"),
        ("time(1)", "-1:2:3.50", "-01:02:03.5"),
        ("bit(16)", "ab", str(0x6162)),
        ("char(9)", "a  ", "a"),
        ("binary(70)", "a", "a" + "\0" * 69),
    ],
)
def test_a_value_is_taken_in_the_form_of_the_server(type_, written, shown):
    digests = FileDigests.of(alone(type_), PLAIN, 1)
    assert digests
    assert digests.digest(written.encode() + PADDING, len(written)) == of_rows((shown,))


@pytest.mark.parametrize(
    ("type_", "written"),
    [
        ("int", "1.5"), ("int", " 5"), ("int", "1e3"), ("decimal(9,3)", "1.2345"), ("decimal(9,3)", "x"),
        ("double", "1e5"),
        ("double", "13.404953999999999"), ("double", "123456789012345678"), ("double", "-0.0"), ("date", "2024/01/02"),
        ("date", "2024-01-02 00:00"), ("datetime", "2024-01-02 03:04:05.6"), ("datetime", "2024-01-02 03:04:05Z"),
        ("time", "10"), ("time", "-0:00:00"), ("bit(64)", "123456789"),
    ],
)  # fmt: skip
def test_a_value_of_unknown_form_has_no_digest(type_, written):
    digests = FileDigests.of(alone(type_), PLAIN, 1)
    assert digests
    assert digests.digest(written.encode() + PADDING, len(written)) is None


@pytest.mark.parametrize("dialect", [PLAIN, MYSQL_TSV, replace(PLAIN, delimiter="::", line_end="\r\n", quote="'")])
def test_any_bytes_have_a_digest_or_none(dialect):
    chance = random.Random(35)
    readings = tuple(
        ComparedColumn(Column("c", type_, True, None, False, False), at, ("NA",), "") for at, type_ in enumerate(TYPES)
    )
    assert all(map(canonical_form, readings))
    digests = FileDigests.of(Readback("", "", readings, (), False), dialect, len(TYPES))
    assert digests
    pieces = [
        dialect.delimiter,
        dialect.line_end,
        dialect.quote,
        *"0123456789-+.:T \\N\0\r\n",
        "NA",
        "2024-01-02",
        "x" * 40,
    ]
    for size in range(400):
        data = "".join(chance.choices(pieces, k=size)).encode()
        digest = digests.digest(data + PADDING, len(data))
        assert digest is None or digest.rows <= len(data)
