"""Tests that drawn tables are named, and that CSV files are not taken for one."""

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.profile.drawn_tables import is_fixed_width
from importer.engine.source.profile.profile import profile_file
from importer.engine.source.profile.sniff import sniff

BOXED = "+----+------+\n| id | name |\n+----+------+\n|  1 | Anna |\n+----+------+\n"


@pytest.mark.parametrize(
    ("sample", "kind"),
    [
        (BOXED, "as the mysql client prints it"),
        ("\n" + BOXED, "as the mysql client prints it"),
        ("| id | name |\n|----|:-----|\n| 1 | Anna |\n", "a Markdown table"),
        ("id | name\n---|---\n1 | Anna\n", "a Markdown table"),
        (" id | name\n----+------\n  1 | Anna\n(1 row)\n", "aligned output of psql"),
        ("┌────┬──────┐\n│ id │ name │\n", "a table with borders"),
        ('"id,name,city"\n"1,Anna,Oslo"\n"2,""Bo"",Rome"\n', "Each line as a whole is in quotes"),
    ],
)
def test_a_drawn_table_is_named(sample: str, kind: str):
    with pytest.raises(SourceProblem, match=kind) as caught:
        sniff(sample.encode(), final=True)
    assert caught.value.where.startswith("line ")
    assert caught.value.advice


@pytest.mark.parametrize(
    "sample",
    [
        "id,name\n1,Anna\n",
        "id|name\n1|Anna\n--|--\n",
        '"id","name"\n"1","Anna"\n',
        '"name"\n"Anna, Bo"\n"Cy"\n',
        '"name"\n"Anna"\n',
        "a+b\n+-+\n",
        "",
    ],
)
def test_a_csv_file_is_none(sample: str):
    assert sniff(sample.encode(), final=True)


def test_values_at_the_same_places_are_of_fixed_width():
    assert is_fixed_width(
        "id    name      city\n1     Anna      Oslo\n22    Bo        Rome\n333   Cy Young  Bonn\n4     Di        Lima\n"
    )


@pytest.mark.parametrize(
    "sample",
    [
        "note\nhello there my friend\nfine\nall is well\nso it is\n",
        "id;name;city\n1;Anna;Oslo\n2;Bo;Rome\n3;Cy;Bonn\n4;Di;Lima\n",
        "Only Street 1\nStreet 0, Town\nStreet 1, Town\nStreet 2, Town\nStreet 3, Town\n",
        "a b\nc d\n",
    ],
)
def test_text_and_csv_are_not_of_fixed_width(sample: str):
    assert not is_fixed_width(sample)


@pytest.mark.parametrize("text", [BOXED, "id   name   city\n1    Anna   Oslo\n2    Bo     Rome\n3    Cy     Bonn\n"])
def test_a_file_is_refused_by_name_unless_its_delimiter_is_stated(source, text: str):
    path = source(text, "drawn.txt")
    with pytest.raises(SourceProblem, match=r"drawn\.txt"):
        profile_file(path)
    assert profile_file(path, delimiter="|", quote="").rows
