"""Files of fixed width: stated and proposed widths."""

from pathlib import Path

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import profile_file
from tests.engine.source.formats.copies import copied

TEXT = "id   name       total\n1    Zoë B        1.5\n22   a\\b         -3\n\n333                \n"
RECORDS = [("id", "name", "total"), ("1", "Zoë B", "1.5"), ("22", "a\\b", "-3"), ("333", "", "")]


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "fixed.txt"
    path.write_bytes(text.encode(encoding))
    return path


def test_stated_widths_cut_each_line_by_characters(tmp_path: Path):
    path = written(tmp_path, TEXT)
    assert copied(path, widths="5,9,7") == RECORDS
    assert copied(path, widths="5 9 7", header=False, skip_rows=1) == RECORDS[1:]
    assert profile_file(path, widths="5,9,7").lines == (2, 3, 5)


def test_the_encoding_may_be_another_one(tmp_path: Path):
    path = written(tmp_path, TEXT.replace("\n", "\r\n"), "utf-16")
    assert copied(path, widths="5,9,7") == RECORDS


def test_without_widths_they_are_proposed_and_asked(tmp_path: Path):
    found = profile_file(written(tmp_path, TEXT), format="fixed")
    guesses = {each.name: each.answers for each in found.decisions if each.guessed}
    assert [answer.flag for answer in guesses["widths"]] == ["--widths 5,11,5"]
    assert [answer.flag for answer in guesses["header"]] == ["--header", "--no-header"]


def test_a_first_line_with_the_names_of_the_columns_is_the_header(tmp_path: Path):
    expected = [ExpectedColumn(name) for name in ("id", "name", "total")]
    found = profile_file(written(tmp_path, TEXT), None, expected, widths="5,9,7")
    assert not [each for each in found.decisions if each.guessed]


def test_what_follows_the_last_field_is_one_field_more(tmp_path: Path):
    assert copied(written(tmp_path, "a b\n1 2  x\n"), widths="2,2") == [("a", "b"), ("1", "2", "x")]


@pytest.mark.parametrize("widths", ["0,5", "a", "-1"])
def test_widths_that_are_none_are_refused(tmp_path: Path, widths: str):
    with pytest.raises(SourceProblem, match="are no widths"):
        profile_file(written(tmp_path, TEXT), widths=widths)
