"""Rows are not loaded twice unnoticed: earlier imports of a file are shown, also those that read it with others."""

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.access.acting import acting_as
from importer.models import ImportJob
from importer.sources.several import as_one
from tests.dashboard.job_data import Status, make_job
from tests.dashboard.lab.reports import reported
from tests.dashboard.new_import.test_page import CITIES, show, shown_form, start, uploaded
from tests.dashboard.new_import.test_page import TABLES as TABLES  # noqa: PLC0414 -- of the fixture `target`
from tests.people import operator

pytestmark = pytest.mark.django_db(transaction=True)


def joined(user):
    """Two uploads, and the source that reads both."""
    one, two = uploaded(user), uploaded(user, CITIES.replace(b"\n1,", b"\n4,"), "more.csv")
    with acting_as(user):
        return one, two, as_one([one, two])


def test_one_press_does_not_load_a_file_twice(browser, user, target):
    """The page is older than an import of its file: of the browser's way back, or in another tab."""
    source = uploaded(user)
    values = shown_form(show(browser, source))
    start(browser, source, **values)
    end_all()
    refused_once(browser, source, values)


@pytest.mark.parametrize("loaded", ["alone", "with others"])
def test_neither_does_a_press_for_a_file_that_was_read_with_others(browser, user, target, loaded):
    one, _, whole = joined(user)
    first, second = (one, whole) if loaded == "alone" else (whole, one)
    values = shown_form(show(browser, second, target=target.pk, table="cities"))
    start(browser, first, **shown_form(show(browser, first, target=target.pk, table="cities")))
    assert "is being imported into" in start(browser, second, **values).content.decode()
    end_all()
    refused_once(browser, second, values)


def end_all() -> None:
    ImportJob.objects.update(status=ImportJob.Status.SUCCEEDED, table_claim=None)


def refused_once(browser, source, values) -> None:
    """What is shown with the refusal starts the import."""
    answer = start(browser, source, **values)
    assert answer.status_code == 422
    assert f"Import {ImportJob.objects.get().pk} of this file into" in answer.content.decode()
    start(browser, source, **shown_form(answer))
    assert ImportJob.objects.count() == 2


def test_a_file_that_was_read_with_others_has_been_imported(browser, user):
    one, _, whole = joined(user)
    job = make_job(Status.SUCCEEDED, chunks=1, user=user)
    ImportJob.objects.update(source=whole)
    link = f'<a class="alert-link" href="{reverse("job", args=[job.pk])}">Import {job.pk}</a>'
    assert link in show(browser, one).content.decode()
    assert link in show(browser, uploaded(user)).content.decode()  # another upload of the same content
    recent = browser.get(reverse("new")).content.decode().split('id="recent"')[1]
    assert recent.count(f'href="{reverse("job", args=[job.pk])}"') == 2
    assert reverse("remove_source", args=[one.key]) not in recent
    assert f"Import {job.pk}</a>" in browser.get(reverse("storage")).content.decode()
    assert "It was not imported." not in browser.get(reverse("storage_file_delete", args=[one.key])).content.decode()


class TestSameFile:
    def test_an_earlier_upload_is_linked(self, browser, user, target):
        first, second = uploaded(user, name="one.csv"), uploaded(user, name="two.csv")
        html = show(browser, second).content.decode()
        assert "The same file has been uploaded before" in html
        assert reverse("new_source", args=[first.key]) in html

    def test_earlier_imports_are_linked(self, browser, user, target):
        first = uploaded(user)
        start(browser, first, **shown_form(show(browser, first)))
        html = show(browser, uploaded(user)).content.decode()
        assert f'href="{reverse("job", args=[ImportJob.objects.get().pk])}"' in html

    def test_rows_that_the_table_has_already_are_told_next_to_the_button(self, browser, user, target):
        first = uploaded(user)
        start(browser, first, **shown_form(show(browser, first)))
        ImportJob.objects.update(status=ImportJob.Status.SUCCEEDED, table_claim=None, loaded_rows=3)
        uploaded(user)
        again, job = uploaded(user), ImportJob.objects.get()
        told = f"import {job.pk} has added rows of this file already"
        html = show(browser, again, target=target.pk, table="cities").content.decode()
        assert (told in html.partition('id="bar-')[2], "Nothing has been written yet" in html) == (True, False)
        assert "This file has been imported before" in html
        assert told not in show(browser, again, target=target.pk, table="cities", mode="upsert").content.decode()
        ImportJob.objects.update(restored_at=timezone.now())
        assert told not in show(browser, again, target=target.pk, table="cities").content.decode()

    def test_a_trial_of_a_lab_is_no_earlier_import(self, browser, user, target):
        first = uploaded(user)
        start(browser, first, **shown_form(show(browser, first)))
        ImportJob.objects.update(trial=reported(target, eight=2000.0).trials.create(number=1, round=1, combination=0))
        html = show(browser, uploaded(user)).content.decode()
        assert f'href="{reverse("job", args=[ImportJob.objects.get().pk])}"' not in html

    def test_somebody_elses_upload_stays_theirs(self, browser, user, target):
        other = uploaded(operator("bob"), name="secret.csv")
        html = show(browser, uploaded(user)).content.decode()
        assert str(other.key) not in html
        assert "secret.csv" not in html
