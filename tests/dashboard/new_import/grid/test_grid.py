"""The grid of the new import page: mapping in its headers, values as they will be stored, rows with problems."""

import re
from html import unescape

import pytest

from dashboard.new_import.grid.view import WINDOW
from importer.engine.mysql.connection import connect, execute
from importer.models import ImportJob, Target
from tests.cost import cost_of
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.targets import saved_target

pytestmark = pytest.mark.django_db

WIDTH = 60


@pytest.fixture
def target(mariadb) -> Target:
    with connect(mariadb) as connection:
        execute(connection, "CREATE TABLE sales (id INT PRIMARY KEY, day DATE, amount DECIMAL(9,2))")
        columns = ", ".join(f"c{number} INT" for number in range(WIDTH))
        execute(connection, f"CREATE TABLE wide (id INT PRIMARY KEY, {columns}, extra VARCHAR(9), spare VARCHAR(9))")
    return saved_target(mariadb)


def press(values: dict[str, str], html: str, label: str) -> dict[str, str]:
    """The form with the button of this label pressed."""
    buttons = re.findall(r"<button[^>]*value='([^']*)'[^>]*>([^<]*)</button>", html)
    return {**values, "answer": {text: value for value, text in buttons}[label]}


def test_a_converted_value_has_its_text_in_the_title(browser, user, target):
    html = show(browser, uploaded(user, b"id;day;amount\n1;31.12.2024;1.234,50\n", "sales.csv")).content.decode()
    assert re.search(r'<td data-line="2" class="converted" title="in the file: 31.12.2024">2024-12-31</td>', html)
    assert re.search(r'<span class="badge bg-green-lt"[^>]*>certain</span>', html)


def test_the_reading_that_a_note_names_can_be_chosen(browser, user, target):
    source = uploaded(user, "id;amount\n1;39.423,83 €\n2;5,00 €\n".encode(), "sales.csv")
    values = {"target": str(target.pk), "mode": "create", "table": "sales"}
    shown = show(browser, source, **values)
    html = unescape(shown.content.decode())
    assert "“Read as: Amount in €, decimal comma” for amount makes it a number." in html
    assert '<option value="money-comma-€">Amount in €, decimal comma</option>' in html
    shown = show(browser, source, **{**values, **shown_form(shown), "read_1": "money-comma-€"})
    assert shown_form(shown)["type_1"] == "decimal(9,2)"
    assert ">39423.83</td>" in shown.content.decode()


def test_a_date_of_a_new_table_that_can_be_read_in_two_ways_is_asked_about(browser, user, target):
    source = uploaded(user, b"id;day\n1;02/03/2024\n2;04/05/2024\n", "days.csv")
    values = {"target": str(target.pk), "mode": "create", "table": "days"}
    shown = show(browser, source, **values)
    html = unescape(shown.content.decode())
    assert "day: '02/03/2024' can be 2024-03-02 (day/month/year) or 2024-02-03 (month/day/year)" in html
    asked = shown.context["preview"].open_questions
    text, day_first, month_first = asked[0].answers
    assert (len(asked), text.label) == (1, "A text, as it is")
    assert (day_first.shows[0], month_first.shows[0]) == ("02/03/2024 → 2024-03-02", "02/03/2024 → 2024-02-03")
    sent = {**values, **shown_form(shown)}
    for answer, type_ in ((text, "varchar(16)"), (day_first, "date")):
        answered = show(browser, source, **sent, answer=answer.value)
        assert answered.context["preview"].open_questions == []
        assert shown_form(answered)["type_1"] == type_


def test_what_is_asked_about_is_called_guessed_as_in_reports(browser, user, target):
    html = show(browser, uploaded(user, b"id,day,amount\n1,01/02/2024,1.5\n", "sales.csv")).content.decode()
    assert re.search(r'<span class="badge bg-yellow-lt"[^>]*>guessed</span>', html)


def test_rows_with_problems_are_counted_and_shown_alone(browser, user, target):
    lines = [b"%d,2024-01-01,1.5\n" % number for number in range(1, 900)]
    lines[700] = b"x,2024-01-01,1.5\n"
    lines[750] = b"751,2024-01-01\n"
    source = uploaded(user, b"id,day,amount\n" + b"".join(lines), "sales.csv")
    shown = show(browser, source)
    html = shown.content.decode()
    assert "2 rows with problems</strong> in 899 scanned" in html
    assert 'scope="row">702</th><td data-line="702" class="bad">x<span class="reason">' in html
    html = show(browser, source, **press(shown_form(shown), html, "Show only these")).content.decode()
    assert re.findall(r'scope="row">(\d+)<', html) == ["702", "752"]


def test_rows_that_a_new_table_cannot_take_are_counted(browser, user, target):
    rows = b"".join(b"%d,2024-01-01,1.5\n" % number for number in range(1, 900))
    # A value that widens its type is no problem; a row with too few fields is one for every type.
    source = uploaded(user, b"id,day,amount\n" + rows + b"a long name,never,much\n9000,2024-01-01\n", "news.csv")
    html = show(browser, source, target=str(target.pk), mode="create", table="news").content.decode()
    assert "1 row with problems</strong> in 901 scanned" in html
    assert "1 row does not fit" in html
    assert "Import the other 900</button>" in html
    assert 'scope="row">902</th>' in html


def test_fields_that_are_not_shown_keep_their_mapping(browser, user, target):
    names = ["id", *(f"c{number}" for number in range(WIDTH)), "text"]
    source = uploaded(user, (",".join(names) + "\n" + ",".join("1" * len(names)) + "\n").encode(), "wide.csv")
    shown = show(browser, source)
    values = shown_form(shown)
    assert f"column_{WINDOW}" not in values
    values |= {"column_2": "", f"fill_{WIDTH + 1}": "text", f"filltext_{WIDTH + 1}": "x"}
    shown = show(browser, source, **press(values, shown.content.decode(), "Next fields"))
    values = shown_form(shown)
    assert "column_2" not in values
    assert values[f"column_{WINDOW}"] == names[WINDOW]
    shown = show(browser, source, **{**values, "find_field": "TEXT"})
    values = shown_form(shown) | {f"column_{len(names) - 1}": "spare"}
    assert start(browser, source, **values).status_code == 200
    job = ImportJob.objects.get()
    assert [each.column for each in job.mapping] == ["id", "c0", "", *names[3:-1], "spare"]
    assert [(each.column, each.text) for each in job.fillings] == [("extra", "x")]


def test_one_of_many_columns_without_a_field_is_found_and_filled(browser, user, target):
    source = uploaded(user, b"id\n1\n", "wide.csv")
    shown = show(browser, source)
    values = shown_form(shown)
    last = f"fill_{WIDTH + 2}"
    assert last not in values
    assert "And 38 more: each gets its default or NULL" in shown.content.decode()
    folded = re.compile(r'<details class="card-footer unfilled" id="[^"]*"( open)?>\s*<summary[^>]*>(\d+)')
    assert folded.search(shown.text).groups() == (None, "62")
    shown = show(browser, source, **{**values, "find_column": "SPARE"})
    assert folded.search(shown.text)[1]
    values = shown_form(shown) | {last: "text"}
    assert [name for name in values if name.startswith("fill_")] == [last]
    values = shown_form(show(browser, source, **values)) | {last.replace("fill", "filltext"): "x"}
    values = shown_form(show(browser, source, **values)) | {"find_column": "nothing"}
    shown = show(browser, source, **values)
    assert "No column without a field matches." in shown.content.decode()
    start(browser, source, **shown_form(shown))
    assert [(each.column, each.text) for each in ImportJob.objects.get().fillings] == [("spare", "x")]


def test_three_hundred_columns_cost_little_on_the_server(browser, user, mariadb):
    """At most 50 calls for each of the 60,000 values of this sample, together with those for the page itself."""
    names = ["id", *(f"measure_{number:03}" for number in range(299))]
    with connect(mariadb) as connection:
        columns = ", ".join(f"{name} {'DATE' if name[-1] == '3' else 'DECIMAL(9,2)'}" for name in names[1:])
        execute(connection, f"CREATE TABLE many (id INT PRIMARY KEY, {columns})")
    saved_target(mariadb)
    rows = ([str(row), *("2024-03-01" if name[-1] == "3" else f"{row}.25" for name in names[1:])] for row in range(200))
    source = uploaded(user, "\n".join(map(",".join, [names, *rows])).encode(), "many.csv")
    shown = show(browser, source)  # Imports what the first request needs.
    assert cost_of(lambda: show(browser, source)).calls < 50 * 300 * 200
    assert shown.content.count(b"<") < 6000
    assert shown_form(shown)["column_1"] == "measure_000"
