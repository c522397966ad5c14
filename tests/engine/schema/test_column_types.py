"""The registry of column types agrees with the servers, and no other module decides by a type's name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.load.readback.large_rows import _is_large
from importer.engine.load.readback.value_equality import Sameness, same_value
from importer.engine.load.rejects.reasons import error_of
from importer.engine.load.rejects.server_warnings import ServerWarning
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.preview import preview_values
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.readback import ComparedColumn
from importer.engine.schema import column_types
from importer.engine.schema.column_types import COLUMN_TYPES, ColumnType, Creatable, Family, Order, column_type
from importer.engine.schema.table import Column, Table, read_table
from importer.engine.schema.type_inference import check_type
from importer.engine.source.records.large_values import OVERSIZED_BYTES
from importer.engine.validation.column_rules import rule_of
from tests.engine.loads import run_sql
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers

ROOT = Path(__file__).resolve().parents[3]
NAMES = {each.name for each in COLUMN_TYPES}
ARGUMENTS = {
    "decimal": "(9,2)", "char": "(4)", "varchar": "(4)", "binary": "(4)", "varbinary": "(4)", "bit": "(4)",
    "enum": "('a','b')", "set": "('a','b')", "vector": "(3)", "nchar": "(4)", "character": "(4)", "nvarchar": "(4)",
    "character varying": "(4)", "dec": "(9,2)", "numeric": "(9,2)", "fixed": "(9,2)",
}  # fmt: skip
LEFT_TO_SERVER = (Family.UUID, Family.ADDRESS, Family.OTHER)
# Strings that are also names of types, but decide about other things.
EXCEPTIONS = {
    # The sources of generated columns.
    ("importer/engine/mapping/columns.py", "text"),
    ("importer/engine/mapping/columns.py", "time"),
    *(("importer/engine/load/methods/field_expressions.py", name) for name in ("text", "time")),
    *(("importer/engine/mapping/new_table/filled_columns.py", name) for name in ("text", "time")),
    ("importer/management/argument_types.py", "text"),
    # Tags of YAML.
    *(("importer/management/apply/yaml_file.py", name) for name in ("int", "float", "timestamp")),
    # Kinds of values in a file before they have a type.
    *(("importer/engine/schema/type_inference.py", name) for name in ("decimal", "float", "date", "datetime", "text")),
    ("importer/engine/source/profile/header.py", "date"),
    # Kinds of cells in an OpenDocument file, and a word that begins a statement of a dump.
    *(("importer/engine/source/formats/spreadsheet/ods.py", name) for name in ("date", "time")),
    ("importer/engine/source/formats/sql/dump.py", "SET"),
    # The members of Order.
    *(("importer/engine/sorting/sort_key.py", name) for name in ("text", "decimal")),
}


def sql(name: str) -> str:
    return name + ARGUMENTS.get(name, "")


def column(type_: str) -> Column:
    return Column("v", type_, nullable=True, default=None, auto_increment=False, generated=False)


def exists(each: ColumnType, server: TestServer, address: Address) -> bool:
    """Whether this version of the server has the type; VECTOR came with MariaDB 11.7 and MySQL 9.0."""
    if server.flavour not in each.servers:
        return False
    if each.name != "vector":
        return True
    with connect(address) as connection:
        text = connection.get_server_info()
    version = tuple(int(part) for part in text.split("-")[0].split(".")[:2])
    return version >= ((11, 7) if "MariaDB" in text else (9, 0))


@pytest.mark.parametrize("each", COLUMN_TYPES, ids=lambda each: each.name)
def test_each_column_type_exists_on_the_servers_with_its_family(
    database: Address, server: TestServer, each: ColumnType
):
    if not exists(each, server, database):
        pytest.skip(f"{each.name} is not a type of this server")
    names = (each.name, *each.aliases)
    run_sql(database, f"CREATE TABLE t ({', '.join(f'c{n} {sql(name)}' for n, name in enumerate(names))})")
    with connect(database) as connection:
        columns = read_table(connection, database.database, "t").columns
        facts = fetch_all(
            connection,
            "SELECT DATA_TYPE, CHARACTER_SET_NAME IS NOT NULL, NUMERIC_PRECISION IS NOT NULL,"
            " DATETIME_PRECISION IS NOT NULL, CHARACTER_OCTET_LENGTH FROM information_schema.COLUMNS"
            " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = 't' ORDER BY ORDINAL_POSITION",
            (database.database,),
        )
    assert {one.column_type for one in columns} == {each}
    for data_type, has_charset, numeric, fraction, octets in facts:
        assert str(data_type if isinstance(data_type, str) else data_type.decode()).lower() == each.name
        assert bool(has_charset) == each.has_charset
        assert bool(numeric) == (each.is_number or each.family is Family.BIT)
        assert bool(fraction) == (each.family in (Family.MOMENT, Family.TIME))
        if each.size and not each.is_number:
            assert octets == each.size


@pytest.mark.parametrize("each", COLUMN_TYPES, ids=lambda each: each.name)
def test_new_table_may_have_each_creatable_column_type_and_no_other(each: ColumnType):
    written = sql(each.name)
    if each.creatable is Creatable.NO:
        with pytest.raises(Exception, match="not a column type"):
            check_type(written)
    else:
        assert check_type(written) == written


@pytest.mark.parametrize("each", COLUMN_TYPES, ids=lambda each: each.name)
def test_each_column_type_has_a_rule_unless_it_is_left_to_the_server(each: ColumnType):
    assert (rule_of(sql(each.name), True) is None) == (each.family in LEFT_TO_SERVER)


@pytest.mark.parametrize("name", ["tinyblob", "blob", "mediumblob", "longblob"])
def test_value_that_is_too_long_is_reported_so_for_each_blob_type(name: str):
    table = Table("s", "t", "InnoDB", (column(name),))
    fault = error_of(ServerWarning(1265, "Data truncated for column 'v' at row 1", 1, "v"), table, 1, 1, blank=False)
    assert fault.reason == f"The value is too long for {name}."


@pytest.mark.parametrize("name", ["char(9)", "varchar(9)", "tinytext", "text", "mediumtext", "longtext"])
def test_each_text_type_sorts_case_insensitively(name: str):
    assert column_type(name).order is Order.LETTERS


@pytest.mark.parametrize("name", ["binary(9)", "varbinary(9)", "tinyblob", "blob", "mediumblob", "longblob"])
def test_each_binary_type_sorts_by_its_bytes(name: str):
    assert column_type(name).order is Order.TEXT


@pytest.mark.parametrize("name", ["varbinary(9)", "tinyblob", "blob", "mediumblob", "longblob"])
def test_binary_value_without_its_trailing_space_differs(name: str):
    assert same_value(column(name), b"a ", b"a") is Sameness.OTHER


def test_padded_binary_value_is_equal_even_if_it_is_not_utf8():
    assert same_value(column("binary(4)"), b"\xff\xfe", b"\xff\xfe\0\0") is Sameness.SAME
    assert same_value(column("bit(16)"), b"\xff", b"\0\xff") is Sameness.SAME


@pytest.mark.parametrize("name", ["tinyblob", "blob", "mediumblob", "longblob", "varbinary(60000)"])
def test_large_value_of_each_binary_type_is_compared_by_its_digest(name: str):
    class Large:
        size = OVERSIZED_BYTES

    assert _is_large(ComparedColumn(column(name), 0, (), ""), Large())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tinyblob", "blob", "mediumblob", "longblob"])
def test_preview_shows_each_blob_type_in_hexadecimal(mariadb: Address, name: str):
    run_sql(mariadb, f"CREATE TABLE t (v {name})")
    with connect(mariadb) as connection:
        table = read_table(connection, mariadb.database, "t")
        [row] = preview_values(connection, table, [ColumnMapping("v", null_markers=("NA",))], [["M"]])
    assert row[0].text == "0x4D"


def decided_by(tree: ast.AST) -> Iterator[str]:
    """The strings in comparisons, match patterns and collections of type names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            yield from (text for side in sides for text in strings(side))
        elif isinstance(node, ast.MatchValue):
            yield from strings(node.value)
        elif isinstance(node, ast.Set | ast.Tuple | ast.List | ast.Dict):
            names = [text for text in strings(node) if text in NAMES]
            yield from names if len(names) > 1 else ()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("with"):
            yield from (text for each in node.args for text in strings(each))


def strings(node: ast.AST | None) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [text for each in node.elts for text in strings(each)]
    return [text for each in node.keys for text in strings(each)] if isinstance(node, ast.Dict) else []


def test_no_other_module_decides_by_the_name_of_a_type():
    a_name = re.compile(f'"({"|".join(NAMES)})"', re.IGNORECASE)
    places = {
        (str(path.relative_to(ROOT)), text)
        for path in (ROOT / "importer").rglob("*.py")
        if path != Path(column_types.__file__) and "migrations" not in path.parts
        if a_name.search(code := path.read_text())  # Most have none, and parsing takes long.
        for text in decided_by(ast.parse(code))
        if text.lower() in NAMES
    }
    assert places <= EXCEPTIONS, sorted(places - EXCEPTIONS)
    assert places >= EXCEPTIONS, f"no longer there: {sorted(EXCEPTIONS - places)}"


@pytest.mark.parametrize(
    "code", ['column.kind == "year"', 'x in ("bit", "set")', 'SIZES = {"tinyblob": 1, "blob": 2}', 'a.endswith("int")']
)
def test_decision_by_the_name_of_a_type_is_detected(code: str):
    assert NAMES & set(decided_by(ast.parse(code)))
