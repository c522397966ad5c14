"""A new table suggested from a sample: types that keep every text, with a note where a text column is not plain."""

from pathlib import Path

import pytest

from importer.engine.mapping.new_columns import is_key_name, suggest_table
from importer.engine.schema.new_table import NewTable
from importer.engine.source.profile.profile import profile_file


@pytest.fixture
def suggested(tmp_path: Path):
    def suggest(text: str, **how) -> NewTable:
        path = tmp_path / "file.csv"
        path.write_bytes(text.encode())
        return suggest_table("s", "t", profile_file(path), **how)

    return suggest


def types(table: NewTable) -> dict[str, str]:
    return {each.name: each.type for each in table.columns}


def column_of(*values: str, name: str = "x") -> str:
    return f"n,{name}\n" + "".join(f"{number},{value}\n" for number, value in enumerate(values, start=10))


@pytest.mark.parametrize(
    ("values", "type_", "note"),
    [
        (("007", "8"), "varchar(16)", "a leading zero ('007')"),
        (("+4930", "+4940"), "varchar(16)", "a plus sign ('+4930')"),
        (("1.9", "1.10"), "varchar(16)", "--type 'x=decimal(5,2)' makes it a number"),
        (("12e5", "5678"), "varchar(16)", "12e5"),
        (("12.50", "3.00"), "decimal(6,2)", ""),
        (("1", "2.5", "3"), "decimal(4,1)", ""),
        (("1.5e-7", "2"), "double", ""),
        (("0.5", "0"), "decimal(4,1)", ""),
        (("NA", "5"), "int", ""),
        (("abc", "5"), "varchar(16)", ""),
        (("12", "16a"), "varchar(16)", ""),
    ],
)  # fmt: skip
def test_type_and_note_of_a_column(suggested, values, type_, note):
    table = suggested(column_of(*values))
    assert types(table)["x"] == type_
    about = [each for each in table.notes if each.startswith("x: ")]
    assert (note in about[0]) if note else not about


def test_given_null_markers_decide_which_texts_are_no_values(suggested):
    text = column_of("5", "n/k", "NA")
    assert types(suggested(text))["x"] == "varchar(16)"
    assert types(suggested(text, null_markers=("n/k", "NA")))["x"] == "int"
    assert types(suggested(text, null_markers=("n/k",)))["x"] == "varchar(16)"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("id,a\n1,x\n2,y\n", "id"),
        ("a,order_id\n5,1\n5,2\n", "order_id"),
        ("name,customerId\nx,1\nx,2\n", "customerId"),
        ("Artikelnummer;Preis\nA1;5\nA2;6\n".replace(";", ","), ""),
        ("Kundennr,b\nA1,5\nA2,6\n", "Kundennr"),
        ("id,a\n1,x\n1,y\n", ""),
        ("id,a\n1,x\nNA,y\n", ""),
        ("day,amount\n1,5\n2,6\n", ""),
    ],
)
def test_a_primary_key_is_proposed_and_not_imposed(suggested, text, key):
    table = suggested(text)
    assert table.primary_key == ()
    notes = [note for note in table.notes if "primary key" in note]
    assert [f"--primary-key '{key}'" in note for note in notes] == ([True] if key else [])


@pytest.mark.parametrize(("name", "is_key"), [("id", True), ("ORDER-ID", True), ("paid", False), ("product_code", True),
                                              ("userID", True), ("Rechnungsnr", True), ("idea", False)])  # fmt: skip
def test_names_of_keys(name, is_key):
    assert is_key_name(name) == is_key


def test_changed_names_and_types_are_noted(suggested):
    header = ",".join(["a", "A", *(f"c{n}" for n in range(150))])
    table = suggested(header + "\n" + ",".join(["word"] * 152) + "\n" + ",".join(["text"] * 152) + "\n")
    assert any("'A' goes into the column A_2" in note for note in table.notes)
    assert any("another text type than the values need" in note for note in table.notes)
