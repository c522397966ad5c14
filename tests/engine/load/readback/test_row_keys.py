"""Rows whose key the file has in another notation than the server shows are found again."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.load.readback.row_keys import key_literals, key_of
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.schema.table import Column
from importer.engine.source.dialect import Dialect
from tests.engine.load.values import came_of
from tests.engine.loads import rows_of

pytestmark = pytest.mark.both_servers

DIALECT = Dialect(header=False, delimiter=";")
# Type of a key column and a text that both servers take for it.
KEYS = [
    ("DATE", "20240102"),
    ("DATE", "2024-1-2 00:00:00"),
    ("DATE", "2024-1-2T00:00:00"),
    ("DATE", "20240102T000000"),
    ("DATE", "02024-001-02"),
    ("DATE", "0000-1-1"),
    ("BIGINT", "9007199254740993.0"),
    ("BIGINT", " +0007"),
    ("BIGINT", "-0"),
    ("BIGINT", "0" * 5000 + "1"),
    ("INT(5) UNSIGNED ZEROFILL", "+7.0"),
    ("CHAR(5)", "ab "),
    ("CHAR(5)", "abcde \t"),
    ("CHAR(5) CHARACTER SET latin1", "é "),
    ("CHAR(5) CHARACTER SET utf16", "ab "),
    ("VARCHAR(5) CHARACTER SET sjis", "東 "),
    ("VARCHAR(5)", "ab "),
    ("VARCHAR(5)", "東bcde \t"),
    ("BINARY(4)", "ab"),
    ("BINARY(4)", "ä"),
    ("VARBINARY(4)", "ab "),
]
MARIADB_KEYS = [("DATE", "2024/01/02"), ("DATE", "2024_1_2"), ("DATE", " 2024-01-02 "), ("BIGINT", "7 ")]
# INT has a digest: rows are found by a range of keys. FLOAT has none: they are found by the list of keys.
OTHERS = ["v INT", "v FLOAT"]


@pytest.mark.parametrize("other", OTHERS)
def test_a_key_in_another_notation_is_found(server, database: Address, tmp_path: Path, other: str):
    for type_, text in KEYS + (MARIADB_KEYS if server.flavour == "mariadb" else []):
        columns = f"k {type_} NOT NULL, id INT, {other}, PRIMARY KEY (k, id)"
        data = "".join(f"{text};{number};{number}\n" for number in range(3))
        came = came_of(database, tmp_path, columns, data, dialect=DIALECT, options=Options(verify="full"))
        assert came.tally.loaded == 3, (type_, text)


@pytest.mark.parametrize("type_", ["bigint", "date"])
@pytest.mark.parametrize("text", [b"", b"1.5", b"x", b"inf", b"1); DROP", b"\xff"])
def test_what_is_no_value_of_the_key_is_a_text_in_sql(type_: str, text: bytes):
    column = Column("k", type_, nullable=False, default=None, auto_increment=False, generated=False)
    readback = Readback("s", "t", (ComparedColumn(column, 0, (), ""),), ("k",), rounding=True)
    assert key_of(readback, (text,)) == (text,)
    assert key_literals(readback, [text]) == [f"_utf8mb4 x'{text.hex()}'" if text else "''"]


@pytest.mark.parametrize("other", OTHERS)
def test_a_row_that_the_server_numbers_is_named_with_what_to_do(database: Address, tmp_path: Path, other: str):
    columns, data = f"k INT AUTO_INCREMENT PRIMARY KEY, id INT, {other}", "1;1;1\n\\N;2;2\n"
    dialect = replace(DIALECT, quote="", escape="\\")
    with pytest.raises(
        RowsRefused, match="The row cannot be read back: the server gives this row its number"
    ) as refused:
        came_of(database, tmp_path, columns, data, dialect=dialect, options=Options(verify="full"))
    assert refused.value.where == "line 2, column k"
    assert "leave the column out of the mapping" in refused.value.advice
    assert rows_of(database) == []
