"""What a proxy changes between client and server is found by full verification, and the row is named."""

from dataclasses import replace

import pytest

from importer.engine.errors import RowsRefused
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from tests.engine.loads import rows_of, run_sql, works
from tests.proxy import proxy

pytestmark = pytest.mark.both_servers

TABLES = {"by key": "id INT PRIMARY KEY", "by number": "n INT AUTO_INCREMENT PRIMARY KEY, id INT"}
BYTE = ((b"name 0077", b"nane 0077"),)
EXCHANGED = ((b"name 0011", b"name XXXX"), (b"name 0012", b"name 0011"), (b"name XXXX", b"name 0012"))
ANOTHER_KEY = ((b"\n1077,", b"\n9077,"),)
# A row is missing, and another one is there twice.
COPIED = ((b"1077,name 0077,0077", b"1078,name 0078,0078"),)


@pytest.mark.parametrize(
    ("table", "edits", "lines"),
    [
        ("by key", BYTE, {78}),
        ("by key", EXCHANGED, {12, 13}),
        ("by key", ANOTHER_KEY, {78}),
        ("by number", BYTE, {78}),
        ("by number", EXCHANGED, {12, 13}),
        ("by number", COPIED, {78}),
    ],
)
def test_a_change_is_found_and_named(database: Address, source, table, edits, lines):
    run_sql(database, f"CREATE TABLE t ({TABLES[table]}, name VARCHAR(20), price INT)")
    path = source("".join(f"{1000 + row},name {row:04},{row:04}\n" for row in range(500)))
    with proxy(database.host, database.port) as between:
        address = replace(database, port=between.port)
        [work] = works(address, path, ["id", "name", "price"], Options(verify="full"))
        between.edits = edits
        with pytest.raises(RowsRefused) as refused:
            load_chunk(work, LoadCallbacks())
        assert {each.line for each in refused.value.rows} == lines
        assert rows_of(database, "SELECT COUNT(*) FROM t") == [(0,)]
        between.edits = ()
        assert load_chunk(work, LoadCallbacks()).tally.loaded == 500
