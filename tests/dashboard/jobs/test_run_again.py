"""An ended import is run again: with changes, or as it is, and once for each press of the button."""

import gzip
import re

import pytest
from django.urls import reverse

from importer.models import AuditEvent, ImportJob, SourceFile
from tests.dashboard.job_data import Status, make_job
from tests.dashboard.jobs.test_detail import page
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import run
from tests.people import admin, operator
from tests.targets import on_mariadb

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = b"id;name\n1;one\n2;two\nx;three\n"
TABLES = ("CREATE TABLE words (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB",)
database = on_mariadb


@pytest.fixture
def imported(browser, user, target):
    """Makes an import of the rows by the page, with the form's values, and lets it end."""

    def make(**values):
        source = uploaded(user, ROWS, "words.csv")
        first = shown_form(show(browser, source, target=target.pk, table="words", **values))
        # The new choices are part of what is shown, so that the plan is the one of the page.
        start(browser, source, **shown_form(show(browser, source, **first | values)) | values)
        return run(ImportJob.objects.get(source=source))

    return make


def stored(database):
    return list(rows_of(database, "SELECT id, name FROM words ORDER BY id"))


def edit(browser, job):
    return browser.get(reverse("job_edit", args=[job.pk]), follow=True)


def run_again(browser, job, **values):
    return browser.post(reverse("job_run_again", args=[job.pk]), values, follow=True)


def newest_shown(html):
    return re.search(r'name="newest" value="(\d+)"', html)[1]


def messages(answer):
    return [str(each) for each in answer.context["messages"]]


class TestEdit:
    def test_a_failed_import_is_corrected_and_started(self, browser, imported, database):
        failed = imported(on_error="stop", mode="atomic", chunk_mib="2")
        assert (failed.status, stored(database)) == (Status.FAILED, [])
        assert f'href="{reverse("job_edit", args=[failed.pk])}"' in page(browser, failed)
        answer = edit(browser, failed)
        assert answer.redirect_chain[-1][0] == f"{reverse('new_source', args=[failed.source.key])}?edit={failed.pk}"
        form = shown_form(answer)
        assert (form["edit"], form["mode"], form["delimiter"]) == (str(failed.pk), "atomic", ";")
        assert (form["on_error"], form["chunk_mib"]) == ("stop", "2")
        form = shown_form(show(browser, failed.source, **form | {"on_error": "reject", "max_rejects": "none"}))
        start(browser, failed.source, **form)
        corrected = run(ImportJob.objects.get(pk__gt=failed.pk))
        assert (corrected.options.mode, corrected.options.chunk_bytes) == ("atomic", 2 * 2**20)
        assert stored(database) == [(1, "one"), (2, "two")]

    @pytest.mark.parametrize("how", ["edit", "again"])
    def test_another_file_with_these_fields_in_another_order_goes_by_their_names(self, browser, user, imported, how):
        done = imported(on_error="reject", max_rejects="none")
        form = shown_form(show(browser, uploaded(user, b"name;id\nfour;4\n", "words.csv"), **{how: done.pk}))
        assert (form["column_0"], form["column_1"]) == ("name", "id")

    def test_rows_that_would_be_there_twice_are_told(self, browser, imported):
        done = imported(on_error="reject", max_rejects="none")
        assert "2 of its rows are in" in edit(browser, done).content.decode()

    def test_a_new_table_keeps_its_key_and_types(self, browser, user, target):
        source = uploaded(user, ROWS, "fresh.csv")
        values = {"target": target.pk, "table": "fresh", "mode": "create"}
        form = shown_form(show(browser, source, **values)) | {"nulls_1": "key", "type_1": "VARCHAR(33)"}
        start(browser, source, **shown_form(show(browser, source, **form)))
        job = ImportJob.objects.get(source=source)
        ImportJob.objects.filter(pk=job.pk).update(status=Status.FAILED)
        form = shown_form(edit(browser, job))
        assert (form["mode"], form["nulls_1"], form["type_1"].upper()) == ("create", "key", "VARCHAR(33)")
        # Sent back, the values of the earlier import stay although nobody has entered them here.
        form = shown_form(show(browser, source, **form | {"chunk_mib": "2"}))
        assert (form["nulls_1"], form["type_1"].upper()) == ("key", "VARCHAR(33)")

    def test_columns_of_a_new_table_go_by_the_names_of_another_file(self, browser, user, target):
        source = uploaded(user, ROWS, "fresh.csv")
        values = {"target": target.pk, "table": "fresh", "mode": "create"}
        start(browser, source, **shown_form(show(browser, source, **values)))
        job = ImportJob.objects.get(source=source)
        ImportJob.objects.filter(pk=job.pk).update(status=Status.FAILED)
        form = shown_form(show(browser, uploaded(user, b"name;id\none;1\n", "fresh.csv"), edit=job.pk))
        assert (form["mode"], form["column_0"], form["column_1"]) == ("create", "name", "id")

    def test_without_its_file_the_page_asks_for_it(self, browser):
        job = make_job(Status.FAILED, chunks=1)
        answer = edit(browser, job)
        assert answer.redirect_chain[-1][0] == f"{reverse('new')}?edit={job.pk}"
        html = answer.content.decode()
        assert "no longer here" in html
        assert f"?edit={job.pk}" in re.search(r'data-preview="([^"]*)"', html)[1]
        assert 'id="job-file-gone"' in page(browser, job)

    def test_a_corrected_file_is_asked_for_where_the_first_one_is_still_there(self, browser, imported):
        failed = imported(on_error="stop", mode="atomic")
        html = browser.get(reverse("new"), {"edit": failed.pk}).text
        assert f"<strong>Upload {failed.source.name} once more,</strong> corrected" in html
        assert "no longer here" not in html


class TestRunAgain:
    def test_once_for_each_press_with_the_same_settings(self, browser, imported, database):
        done = imported(on_error="reject", max_rejects="none")
        run_sql(database, "DELETE FROM words")
        newest = newest_shown(page(browser, done))
        assert newest == str(done.pk)
        run_again(browser, done, newest=newest)
        again = run(ImportJob.objects.get(pk__gt=done.pk))
        assert (again.options_json, again.mapping_json, again.dialect_json) == (
            done.options_json,
            done.mapping_json,
            done.dialect_json,
        )
        assert stored(database) == [(1, "one"), (2, "two")]
        answer = run_again(browser, done, newest=newest)
        assert f"Import {again.pk} of this file into" in messages(answer)[0]
        assert ImportJob.objects.count() == 2
        events = AuditEvent.objects.filter(action="job_run_again").order_by("pk")
        assert [each.outcome for each in events][:1] == ["done"]

    def test_without_its_file_it_says_what_to_do(self, browser, imported):
        done = imported(on_error="reject", max_rejects="none")
        done.source.file.unlink()
        answer = run_again(browser, done, newest=done.pk)
        assert "no longer on this server" in messages(answer)[0]
        assert ImportJob.objects.count() == 1

    def test_a_file_on_the_server_that_has_changed_is_for_admins(self, browser, imported, tmp_path, client):
        done = imported(on_error="reject", max_rejects="none")
        path = tmp_path / "words.csv"
        path.write_bytes(ROWS)
        SourceFile.objects.filter(pk=done.source_id).update(owned=False, path=str(path))
        path.write_bytes(ROWS + b"4;four\n")
        assert "Only admins may" in messages(run_again(browser, done, newest=done.pk))[0]

    @pytest.mark.parametrize(
        ("now", "said"),
        [
            (b"name;id\n1;one\n", "The header changed: the order differs."),
            (ROWS + b"Total\n", "The file has 1 line of a footer"),
        ],
    )
    def test_a_changed_file_of_another_format_is_not_read_like_the_old_one(
        self, client, imported, tmp_path, now: bytes, said: str
    ):
        done = imported(on_error="reject", max_rejects="none")
        path = tmp_path / "words.csv"
        path.write_bytes(now)
        SourceFile.objects.filter(pk=done.source_id).update(owned=False, path=str(path))
        client.force_login(admin("root"))
        assert said in messages(run_again(client, done, newest=done.pk))[0]
        assert ImportJob.objects.count() == 1

    def test_somebody_without_a_grant_starts_nothing(self, client, imported):
        done = imported(on_error="reject", max_rejects="none")
        bob = operator("bob")
        bob.grants.all().delete()
        client.force_login(bob)
        assert client.post(reverse("job_run_again", args=[done.pk])).status_code == 404


def test_the_last_corrected_row_is_no_footer(browser, user, imported):
    """The reject file of an import with a footer ends with a line for it, which people remove."""
    done = imported(on_error="reject", max_rejects="none")
    ImportJob.objects.filter(pk=done.pk).update(dialect_json=done.dialect_json | {"skip_footer": 1})
    plain, accents = [(7, "seven"), (8, "eight")], [(7, "sieben"), (8, "ächt")]
    for rows, end, pack in (
        *((plain, "-\n", bytes), (plain, "-;\n", bytes), (plain, "", bytes)),
        *((accents, "-\n", bytes), (plain, "-\n", gzip.compress)),
    ):
        run_sql(done.target.address, "DELETE FROM words")
        content = "id;name\n" + "".join(f"{number};{name}\n" for number, name in rows) + end
        source = uploaded(user, pack(content.encode()), "corrected.csv")
        start(browser, source, **shown_form(show(browser, source, again=done.pk)))
        assert run(ImportJob.objects.get(source=source)).status == Status.SUCCEEDED, content
        assert stored(done.target.address) == rows, content


def test_a_running_import_offers_nothing_of_this(browser):
    html = page(browser, make_job(Status.LOADING, chunks=2))
    assert 'id="job-edit"' not in html
    assert 'id="job-more-actions"' not in html
