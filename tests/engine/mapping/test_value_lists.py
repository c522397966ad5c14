"""Value lists: a file whose values are replaced loads exactly as one that has the new values itself."""

import csv
import random
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, FieldOverride, check_values, with_listed
from importer.engine.mapping.new_table.suggestion import suggest_table
from importer.engine.mapping.preview import preview_values
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.mysql.connection import Address, connect
from importer.engine.plan.options import Options
from importer.engine.schema.table import read_table
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import profile_file
from importer.engine.validation.file_scan import FileScan
from importer.engine.validation.type_widening import find_mismatches
from tests.engine.loads import given_table, load_file, rows_of, run_sql
from tests.engine.mapping.loaded_values import read, stored

pytestmark = pytest.mark.both_servers

DIALECT = Dialect(delimiter=";", header=False)
CREATE = (
    "id INT PRIMARY KEY, e ENUM('active','inactive','2'), s SET('x','y'), t VARCHAR(5) NOT NULL, n INT, k TINYINT NOT"
    " NULL, d DATE, p DECIMAL(5,2), c CHAR(4) CHARACTER SET latin1, b VARBINARY(3)"
)
COLUMNS: dict[str, tuple[ColumnMapping, list[str]]] = {
    "e": (
        ColumnMapping("e", ("",), "", ("trim",), (("aktiv", "active"), ("'", "inactive"), ("weg", ""), ("x", "2 "))),
        ["aktiv", " aktiv\t", "'", "weg", "x", "AKTIV", "active", "2", "1", "", "inaktiv"],
    ),
    "s": (ColumnMapping("s", values=(("beide", "x,y"), ("keins", ""))), ["beide", "keins", "x", "y,x", "z"]),
    "t": (
        ColumnMapping("t", ("-",), values=(("long", "longer than five"), ("-", "minus"), ("", "none"), ("nil", "-"))),
        ["long", "-", "", "nil", "much longer", "é", "none"],
    ),
    "n": (
        ColumnMapping("n", ("NA",), values=(("one", "1"), ("1", "one"), ("none", "NA"), ("2", "2.5"), ("2.5", "3"))),
        ["one", "1", "none", "NA", "2", "2.5", "3", "3.5", "9999999999"],
    ),
    "k": (
        ColumnMapping("k", ("",), values=(("yes", "1"), ("no", "0"), ("perhaps", ""))),
        ["yes", "no", "1", "perhaps", ""],
    ),
    "d": (
        ColumnMapping("d", (), "%d.%m.%Y", values=(("today", "29.11.2026"), ("never", "soon"))),
        ["today", "never", "01.02.2026", "soon", "31.02.2026"],
    ),
    "p": (
        ColumnMapping("p", ("",), "", ("trim", "decimal-comma"), (("free", "0,00"), ("?", ""), ("5", "5,555"))),
        ["free", " free ", "?", "1,5", "5", "", "1.5", "2,555"],
    ),
    "c": (ColumnMapping("c", values=(("omega", "Ω"), ("e", "é  "), ("€", "EUR"))), ["omega", "e", "€", "abc  ", "ü"]),
    "b": (ColumnMapping("b", values=(("long", "four"), ("é", "e"))), ["long", "é", "abc", "ü"]),
}
FIRST_ODD = 600
METHODS = ("load_data_local", "insert", "insert_prepared")


def came_of(database: Address, folder: Path, name: str, rows: list[list[str]], fields: list[ColumnMapping], options):
    """What is in the table, the tally, and the lines, columns and codes of the rejected rows."""
    run_sql(database, "DROP TABLE IF EXISTS millrace_ledger")
    given_table(database, CREATE)
    own = folder / name
    own.mkdir()
    with (own / "data.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)
    loaded = load_file(database, own / "data.csv", fields, options, dialect=DIALECT, chunk_bytes=4096)
    # Of several faults of a row, the one that is named depends on the statement.
    rejected = [(row[0], *((row[2], row[4]) if int(row[0]) >= FIRST_ODD else ())) for row in loaded.explained]
    return rows_of(database, "SELECT * FROM t ORDER BY id"), loaded.tally, rejected


@pytest.mark.parametrize("method", METHODS)
def test_replaced_values_load_as_a_file_that_has_them(database: Address, tmp_path: Path, method: str):
    chance = random.Random(f"54 {method}")
    good = {name: values for name, (_, values) in COLUMNS.items()}
    rows = [[str(number), *(chance.choice(good[name]) for name in COLUMNS)] for number in range(1, FIRST_ODD)]
    # Rows with one odd value each: all others of the row are stored.
    plain = ["aktiv", "x", "none", "3", "1", "01.02.2026", "1,5", "abc", "abc"]
    odd = [(at, value) for at, (_, values) in enumerate(COLUMNS.values()) for value in values]
    rows += [[str(FIRST_ODD + n), *plain[:at], value, *plain[at + 1 :]] for n, (at, value) in enumerate(odd)]
    lists = [ColumnMapping("id"), *(mapping for mapping, _ in COLUMNS.values())]
    without = [ColumnMapping(each.column, each.null_markers, each.datetime_format, each.transforms) for each in lists]
    replaced = [[_replaced(value, each) for value, each in zip(row, lists, strict=True)] for row in rows]
    options = Options(on_error="reject", method=method, verify="full")
    by_list = came_of(database, tmp_path, "listed", rows, lists, options)
    by_file = came_of(database, tmp_path, "replaced", replaced, without, options)
    assert by_list == by_file
    assert by_list[1].loaded > len(odd) // 2
    assert by_list[1].rejected > len(odd) // 4


def _replaced(value: str, mapping: ColumnMapping) -> str:
    bare = value.strip(" \t") if "trim" in mapping.transforms else value
    return dict(mapping.values).get(bare, value)


def test_only_equal_bytes_are_replaced_once(database: Address):
    mapping = read(values=(("a", "b"), ("b", "c"), ("é", "\\'\n"), ("", "empty")))
    wanted = {"a": "b", "b": "c", "A": "A", "a ": "a ", " a": " a", "é": "\\'\n", "e": "e", "É": "É", "": "empty"}
    assert stored(database, "TEXT", mapping, [*wanted]) == wanted


def test_the_preview_shows_the_new_values_and_what_no_column_takes(database: Address):
    given_table(database, "e ENUM('active'), n INT")
    mapping = [ColumnMapping("e", values=(("aktiv", "active"),)), ColumnMapping("n", ("",), values=(("-", ""),))]
    with connect(database) as connection:
        shown = preview_values(connection, read_table(connection, database.database, "t"), mapping, [["aktiv", "-"]])
    assert [(each[0].text, each[1].text) for each in shown] == [("active", None)]


def test_a_new_column_has_the_type_of_the_new_values(database: Address, tmp_path: Path):
    path = tmp_path / "new.csv"
    path.write_text(
        "id,n,d\n" + "".join(f"{n},{n if n % 3 else 'none'},01.02.2026\n" for n in range(1, 40)) + "40,much,x\n"
    )
    overrides = [FieldOverride("n", "n", values=(("none", "0"), ("much", "1000000")))]
    profile = profile_file(path)
    table = suggest_table("s", "t", profile, overrides=overrides)
    assert {column.name: column.type for column in table.columns}["n"] == "int"
    mapping = suggest_mapping(profile, table.as_table(), overrides=overrides)
    assert mapping[1].values == overrides[0].values
    with path.open("rb") as file:
        scan = FileScan(file.fileno(), profile.dialect, profile.data_offset, 2, path.stat().st_size)
        assert "n" not in find_mismatches(scan, table, mapping)


def test_a_sample_is_read_with_the_new_values_and_keeps_its_blanks(tmp_path: Path):
    path = tmp_path / "sample.csv"
    path.write_text("a,b\n x ,x\ny,\n")
    listed = with_listed(
        profile_file(path), {0: ColumnMapping("a", values=(("x", "new"), ("new", "newer"), ("", "e")))}
    )
    assert listed.rows == ((" new ", "x"), ("y", ""))


@pytest.mark.parametrize("values", [(("a", "b"), ("a", "c")), tuple((str(n), "x") for n in range(1001))])
def test_a_text_listed_twice_and_a_list_without_end_are_refused(values):
    with pytest.raises(Problem, match="v"):
        check_values(values, "v")
