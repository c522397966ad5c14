"""As last time: the page proposes the last import that worked of a file of the same kind."""

import json
from html import unescape

import pytest
from django.urls import reverse

from importer.models import ImportJob
from tests.dashboard.new_import.test_page import HTMX, TABLES, show, shown_form, start, uploaded
from tests.importer.management.test_import_options import prepared_by
from tests.importer.steps import run

__all__ = ["TABLES"]

pytestmark = pytest.mark.django_db
FIRST = b"id,name,seen,population\n1,Berlin,2013-01-01T10:00:00Z,-\n"


def loaded(browser, user, name: str) -> ImportJob:
    """An import of a file of this name into the table cities, with a NULL marker that somebody has chosen."""
    source = uploaded(user, FIRST, name)
    values = shown_form(show(browser, source, table="cities")) | {"null_3": "-"}
    assert start(browser, source, **values).status_code == 200
    return run(ImportJob.objects.get())


def proposed(browser, user, content: bytes, name: str) -> str:
    return unescape(show(browser, uploaded(user, content, name)).text)


def test_the_same_header_proposes_table_columns_and_options(browser, user, target):
    job = loaded(browser, user, "a.csv")
    source = uploaded(user, b"id,name,seen,population\n2,Rome,2013-01-01T10:00:00Z,-\n", "other.csv")
    page = unescape(show(browser, source).text)
    assert f"import {job.pk}</a> of {job.created_at:%A}" in page
    assert "What differs" not in page
    assert "nothing of it is applied yet" in page
    shown = browser.get(f"{reverse('new_source', args=[source.key])}?edit={job.pk}", headers=HTMX)
    values = shown_form(shown)
    assert (values["table"], values["null_3"]) == (f"{target.database}.cities", "-")
    assert "As last time" not in shown.text
    assert start(browser, source, **values).status_code == 200
    assert run(ImportJob.objects.latest("pk")).loaded_rows == 1


def test_a_command_that_is_to_be_like_an_import_proposes_what_the_page_does(browser, user, target, tmp_path):
    job = loaded(browser, user, "a.csv")
    content = b"id,name,seen,population\n2,Rome,2013-01-01T10:00:00Z,-\n"
    source = uploaded(user, content, "b.csv")
    shown = browser.get(f"{reverse('new_source', args=[source.key])}?edit={job.pk}", headers=HTMX)
    assert start(browser, source, **shown_form(shown)).status_code == 200
    page = ImportJob.objects.latest("pk")
    (tmp_path / "b.csv").write_bytes(content)
    made = prepared_by(str(tmp_path / "b.csv"), "--like", str(job.pk))
    recipe = made.recipe
    target = recipe.pop("target")
    assert target == page.target
    assert json.loads(json.dumps(recipe)) == {name: getattr(page, name) for name in recipe}


def test_the_same_name_with_another_date_says_what_differs(browser, user, target):
    loaded(browser, user, "cities 2026-11-20.csv")
    page = proposed(browser, user, b"id;name;seen;people\n2;Rome;2013-01-01T10:00:00Z;3\n", "cities 2026-11-27.csv")
    assert "What differs: the header (population missing; people new); the format (then comma" in page


def test_nothing_is_proposed_of_other_files_and_of_imports_that_did_not_work(browser, user, target):
    job = loaded(browser, user, "a.csv")
    assert "As last time" not in proposed(browser, user, b"x,y\n1,2\n", "b.csv")
    ImportJob.objects.filter(pk=job.pk).update(status="failed")
    assert "As last time" not in proposed(browser, user, FIRST, "a2.csv")
