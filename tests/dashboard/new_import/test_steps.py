"""What the page says of its steps: the format in short, the rows, the plan as a sentence, what is missing."""

import re

import pytest

from dashboard.new_import.steps import RowCount, format_in_short
from importer.engine.source.dialect import RFC4180, Dialect
from importer.models import ImportJob
from tests.dashboard.new_import.test_page import CITIES, TABLES, show, shown_form, start, uploaded

__all__ = ["TABLES"]


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        (RFC4180, "comma, UTF-8, header row"),
        (Dialect(delimiter=";", encoding="cp1252", header=False), "semicolon, cp1252, no header row"),
        (Dialect(delimiter=", "), "“, ”, UTF-8, header row"),
        (Dialect(delimiter="\x01"), r"“\x01”, UTF-8, header row"),
    ],
)
def test_a_format_in_short(dialect, words):
    assert format_in_short(dialect) == words


@pytest.mark.parametrize(
    ("rows", "counted", "words"),
    [
        (336_776, True, "336,776 rows"),
        (336_776, False, "about 337,000 rows"),
        (1, True, "1 row"),
        (12, False, "about 12 rows"),
    ],
)
def test_rows_that_were_not_counted_are_rounded(rows, counted, words):
    assert str(RowCount(rows, counted)) == words


@pytest.mark.django_db
def test_the_plan_is_one_sentence_and_the_bar_says_what_is_missing(browser, user, target):
    html = show(browser, uploaded(user)).content.decode()
    assert f"3 rows into {target.database}.cities, 1 in parallel" in html
    html = show(browser, uploaded(user, name="other.csv")).content.decode()
    assert re.search(r"start-message-[^>]*>\s*<strong>Choose a table</strong>", html)
    assert "plan-sentence" not in html


@pytest.mark.django_db
def test_step_2_names_the_imports_that_are_under_way_into_the_chosen_table(browser, user, target):
    def notice(**values: str) -> str:
        html = show(browser, another, **values).content.decode()
        step = html.partition(f'aria-labelledby="step-table-{another.key}"')[2].partition("</section>")[0]
        return re.sub(r"<[^>]*>", "", step.partition("Imports into")[2].partition("</div>")[0])

    another = uploaded(user, CITIES + b"4,Oslo,2013-01-04T13:00:00Z,1\n")
    assert notice() == ""
    source = uploaded(user)
    start(browser, source, **shown_form(show(browser, source)))
    first = ImportJob.objects.get()
    assert notice() == (
        f" {target.database}.cities are under way: import {first.pk} of cities.csv (loading)."
        " One at a time loads into a table, so this one waits for them."
    )
    assert notice(target=target.pk, table="strict_ones") == ""
    ImportJob.objects.update(status=ImportJob.Status.SUCCEEDED)
    assert notice() == ""
