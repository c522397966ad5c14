"""What the form of a new import sends, as values."""

import pytest

from dashboard.fields.null_markers import parse_markers, show_markers
from dashboard.new_import.form import NewImportForm
from importer.engine.errors import Problem


@pytest.mark.parametrize(
    ("text", "markers"),
    [("", ()), ("NA", ("NA",)), ('NA, ""', ("NA", "")), ('"a,b", - ', ("a,b", "- ")), ('"x""y"', ('x"y',))],
)
def test_written_as_in_a_line_of_csv(text, markers):
    assert parse_markers(text) == markers
    assert parse_markers(show_markers(markers)) == markers


def test_once_each():
    assert parse_markers("NA, NA") == ("NA",)


def test_no_line_at_all():
    with pytest.raises(Problem, match="no list of NULL markers"):
        parse_markers("a\rb")


def test_target_that_is_no_number():
    assert NewImportForm({"target": "1 OR 1"}).target is None
