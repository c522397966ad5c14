"""A new table suggested from a sample: types that keep every text, with a note where a text column is not plain."""

from dataclasses import replace

import pytest

from importer.engine.mapping.columns import ColumnMapping, FieldOverride
from importer.engine.mapping.new_table.decisions import new_column_decisions
from importer.engine.mapping.new_table.suggestion import is_key_name, suggest_table
from importer.engine.mapping.suggest import map_to_new
from importer.engine.schema.new_table import NewTable, change_table
from importer.engine.source.profile.profile import profile_file


@pytest.fixture
def suggested(source):
    def suggest(text: str, **how) -> NewTable:
        return suggest_table("s", "t", profile_file(source(text.encode())), **how)

    return suggest


@pytest.fixture
def suggest_both(source):
    def suggest(text: str, *overrides: FieldOverride):
        profile = profile_file(source(text.encode()))
        table = suggest_table("s", "t", profile, overrides=overrides)
        return table, map_to_new(profile, table.as_table(), overrides=overrides)

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
        ((".95", "1.05", "-.50"), "decimal(5,2)", ""),
        ((".5", ".25", "3"), "decimal(5,2)", ""),
        ((".123", ".5", "1.25", "-0", "9.1e-7"), "double", ""),
        (("5.5", ".1234567890123456789e-3"), "varchar(32)", "('.1234567890123456789e-3'). --type 'x=double' rounds"),
        ((".5", "1e400"), "varchar(16)", "1e400 would become a number with more digits."),
        (("00.5", "1.5"), "varchar(16)", "a leading zero ('00.5')"),
        (("NA", "5"), "int", ""),
        (("abc", "5"), "varchar(16)", ""),
        (("12", "16a"), "varchar(16)", ""),
        (("9:05", "17:30"), "varchar(16)", ""),
        (("5 €", "7 $"), "varchar(16)", ""),
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
    assert (f"--primary-key '{key}'" in table.key_note) if key else not table.key_note


@pytest.mark.parametrize(("name", "is_key"), [("id", True), ("ORDER-ID", True), ("paid", False), ("product_code", True),
                                              ("userID", True), ("Rechnungsnr", True), ("idea", False)])  # fmt: skip
def test_names_of_keys(name, is_key):
    assert is_key_name(name) == is_key


def test_changed_names_and_types_are_noted(suggested):
    header = ",".join(["a", "A", *(f"c{n}" for n in range(150))])
    table = suggested(header + "\n" + ",".join(["word"] * 152) + "\n" + ",".join(["text"] * 152) + "\n")
    assert any("'A' goes into the column A_2" in note for note in table.notes)
    assert any("another text type than the values need" in note for note in table.notes)


def semicolons(*values: str) -> str:
    return "n;x\n" + "".join(f"{number};{value}\n" for number, value in enumerate(values, start=10))


@pytest.mark.parametrize(
    ("values", "type_", "how"),
    [
        (["31.12.2024", "1.1.2025"], "date", ColumnMapping("x", ("",), "%d.%m.%Y")),
        (["31.12.2024 08:15", "01.01.2025 23:59"], "datetime", ColumnMapping("x", ("",), "%d.%m.%Y %H:%i")),
        (["1.234,56", "12,00", ""], "decimal(8,2)", ColumnMapping("x", ("",), "", ("thousands-dot",))),
        (["0,5", "12,25"], "decimal(6,2)", ColumnMapping("x", ("",), "", ("decimal-comma",))),
        (["1.234.567", "12"], "int", ColumnMapping("x", ("",), "", ("thousands-dot",))),
        ([" 7", "8 "], "int", ColumnMapping("x", ("",), "", ("trim",))),
        (["1 234,50", "2 000,00"], "decimal(8,2)", ColumnMapping("x", ("",), "", ("thousands-space",))),
        (["1'234.50", "2'000.00"], "decimal(8,2)", ColumnMapping("x", ("",), "", ("thousands-apostrophe",))),
        (["k.A.", "31.12.2024", "30.12.2024", "29.12.2024", "28.12.2024"], "date",
         ColumnMapping("x", ("",), "%d.%m.%Y")),
        (["2024-12-31", "2024-12-30", "2024-12-29", "2024-12-28", "n/k"], "date", ColumnMapping("x", ("",))),
        (["01/02/2024", "03/04/2024"], "varchar(16)", ColumnMapping("x")),
        (["1,234", "5,678"], "varchar(16)", ColumnMapping("x")),
        (["12", "13", "14", "15", "16a"], "varchar(16)", ColumnMapping("x")),
        (["007,50", "1,50"], "varchar(16)", ColumnMapping("x")),
        (["31.12.2024", "n/k"], "varchar(16)", ColumnMapping("x")),
        (["yes", "no"], "varchar(16)", ColumnMapping("x")),
    ],
)  # fmt: skip
def test_types_and_formats_of_a_file_with_semicolons(suggest_both, values, type_, how):
    table, mapping = suggest_both(semicolons(*values))
    assert types(table)["x"] == type_
    assert mapping[1] == how


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        (("ja", "nein"), ("words for yes and no", "--type 'x=tinyint' and --map 'x=x:yes-no' make them")),
        (("1.234,50 €", "-5,00 €"), ("which keeps the currency ('1.234,50 €')", "--map 'x=x:money-comma-€' makes it")),
        (("25:30:00", "0:00:10.5"), ("times or durations", "--type 'x=time'")),
        ([*map(str, range(9)), "n/k"], ("'n/k' is no number, as 9 of 10 values are", "--type 'x=int' makes it a number",
                                        "--map 'x=x:null=n/k'")),
        (["2.5", *map(str, range(8)), "n/k"], ("'n/k' is no number", "--type 'x=decimal(4,1)' makes it a number")),
    ],
)  # fmt: skip
def test_a_text_that_could_be_more_has_a_note_with_the_flag(suggest_both, values, notes):
    table, _ = suggest_both(semicolons(*values))
    [about] = [note for note in table.notes if note.startswith("x: ")]
    assert all(note in about for note in notes)


@pytest.mark.parametrize(
    ("values", "asked", "flags", "shown"),
    [
        (("01/02/2026", "03/04/2026"), "can be 2026-02-01 (day/month/year) or 2026-01-02 (month/day/year); no value",
         ["--type 'x=varchar(16)'", "--map 'x=x:date=%d/%m/%Y'", "--map 'x=x:date=%m/%d/%Y'"],
         ["01/02/2026", "01/02/2026 → 2026-02-01", "01/02/2026 → 2026-01-02"]),
        (("1,234",), "1.234 (decimal comma) or 1234 (thousands comma)",
         ["--type 'x=varchar(16)'", "--map 'x=x:decimal-comma'", "--map 'x=x:thousands-comma'"],
         ["1,234", "1,234 → 1.234", "1,234 → 1234"]),
        (("$1,234", "$5,678"), "1234 (amount in $, decimal point)", None, None),
    ],
)  # fmt: skip
def test_a_text_that_could_be_different_values_is_asked_about(suggest_both, source, values, asked, flags, shown):
    profile = profile_file(source(semicolons(*values).encode()))
    table, mapping = suggest_both(semicolons(*values))
    [question] = new_column_decisions(profile, table, mapping)
    assert question.guessed
    assert asked in question.evidence
    assert question.answers[0].label == "a text, as it is"
    if flags:
        assert [each.flag for each in question.answers] == flags
        assert [each.shows[0] for each in question.answers] == shown
    assert not [note for note in table.notes if note.startswith("x: ")]
    # Answered by a format, that it stays a text, or a type.
    assert new_column_decisions(profile, table, mapping, [1]) == ()
    assert new_column_decisions(profile, replace(table, stated=("x",)), mapping) == ()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([f"{number:06}" for number in range(9)], "a number has no place for a leading zero ('000000')"),
        ([f"+49{number}" for number in range(9)], "a number has no place for a plus sign ('+490')"),
        ([f"{number}e5" for number in range(1, 10)], "1e5 would become a number with more digits"),
    ],
)
def test_codes_above_a_total_are_not_said_to_be_numbers(suggested, values, why):
    [note] = [each for each in suggested(column_of(*values, "Summe")).notes if each.startswith("x: ")]
    assert note == f"x: text, since {why}."


def test_a_point_beside_decimal_commas_may_be_one_between_thousands(suggest_both):
    text = "n;price;pieces\n1;2,50;1.234\n2;3,75;2.000\n"
    table, _ = suggest_both(text)
    assert types(table) == {"n": "int", "price": "decimal(5,2)", "pieces": "varchar(16)"}
    assert any("--map 'pieces=pieces:thousands-dot'" in note for note in table.notes)
    table, mapping = suggest_both(text, FieldOverride("pieces", "pieces", ("thousands-dot",)))
    assert types(table)["pieces"] == "int"
    assert mapping[2].transforms == ("thousands-dot",)


@pytest.mark.parametrize(
    ("override", "values", "type_"),
    [
        (FieldOverride("x", "x", datetime_format="%d/%m/%Y"), ("01/02/2024", "03/04/2024"), "date"),
        (FieldOverride("x", "x", datetime_format="%d/%m/%y %H:%i:%s.%f"), ("01/02/24 10:00:00.125",), "datetime(6)"),
        (FieldOverride("x", "x", ("thousands-comma",)), ("1,234", "5"), "int"),
        (FieldOverride("x", "x", ("decimal-comma",)), ("1,234", "5"), "decimal(6,3)"),
        (FieldOverride("x", "x", ("trim", "upper")), ("5", "6"), "varchar(16)"),
        (FieldOverride("x", "x", null_markers=("k.A.",)), ("5", "k.A."), "int"),
    ],
)
def test_a_given_format_decides_the_type(suggest_both, override, values, type_):
    table, mapping = suggest_both(semicolons(*values), override)
    assert types(table)["x"] == type_
    assert mapping[1].datetime_format == (override.datetime_format or "")


class TestQuestion:
    TEXT = semicolons("31.12.2024", "30.12.2024", "29.12.2024", "28.12.2024", "n/k", "27.12.2024")

    def decisions(self, tmp_path, change=lambda table: table, *overrides):
        path = tmp_path / "file.csv"
        path.write_text(self.TEXT)
        profile = profile_file(path)
        table = change(suggest_table("s", "t", profile, overrides=overrides))
        return new_column_decisions(profile, table, map_to_new(profile, table.as_table(), overrides=overrides))

    def test_one_bad_value_among_dates_is_named_with_the_choices(self, tmp_path):
        [asked] = self.decisions(tmp_path)
        assert asked.guessed
        assert asked.key == "type:x"
        assert asked.evidence == "x: 'n/k' on line 6 is no date, as the others are (1 of 6 values is none)."
        assert [answer.flag for answer in asked.answers] == [
            "--type 'x=date' --on-error reject", "--type 'x=varchar(16)'", "--map 'x=x:null=n/k'",
        ]  # fmt: skip
        assert asked.answers[0].shows == ("line 6: n/k",)

    @pytest.mark.parametrize("type_", ["date", "varchar(16)"])
    def test_a_stated_type_is_the_answer(self, tmp_path, type_):
        assert self.decisions(tmp_path, lambda table: change_table(table, {"x": type_}, (), widen=True)) == ()

    def test_a_null_marker_is_the_answer(self, tmp_path):
        assert self.decisions(tmp_path, lambda table: table, FieldOverride("x", "x", null_markers=("n/k",))) == ()
