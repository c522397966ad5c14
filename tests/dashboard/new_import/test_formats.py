"""The new import page: files of other formats than CSV."""

from pathlib import Path

import pytest

from importer.models import ImportJob
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.importer.formats.workbooks import write_xlsx

pytestmark = pytest.mark.django_db

LINES = b'{"id": 1, "name": "Zo\xc3\xab"}\n\n{"id": 2}\n'
TABLES = ("CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(60)) ENGINE=InnoDB",)


def workbook(folder: Path) -> bytes:
    sheets = {"May": [("id", "name"), (1, "a")], "June": [("id", "name"), (2, "b")]}
    return write_xlsx(folder / "book", sheets).read_bytes()


def test_the_format_is_named_and_only_its_options_are_shown(browser, user, target):
    answer = show(browser, uploaded(user, LINES, name="people.jsonl"))
    html = answer.content.decode()
    shown = shown_form(answer)
    assert (shown["format"], shown["encoding"]) == ("jsonl", "utf-8")
    assert not {"delimiter", "quote", "sheet", "widths"} & shown.keys()
    assert "JSON Lines" in html
    assert ">Zoë</td>" in html


def test_a_csv_file_has_no_options_of_other_formats(browser, user, target):
    shown = shown_form(show(browser, uploaded(user)))
    assert shown["format"] == "csv"
    assert not {"sheet", "sql_table", "widths"} & shown.keys()


def test_a_sheet_is_chosen_by_a_button_or_in_its_field(browser, user, target, tmp_path):
    source = uploaded(user, workbook(tmp_path), name="people.xlsx")
    answer = show(browser, source)
    html = answer.content.decode()
    assert ("The sheet May" in html, "The sheet June" in html) == (True, True)
    answer = show(browser, source, **{**shown_form(answer), "sheet": "June"})
    assert shown_form(answer)["sheet"] == "June"
    assert "one is read at a time" not in answer.content.decode()


def test_the_import_keeps_format_and_sheet(browser, user, target, tmp_path):
    source = uploaded(user, workbook(tmp_path), name="people.xlsx")
    values = {**shown_form(show(browser, source)), "sheet": "June"}
    answer = show(browser, source, **values)
    assert "/jobs/" in start(browser, source, **shown_form(answer)).url
    dialect = ImportJob.objects.get().file_dialect
    assert (dialect.format, dialect.sheet, dialect.fields) == ("xlsx", "June", ("id", "name"))


def test_a_broken_line_is_named(browser, user, target):
    answer = show(browser, uploaded(user, LINES + b'{"id": 3, "na', name="people.jsonl"))
    html = answer.content.decode()
    assert ("line 4" in html, "The JSON ends in the middle of an object" in html) == (True, True)


def test_a_line_end_of_its_own_is_entered_and_kept(browser, user, target):
    source = uploaded(user, b"id:::,name^^^\n1:::,a\nb^^^\n", name="people.txt")
    entered = {"line_end": r"^^^\n", "delimiter": ":::,", "header": "yes"}
    answer = show(browser, source, **{**shown_form(show(browser, source)), **entered})
    shown = shown_form(answer)
    assert {name: shown[name] for name in ("format", *entered)} == {"format": "own-line-ends", **entered}
    assert "/jobs/" in start(browser, source, **shown).url
    dialect = ImportJob.objects.get().file_dialect
    assert (dialect.own["line_end"], dialect.fields) == ("^^^\n", ("id", "name"))
