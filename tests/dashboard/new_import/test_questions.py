"""The questions about a file on the new import page: shown with evidence, answered by a button or by a field."""

import json
import re
from html import unescape

import pytest
from django.urls import reverse

from importer.engine.mysql.connection import connect, execute
from importer.models import ImportJob
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded

pytestmark = pytest.mark.django_db

MISSPELT = b"id,nmae,price,extra\n1,Anna,10.5,x\n2,Bo,11,y\n"
TABLES = ("CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(50), price DECIMAL(8,2) DEFAULT 0)",)


def buttons(answer) -> dict[str, str]:
    """The answer buttons of the page: label to value."""
    found = re.findall(r'<button[^>]*name="answer" value=["\']([^>]*)["\']>([^<]*)</button>', answer.content.decode())
    return {unescape(label): unescape(value) for value, label in found}


def test_a_misspelt_name_and_a_field_too_many_are_asked_about(browser, user, target):
    answer = show(browser, uploaded(user, MISSPELT, "people.csv"))
    html = answer.content.decode()
    assert answer.status_code == 200
    assert ">2 questions<" in html
    assert (
        "The table people has no column nmae. Its column name, which no field fills, has a name like it."
        in unescape(html)
    )
    assert list(buttons(answer)) == [
        "Leave it out",
        "Put it into name",
        "Add the column extra varchar(16)",
        "Accept the first answers",
    ]
    assert re.search(r'<button[^>]*id="start-[^>]* disabled', html)


def test_nothing_starts_before_the_answers(browser, user, target):
    source = uploaded(user, MISSPELT, "people.csv")
    assert start(browser, source, **shown_form(show(browser, source))).status_code == 422
    assert not ImportJob.objects.exists()


def test_buttons_answer(browser, user, target):
    source = uploaded(user, MISSPELT, "people.csv")
    shown = show(browser, source)
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["Put it into name"])
    assert shown_form(shown)["column_1"] == "name"
    assert list(buttons(shown)) == ["Leave it out", "Add the column extra varchar(16)", "Accept the first answers"]
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["Leave it out"])
    assert buttons(shown) == {}
    assert start(browser, source, **shown_form(shown)).status_code == 200
    job = ImportJob.objects.get()
    assert [each.column for each in job.mapping] == ["id", "name", "price", ""]
    assert (job.reading_json["guesses"], job.reading_json["unmatched_fields"]) == ([], ["extra"])


def test_it_is_asked_what_a_backslash_escapes(browser, user, target):
    source = uploaded(user, b'id,name\n1,"5\\" pipe"\n2,"one\\ntwo"\n', "people.csv")
    shown = show(browser, source)
    assert shown_form(shown)["escape"] == "quote"
    answers = buttons(shown)
    assert list(answers) == ["Only quotes are escaped", "MySQL's escapes", "Accept the first answers"]
    for label, escape in (("Only quotes are escaped", "quote"), ("MySQL's escapes", "\\")):
        answered = show(browser, source, **shown_form(shown), answer=answers[label])
        assert (shown_form(answered)["escape"], buttons(answered)) == (escape, {})
    chosen = show(browser, source, **shown_form(shown) | {"escape": "php"})
    assert (shown_form(chosen)["escape"], buttons(chosen)) == ("php", {})
    assert start(browser, source, **shown_form(chosen)).status_code == 200
    assert ImportJob.objects.get().dialect.escape == "php"


def test_the_field_itself_answers(browser, user, target):
    source = uploaded(user, b"id,nmae\n1,Anna\n", "people.csv")
    values = shown_form(show(browser, source)) | {"column_1": "name"}
    shown = show(browser, source, **values)
    assert buttons(shown) == {}
    assert json.loads(shown_form(shown)["answered"]) == ["column_1"]


def test_accepted_guesses_are_on_the_record(browser, user, target):
    source = uploaded(user, MISSPELT, "people.csv")
    shown = show(browser, source)
    assert "nmae: leave it out; extra: leave it out</span>" in shown.text
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["Accept the first answers"])
    assert ": leave it out" not in shown.text
    pressed = re.findall(r'aria-pressed="true" name="answer"[^>]*>([^<]*)<', shown.text)
    assert pressed == ["Leave it out", "Leave it out"]
    assert start(browser, source, **shown_form(shown)).status_code == 200
    reading = ImportJob.objects.get().reading_json
    assert reading["guesses_accepted"]
    assert [guess["field"] for guess in reading["guesses"]] == ["nmae", "extra"]


def test_a_question_that_comes_up_later_is_not_accepted_with_the_first_ones(browser, user, target):
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE others (id INT PRIMARY KEY, nmae VARCHAR(50), pryce DECIMAL(8,2))")
    source = uploaded(user, MISSPELT, "people.csv")
    shown = show(browser, source)
    assert "2 questions" in shown.text
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["Accept the first answers"])
    assert "question<" not in shown.text
    # Of the other table nobody has seen a question yet.
    shown = show(browser, source, **shown_form(shown) | {"table": "others"})
    assert "Put it into pryce" in buttons(shown)
    assert start(browser, source, **shown_form(shown)).status_code == 422
    assert not ImportJob.objects.exists()
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["Accept the first answers"])
    assert start(browser, source, **shown_form(shown)).status_code == 200


def test_another_table_asks_again(browser, user, target):
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE others (id INT PRIMARY KEY, namae VARCHAR(50))")
    source = uploaded(user, b"id,nmae\n1,Anna\n", "people.csv")
    shown = show(browser, source)
    values = shown_form(show(browser, source, **shown_form(shown), answer=buttons(shown)["Leave it out"]))
    assert list(buttons(show(browser, source, **{**values, "table": "others"}))) == [
        "Leave it out",
        "Put it into namae",
        "Accept the first answers",
    ]


def test_a_changed_format_field_is_stated_and_the_rest_is_detected_again(browser, user, target):
    source = uploaded(user, b"id;name,x\n1;Anna,x\n2;Bo,y\n", "people.csv")
    values = shown_form(show(browser, source))
    shown = shown_form(show(browser, source, **{**values, "delimiter": "|"}))
    assert (shown["delimiter"], json.loads(shown["answered"])) == ("|", ["delimiter"])


def test_an_answer_about_the_footer_stays_until_the_start(browser, user, target):
    source = uploaded(user, b"id,name,price\n1,Anna,2\n2,Bo,3\nTotal,,5\n", "people.csv")
    shown = show(browser, source)
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["A footer"])
    shown = show(browser, source, **shown_form(shown))
    assert buttons(shown) == {}
    assert start(browser, source, **shown_form(shown)).status_code == 200
    assert ImportJob.objects.get().file_dialect.skip_footer == 1


FOUR = b"id,town,since,height,note\n1,Graz,2024-12-31,1.75,first\n2,Linz,2025-02-01,1.80,second\n"


def test_many_fields_without_a_column_are_asked_about_once(browser, user, target):
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE few (id INT PRIMARY KEY)")
    source = uploaded(user, FOUR, "few.csv")
    shown = show(browser, source, **shown_form(show(browser, source)) | {"table": "few"})
    boxes = re.findall(r'<div class="questions">.*?</div>\s*</div>', shown.text, re.S)
    assert len(boxes) == 1
    assert "4 fields have no column in few: town, since, height, note" in shown.text
    one_by_one = shown.text.partition("One by one")[2]
    assert shown.text.count("Leave it out") == one_by_one.count("Leave it out") == 4
    # Nothing was guessed of what is not loaded.
    assert shown.text.count("not loaded · no matching column") == 4
    assert ">guessed<" not in shown.text
    added = show(browser, source, **shown_form(shown), answer=buttons(shown)["Add 4 columns"])
    assert added.text.count("new column</span>") == 4
    left = show(browser, source, **shown_form(shown), answer=buttons(shown)["Leave them out"])
    assert "fields have no column" not in left.text
    assert left.text.count("not loaded</span>") == 4


def test_fields_that_are_asked_about_once_are_accepted_together(browser, user, target):
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE few (id INT PRIMARY KEY)")
    source = uploaded(user, FOUR, "few.csv")
    shown = show(browser, source, **shown_form(show(browser, source)) | {"table": "few"})
    assert 'class="question accepted"' not in shown.text
    shown = show(browser, source, **shown_form(shown), answer=buttons(shown)["Accept the first answers"])
    assert shown.text.count('class="question accepted"') == 5


def test_the_page_has_a_title_and_its_place_in_the_head(browser, target):
    page = browser.get(reverse("new")).text
    assert re.search(r'<h1 class="page-title break">New import</h1>', page)
    current = re.findall(r'href="[^"]+"[^>]* aria-current="page">([^<]+)<', page)
    assert current == ["New import"]
    elsewhere = browser.get(reverse("jobs")).text
    assert f'href="{reverse("new")}">New import</a>' in elsewhere
