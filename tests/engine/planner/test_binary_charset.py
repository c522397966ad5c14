"""What goes in without a character set is what goes in with utf8mb4."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.native import loader
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema.charsets import WITH_ASCII
from tests.engine.loads import rows_of, run_sql, works

pytestmark = pytest.mark.both_servers

COLUMNS = {
    "n": "INT NOT NULL PRIMARY KEY", "d": "DECIMAL(9,3)", "f": "DOUBLE", "da": "DATE", "mo": "DATETIME(2)",
    "ti": "TIME", "ye": "YEAR", "ch": "CHAR(3)", "va": "VARCHAR(4) COLLATE utf8mb4_bin", "te": "TEXT",
    "en": "ENUM('é','b')", "se": "SET('x','東')", "bi": "VARBINARY(16)", "bl": "BLOB",
}  # fmt: skip
CREATE = f"CREATE TABLE t ({', '.join(f'{name} {type_}' for name, type_ in COLUMNS.items())}) CHARACTER SET utf8mb4"
FILE = """\
1,1.5,2.25,2024-02-29,2024-01-02 03:04:05.25,12:00:00,2024,abc,four,text,b,x,bytes,more
2,-1.250,1e3,0001-01-01,2024-01-02,-01:02:03,1999,é東😀,é東😀x,"quoted, ""東"" 😀
on two lines",é,"x,東",é東😀,é\\東
3,0,0,2024-01-02,2024-01-02T03:04:05,00:00:00,2000,,,"",b,,,
"""


CREATE_WITH_DIGITS = CREATE.replace("bl BLOB", "bl BLOB, hx VARBINARY(9)")
DIGITS_BEHIND = FILE.replace("more\n", "more,4d\n").replace("\\東\n", "\\東,0xFF\n").replace("b,,,\n", "b,,,,\n")


def in_latin1(text: str) -> str:
    """The same with nothing but ASCII, for a table in latin1."""
    return text.translate(str.maketrans("é東😀", "fgh")).replace("utf8mb4", "latin1")


def loaded(
    address: Address, path: Path, create: str = CREATE, mapping: Sequence = tuple(COLUMNS), **changed
) -> tuple[list[tuple], list[ChunkLoad]]:
    """The rows of a new table after all chunks are in, with `changed` fields of LoadStatements."""
    run_sql(address, "DROP TABLE IF EXISTS t, millrace_ledger", create)
    loads = [_with_statements(each, **changed) for each in works(address, path, mapping, Options())]
    for each in loads:
        load_chunk(each, LoadCallbacks())
    return rows_of(address), loads


def _with_statements(load: ChunkLoad, **changed) -> ChunkLoad:
    return replace(load, plan=replace(load.plan, statements=replace(load.plan.statements, **changed)))


def planned(address: Address, path: Path, columns: str, *mapping) -> ImportPlan:
    run_sql(address, "DROP TABLE IF EXISTS t", f"CREATE TABLE t ({columns}) CHARACTER SET utf8mb4")
    return works(address, path, mapping, Options(on_error="reject"))[0].plan


def test_each_kind_of_column_gets_the_same(database: Address, source, server):
    rows, made = loaded(database, source(FILE))
    assert not made[0].chunk.suspect
    assert ("binary" in made[0].statements.plain) == (server.flavour == "mariadb")
    assert len(rows) == 3
    assert rows[1][8] == "é東😀x"
    assert rows == loaded(database, source(FILE), as_bytes="")[0]


@pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")
@pytest.mark.parametrize("charset", ["utf8mb4", "latin1"])
def test_so_it_does_beside_hexadecimal_digits_that_go_as_bytes(database: Address, source, charset: str):
    create, file = (each if charset == "utf8mb4" else in_latin1(each) for each in (CREATE_WITH_DIGITS, DIGITS_BEHIND))
    mapping = [*COLUMNS, ColumnMapping("hx", transforms=("hex",))]
    rows, made = loaded(database, source(file), create, mapping)
    assert "CHARACTER SET binary" in made[0].statements.plain
    assert rows == loaded(database, source(file), create, mapping, unhexed=None)[0]
    assert [row[-1] for row in rows] == [b"M", b"\xff", b""]


def test_a_chunk_with_something_wrong_is_loaded_with_the_character_set(database: Address, source):
    run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(3)) CHARACTER SET utf8mb4")
    (work,) = works(database, source("1,é東😀\n2,é東😀x\n"), ["n", "v"], Options(on_error="reject"))
    assert work.chunk.suspect
    assert "utf8mb4" in work.statements.plain
    tally = load_chunk(work, LoadCallbacks()).tally
    assert (tally.loaded, tally.rejected) == (1, 1)
    assert rows_of(database) == [(1, "é東😀")]


def test_what_the_server_refuses_is_named_as_ever(database: Address, source):
    run_sql(database, "CREATE TABLE t (v VARCHAR(3) PRIMARY KEY) CHARACTER SET utf8mb4")
    (work,) = works(database, source("é\na\né\n"), ["v"], Options())
    with pytest.raises(RowsRefused, match="line 3"):
        load_chunk(work, LoadCallbacks())
    assert rows_of(database) == []


def test_ascii_for_columns_of_another_character_set(database: Address, source):
    create, file = in_latin1(CREATE), in_latin1(FILE)
    rows, made = loaded(database, source(file), create)
    assert made[0].chunk.ascii
    assert "binary" in made[0].statements.plain
    assert rows[1][8] == "fghx"
    assert rows == loaded(database, source(file), create, as_bytes="")[0]


def test_what_is_not_ascii_is_converted(database: Address, source):
    run_sql(database, "CREATE TABLE t (n INT, v VARCHAR(9) CHARACTER SET latin1)")
    made = works(database, source("1,a\n2,é\n3,b\n"), ["n", "v"], Options(), chunk_bytes=5)
    assert ["binary" in each.statements.plain for each in made] == [True, False, True]
    for each in made:
        load_chunk(each, LoadCallbacks())
    assert rows_of(database, "SELECT n, HEX(v) FROM t ORDER BY n") == [(1, "61"), (2, "E9"), (3, "62")]


def test_ascii_is_the_same_in_all_character_sets_that_take_it(database: Address, source):
    printable = "".join(map(chr, range(32, 127)))
    quoted = f'"{printable.replace(chr(34), chr(34) * 2)}"'
    there = {name for name, *_ in rows_of(database, "SHOW CHARACTER SET")} & WITH_ASCII - {"utf8mb4"}
    assert len(there) > 30
    columns = [f"c_{name}" for name in sorted(there)]
    path = source(",".join([quoted] * len(columns)) + "\n")
    types = ", ".join(f"c_{name} VARCHAR(99) CHARACTER SET {name}" for name in sorted(there))
    [row], made = loaded(database, path, f"CREATE TABLE t ({types})", columns)
    assert "binary" in made[0].statements.plain
    assert dict(zip(columns, row, strict=True)) == dict.fromkeys(columns, printable)
    digits = ", ".join(f"HEX({name})" for name in columns)
    assert set(*rows_of(database, f"SELECT {digits} FROM t")) == {printable.encode().hex().upper()}


@pytest.mark.parametrize("charset", ["swe7", "sjis", "ucs2", "utf16", "utf32"])
def test_columns_of_others_do_not_take_it(database: Address, source, charset: str):
    columns = f"n VARCHAR(9) CHARACTER SET latin1, v VARCHAR(9) CHARACTER SET {charset}"
    assert not planned(database, source("a,b\n"), columns, "n", "v").statements.as_bytes


def test_columns_of_utf8mb4_take_anything_where_that_gains(database: Address, source, server):
    plan = planned(database, source("a\n"), "v VARCHAR(9)", "v")
    assert bool(plan.statements.as_bytes) == (server.flavour == "mariadb")
    assert not plan.statements.as_bytes_ascii_only


@pytest.mark.parametrize("type_", ["INET6", "UUID", "BIT(8)"])
def test_nor_do_columns_that_read_bytes_otherwise(database: Address, source, server, type_: str):
    if server.flavour == "mariadb":
        assert not planned(database, source("a\n"), f"v {type_}", "v").statements.as_bytes
