"""Tests the comparison of field names with column names."""

import pytest

from importer.engine.source.formats.header_names import match_names


@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("Name", "name"),
        (" name ", "name"),
        ("First Name", "first_name"),
        ("first-name", "first_name"),
        ("unit_price", "unitPrice"),
        ("Größe", "grosse"),
        ("Straße", "STRASSE"),
        ("prénom", "prenom"),
        ("#id", "id"),
        ("# id", "id"),
        ("\ufeffid", "id"),
        ("id\u200b", "id"),
        ("order\u00a0no", "order_no"),
    ],
)
def test_a_name_that_differs_in_form_only_fits(field: str, column: str):
    assert match_names(["other", field], ["x", column]) == ["", column]


@pytest.mark.parametrize(("field", "column"), [("nmae", "name"), ("", "_"), ("id", "idx"), ("price 2", "price")])
def test_another_name_does_not_fit(field: str, column: str):
    assert match_names([field], [column]) == [""]


def test_an_equal_name_comes_before_a_similar_one():
    assert match_names(["First Name", "first_name"], ["first_name"]) == ["", "first_name"]
    assert match_names(["first name", "FIRST_NAME"], ["first_name", "firstname"]) == ["firstname", "first_name"]


def test_a_name_that_two_columns_have_is_left_open():
    assert match_names(["First Name"], ["first_name", "firstName"]) == [""]


def test_a_name_goes_to_one_field_only():
    assert match_names(["id", "ID"], ["id"]) == ["id", ""]
