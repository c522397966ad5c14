"""A field without a column gets one: offered with its type, shown as SQL, added when the import starts, and kept."""

from html import unescape

import pytest
from django.urls import reverse

from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.dashboard.new_import.test_questions import buttons
from tests.importer.steps import run
from tests.targets import saved_target

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = b"id,since,town\n1,31.12.2024,Graz\n2,01.02.2025,\n"
OFFERED = "Add the column town varchar(16)"
ALTERED = "ALTER TABLE `{schema}`.`people` ADD COLUMN `since` date NULL, ADD COLUMN `town` varchar(20)"
TABLES = ("CREATE TABLE people (id INT PRIMARY KEY) CHARSET latin1",)


def with_columns(browser, source, **values: str):
    """The page after both columns were added to the table, the second with another type than proposed."""
    shown = show(browser, source, **{**shown_form(show(browser, source)), **values})
    for label in ("Add the column since date", OFFERED):
        shown = show(browser, source, **shown_form(shown), answer=buttons(shown)[label])
    return show(browser, source, **{**shown_form(shown), "add_2": "varchar(20)"})


def rows(target: Target) -> list[tuple]:
    with connect(target.address) as connection:
        return fetch_all(connection, "SELECT id, CAST(since AS CHAR), town FROM people ORDER BY id")


def columns(target: Target) -> list[str]:
    """The names of the table's columns."""
    with connect(target.address) as connection:
        return [row[0] for row in fetch_all(connection, "SHOW COLUMNS FROM people")]


@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_columns_are_added_with_the_proposed_types(browser, user, target, mode):
    source = uploaded(user, PEOPLE, "people.csv")
    shown = with_columns(browser, source, mode=mode)
    html = unescape(shown.content.decode())
    assert ALTERED.format(schema=target.database) in html
    assert "2 columns will be added to the table" in html
    assert "also if the import fails or is cancelled" in html
    assert columns(target) == ["id"]
    start(browser, source, **shown_form(shown))
    job = run(ImportJob.objects.get())
    assert (job.problem, job.balanced) == ({}, True)
    assert rows(target) == [(1, "2024-12-31", "Graz"), (2, "2025-02-01", "")]


def test_a_field_that_is_left_out_again_adds_no_column(browser, user, target):
    source = uploaded(user, PEOPLE, "people.csv")
    shown = with_columns(browser, source)
    shown = show(browser, source, **{**shown_form(shown), "column_2": ""})
    start(browser, source, **shown_form(shown))
    assert [each.name for each in ImportJob.objects.get().plan.added_columns] == ["since"]


def test_a_type_that_is_none_is_refused_and_stays_editable(browser, user, target):
    source = uploaded(user, PEOPLE, "people.csv")
    values = shown_form(with_columns(browser, source))
    answer = show(browser, source, **{**values, "add_2": "int); DROP TABLE people"})
    assert answer.status_code == 422
    assert "not a column type" in answer.content.decode()
    values = shown_form(answer)
    assert values["add_2"] == "int); DROP TABLE people"
    assert show(browser, source, **{**values, "add_2": "varchar(9)"}).status_code == 200


def test_what_was_added_stays_after_a_failure_and_a_retry_adds_what_is_gone(browser, user, target):
    source = uploaded(user, PEOPLE + b"x,01.02.2025,Linz\n", "people.csv")
    start(browser, source, **shown_form(with_columns(browser, source)))
    job = run(ImportJob.objects.get())
    assert job.status == "failed"
    assert columns(target) == ["id", "since", "town"]
    with connect(target.address) as connection:
        execute(connection, "ALTER TABLE people DROP COLUMN town")
    commands.retry(job.pk, leave_out=True)
    job = run(job)
    assert (job.status, job.rejected_rows) == ("succeeded", 1)
    assert rows(target)[0] == (1, "2024-12-31", "Graz")


def test_a_table_that_changed_since_gets_no_column(browser, user, target):
    source = uploaded(user, PEOPLE, "people.csv")
    start(browser, source, **shown_form(with_columns(browser, source)))
    with connect(target.address) as connection:
        execute(connection, "ALTER TABLE people ADD COLUMN other INT")
    job = run(ImportJob.objects.get())
    assert "has changed since the import was planned" in job.problem["what"]
    assert columns(target) == ["id", "other"]


def test_an_account_that_may_not_alter_the_table_is_offered_nothing(browser, user, target):
    with connect(target.address) as connection:
        execute(connection, "CREATE USER IF NOT EXISTS filler@'%' IDENTIFIED BY 'x'")
        execute(connection, f"GRANT SELECT, INSERT ON `{target.database}`.* TO filler@'%'")
    source = uploaded(user, PEOPLE, "people.csv")
    values = shown_form(with_columns(browser, source))
    address = target.address
    target.delete()
    limited = saved_target(address, "limited")
    limited.user = "filler"
    limited.set_password("x")
    limited.save()
    assert not [each for each in buttons(show(browser, uploaded(user, PEOPLE, "people.csv"))) if "Add" in each]
    shown = shown_form(show(browser, source, **{**values, "target": str(limited.pk)}))
    forced = {**shown, "column_2": "town", "add_2": "varchar(16)", "column_1": ""}
    assert "may not add columns to" in show(browser, source, **forced).content.decode()


def test_a_preset_of_columns_that_are_not_there_yet_is_refused(browser, user, target):
    source = uploaded(user, PEOPLE, "people.csv")
    values = {**shown_form(with_columns(browser, source)), "preset_name": "early"}
    answer = browser.post(reverse("save_preset", args=[source.key]), values, headers={"HX-Request": "true"})
    assert "does not have the column since yet" in answer.content.decode()
