"""Tests the decisions about fields and columns: what is certain, what is asked, and which answers are offered."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.mapping.columns import FieldOverride
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.reading.build import make_reading
from importer.engine.reading.expected import expected_columns
from importer.engine.reading.reading import Reading, reading_to_json, stored_reading
from importer.engine.reading.stated import NOTHING, Stated
from importer.engine.schema.table import Column, Table
from importer.engine.source.decisions import Standing
from importer.engine.source.profile.profile import profile_file


def column(name: str, type_: str = "varchar(50)", *, default: str | None = None, nullable: bool = True) -> Column:
    return Column(name, type_, nullable, default, False, False)


ITEMS = (column("id", "int", nullable=False), column("name"), column("price", "decimal(8,2)", default="0"))


def read(tmp_path: Path, text: str, columns: Sequence[Column] = ITEMS, stated: Stated = NOTHING,
         overrides: Sequence[FieldOverride] = (), **known) -> Reading:  # fmt: skip
    path = tmp_path / "items.csv"
    path.write_text(text)
    table = Table("shop", "items", "InnoDB", tuple(columns))
    profile = profile_file(path, None, expected_columns(table), **known)
    return make_reading(profile, table, suggest_mapping(profile, table, overrides=overrides), stated=stated)


def asked(reading: Reading) -> list[tuple[str, str]]:
    return [(guess.name, guess.field) for guess in reading.guesses]


def test_a_header_that_fits_is_not_asked_about(tmp_path: Path):
    reading = read(tmp_path, "id,name,price\n1,Anna,10.5\n2,Bo,11\n")
    assert asked(reading) == []
    assert [each.column for each in reading.columns] == ["id", "name", "price"]
    assert reading.unmatched_fields == reading.unfilled_columns == ()


def test_a_misspelt_name_is_asked_about_with_the_near_column(tmp_path: Path):
    reading = read(tmp_path, "id,nmae,price\n1,Anna,10.5\n2,Bo,11\n")
    [guess] = reading.guesses
    assert (guess.key, guess.value) == ("mapping:nmae", "left out")
    assert [(answer.flag, answer.shows) for answer in guess.answers] == [
        ("--map 'nmae='", ("Anna", "Bo")),
        ("--map 'nmae=name'", ("Anna", "Bo")),
    ]
    assert reading.unfilled_columns == ("name",)


@pytest.mark.parametrize(("name", "field"), [("price", "#3"), ("PRICE ", "#3"), ("#Price", "#Price")])
def test_which_of_two_fields_a_column_is_for_is_asked(tmp_path: Path, name: str, field: str):
    reading = read(tmp_path, f"id,price,{name}\n1,2,3\n")
    [guess] = reading.guesses
    both = "Fields 2 and 3 of the file both have the name of the column price: field 2 goes into it."
    assert (guess.key, guess.evidence) == (f"mapping:{field}", f"{both} Field 3 has none.")
    assert [answer.flag for answer in guess.answers] == [f"--map '{field}='", f"--map '{field}=price'"]
    assert [(each.column, each.standing) for each in reading.columns[1:]] == [
        ("price", Standing.RULE),
        ("", Standing.GUESSED),
    ]
    assert both in reading.notes


@pytest.mark.parametrize(
    ("column", "columns", "standings"),
    [("", ["price", ""], [Standing.RULE, Standing.STATED]),
     ("price", ["", "price"], [Standing.STATED, Standing.RULE])],
)  # fmt: skip
def test_one_of_two_fields_of_a_column_is_chosen(tmp_path: Path, column: str, columns, standings):
    chosen = (FieldOverride("#3", column),)
    reading = read(tmp_path, "id,price,price\n1,2,3\n", stated=Stated(fields=frozenset({2})), overrides=chosen)
    assert reading.guesses == ()
    assert [(each.column, each.standing) for each in reading.columns[1:]] == list(zip(columns, standings, strict=True))


def test_a_file_for_another_table_is_not_said_to_be_stated(tmp_path: Path):
    reading = read(tmp_path, "x,y\n1,2\n")
    assert [(each.column, each.standing) for each in reading.columns] == [("", Standing.RULE)] * 2
    reading = read(tmp_path, "x,y\n1,2\n", stated=Stated(mapping=True))
    assert [each.standing for each in reading.columns] == [Standing.STATED] * 2


def test_a_field_is_not_said_to_lack_a_column_that_is_there(tmp_path: Path):
    computed = replace(column("total"), generated=True)
    [guess] = read(tmp_path, "id,total\n1,2\n", (ITEMS[0], computed)).guesses
    assert guess.evidence == "The field total goes into no column, although the table has the column total."


def test_a_field_without_a_column_is_asked_about(tmp_path: Path):
    reading = read(tmp_path, "id,name,price,extra\n1,Anna,10.5,x\n2,Bo,11,y\n")
    assert asked(reading) == [("mapping", "extra")]
    assert [answer.flag for answer in reading.guesses[0].answers] == ["--map 'extra='"]


@pytest.mark.parametrize(
    "stated",
    [
        Stated(ignore_fields=True),
        Stated(keys=frozenset({"mapping:extra"})),
        Stated(fields=frozenset({3})),
        Stated(mapping=True),
    ],
)
def test_a_field_that_is_left_out_on_purpose_is_not_asked_about(tmp_path: Path, stated: Stated):
    reading = read(tmp_path, "id,name,price,extra\n1,Anna,10.5,x\n2,Bo,11,y\n", stated=stated)
    assert asked(reading) == []
    assert reading.unmatched_fields == ("extra",)
    assert reading.columns[3].standing is Standing.STATED


def test_a_column_without_a_field_is_noted(tmp_path: Path):
    reading = read(tmp_path, "id,name\n1,Anna\n2,Bo\n")
    assert asked(reading) == []
    assert reading.unfilled_columns == ("price",)
    assert reading.notes == ("No field of the file goes into price: their default.",)


def test_a_blank_field_is_left_out_without_a_question(tmp_path: Path):
    reading = read(tmp_path, "id,name,,price\n1,Anna,,10.5\n2,Bo,,11\n")
    assert asked(reading) == []
    assert reading.unmatched_fields == ("",)


def test_values_by_position_that_fit_their_types_are_not_asked_about(tmp_path: Path):
    reading = read(tmp_path, "1,Anna,10.5\n2,Bo,11\n")
    assert asked(reading) == []
    [match] = [each for each in reading.decisions if each.name == "match"]
    assert (match.value, match.standing) == ("by position", Standing.RULE)


def test_values_by_position_that_do_not_fit_are_asked_about(tmp_path: Path):
    reading = read(tmp_path, "Anna,1,x\nBo,2,y\n", header=False)
    assert ("match", "") in asked(reading)
    assert asked(read(tmp_path, "Anna,1,x\n", stated=Stated(keys=frozenset({"match"})), header=False)) == []


def test_the_stored_reading_is_read_back(tmp_path: Path):
    reading = read(tmp_path, "id,nmae,price\n1,Anna,10.5\n2,Bo,11\n")
    stored = stored_reading(reading_to_json(reading))
    assert stored.columns == reading.columns
    assert [guess["answers"][0]["flag"] for guess in stored.guesses] == ["--map 'nmae='"]
    assert stored_reading({}).columns == ()
