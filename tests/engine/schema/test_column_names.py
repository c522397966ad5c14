"""Names of columns from a header: both servers take them, and each changed one is noted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.schema.column_names import LONGEST_NAME, name_columns
from importer.engine.schema.new_table import NewColumn, NewTable
from tests.examples import examples

pytestmark = pytest.mark.both_servers

HEADERS = [
    ("select", "order", "groups", "rank", "key", "lateral", "returning", "`a`", "a`b", "a.b", "100%", '"q"'),
    ("x" * 64, "x" * 65, "X" * 70, "ä" * 80),
    ("id", "ID", "Id", "id_2", "ID_2"),
    (
        "é",
        "e",
        "É",
        "E",
        "ß",
        "ss",
        "İ",
        "i",
        "\u0131",
        "I",
        "\u017f",
        "s",
        "\u212a",
        "k",
        "\u03a3",
        "\u03c3",
        "\u03c2",
        "ẞ",
    ),
    ("sales 🙂", "🙂", "sales", "\U0001d4b3", "e\u0301"),
    ("a ", " a", "a\t", "a\u00a0", "a\nb", "a  b", "\ufeffa", "a\u200b", "a\x01", "a\x00"),
    ("", " ", "column_2", "column_1"),
    ("DB_ROW_ID", "db_trx_id", "DB_ROLL_PTR", "FTS_DOC_ID", "_rowid"),
]


def create(database: Address, names: tuple[str, ...]) -> list[str]:
    table = NewTable(database.database, "made", tuple(NewColumn(name, "int") for name in names))
    with connect(database) as connection:
        execute(connection, "DROP TABLE IF EXISTS made")
        execute(connection, table.statement("made"))
        return [row[0] for row in fetch_all(connection, "SHOW COLUMNS FROM made")]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: ascii(header[0])[:20])
def test_both_servers_take_the_names_unchanged(database, header):
    names, _ = name_columns(header)
    assert create(database, names) == list(names)


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("sales 🙂", "sales", "emoji"),
        ("🙂", "column_2", "none of its characters"),
        ("y" * 65, "y" * 64, "at most 64"),
        ("ID", "ID_2", "taken"),
        ("db_row_id", "db_row_id_2", "InnoDB"),
        ("", "column_2", "no name in the header"),
        ("\ufeffname", "name", "invisible"),
        ("two\nlines", "two lines", "line ends"),
    ],
)
def test_a_changed_name_is_told_with_its_reason(text, name, why):
    names, notes = name_columns(["id", text])
    assert names == ("id", name)
    [note] = notes
    assert why in note
    assert name in note


@pytest.mark.parametrize("text", ["order", "Straße", " padded ", "e", "naïve", "id_3"])
def test_a_valid_name_is_kept_without_a_note(text):
    assert name_columns(["id", text]) == (("id", text.strip()), ())


@examples(300)
@given(st.lists(st.one_of(st.text(max_size=70), st.sampled_from(["a", "A", "é", "a_2", "column_2", ""])), max_size=12))
def test_names_are_always_valid_and_unique(header):
    names, _ = name_columns(header)
    assert len({name.lower() for name in names}) == len(header)
    assert all(0 < len(name) <= LONGEST_NAME and name == name.strip() for name in names)
    assert all(ord(character) <= 0xFFFF for name in names for character in name)
