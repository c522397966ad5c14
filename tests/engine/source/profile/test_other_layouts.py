"""Tests that drawn tables and the like are named in a question, and that CSV files are not taken for one."""

from collections.abc import Sequence

import pytest

from importer.engine.source.decisions import Decision
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.layout.other_layouts import is_fixed_width
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
    asked = delimiter(sniff(sample.encode(), final=True).decisions)
    assert asked.guessed
    assert kind in asked.evidence


def delimiter(decisions: Sequence[Decision]) -> Decision:
    [found] = (each for each in decisions if each.name == "delimiter")
    return found


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
    assert not delimiter(sniff(sample.encode(), final=True).decisions).guessed


def test_the_line_of_a_second_table_is_that_of_the_file():
    text = "Report of May\n\na,b,c\n" + "1,2,3\n" * 3 + "\nd,e\n1,2\n3,4\n"
    columns = [ExpectedColumn(name) for name in "abc"]
    found = sniff(text.encode(), final=True, expected=columns).decisions
    assert "from line 8 on" in delimiter(found).evidence


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


FIXED = "id   name   city\n1    Anna   Oslo\n2    Bo     Rome\n3    Cy     Bonn\n"


@pytest.mark.parametrize(("text", "flags"), [(BOXED, ["--delimiter"]), (FIXED, ["--delimiter", "--format"])])
def test_each_answer_reads_the_file_without_the_question(source, text: str, flags: list[str]):
    path = source(text, "drawn.txt")
    asked = delimiter(profile_file(path).decisions)
    assert [each.flag.split()[0] for each in asked.answers] == flags
    for each in asked.answers:
        profile = profile_file(path, **dict(each.states))
        assert profile.rows
        assert not any(found.name == "delimiter" and found.guessed for found in profile.decisions)
