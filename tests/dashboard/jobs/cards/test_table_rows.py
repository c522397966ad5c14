"""The rows of the table on the page of an import: which ones they are is said, and some may not see them."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from importer.models import ImportJob, SourceFile, Target
from tests.dashboard.job_data import Status, make_job
from tests.engine.loads import run_sql
from tests.people import viewer

pytestmark = pytest.mark.django_db

HEAD = "id,lat,lon\n"


@pytest.fixture
def job(mariadb, tmp_path):
    """An import of two rows into a table that had two others before."""
    run_sql(
        mariadb,
        "CREATE TABLE nodes (id INT PRIMARY KEY, lat DOUBLE, lon DOUBLE)",
        "INSERT INTO nodes VALUES (1, 1.5, NULL), (2, 2.5, 3), (70, 4, 5), (71, 6, 7)",
    )
    made = make_job(Status.SUCCEEDED, chunks=1, schema_name=mariadb.database, data_offset=len(HEAD))
    Target.objects.filter(pk=made.target_id).update(
        host=mariadb.host, port=mariadb.port, user=mariadb.user, database=mariadb.database
    )
    file = tmp_path / "nodes.csv"
    file.write_text(HEAD + "71,6,7\n70,4,5\n")
    SourceFile.objects.filter(pk=made.source_id).update(path=str(file), size=file.stat().st_size)
    return see(made, rows_before=2, primary_key="id")


def see(job, **facts):
    ImportJob.objects.filter(pk=job.pk).update(plan_json={**job.plan_json, "seen": facts})
    return ImportJob.objects.get(pk=job.pk)


def rows(browser, job):
    return browser.get(reverse("job_table_rows", args=[job.pk])).content.decode()


def test_the_rows_of_the_file_are_found_by_their_keys(browser, job):
    html = rows(browser, job)
    assert f"The file's first rows in {job.table}" in html.replace("&#x27;", "'")
    assert "<td>70</td><td>4</td>" in html
    assert "<td>1</td>" not in html
    assert "may have been there before" in html


def test_without_the_file_earlier_rows_are_not_called_those_of_the_import(browser, job):
    SourceFile.objects.filter(pk=job.source_id).update(path="/nowhere/nodes.csv")
    html = rows(browser, job)
    assert f"First rows of {job.table}" in html
    assert '<td>1</td><td>1.5</td><td><span class="text-secondary">NULL</span></td>' in html
    assert "About 2 rows were in the table before" in html


def test_an_empty_table_was_filled_by_the_import_alone(browser, job):
    html = rows(browser, see(job, rows_before=0, primary_key="id"))
    assert "The import filled the whole table" in html


def test_rows_that_are_gone_since_are_said_to_be(browser, job, mariadb):
    run_sql(mariadb, "TRUNCATE TABLE nodes")
    many = ImportJob.objects.get(pk=job.pk).rows_in_table
    said = f"{many:,} rows of this import were committed, and have been removed since, not by this import."
    assert said in rows(browser, job)
    ImportJob.objects.filter(pk=job.pk).update(restored_at=timezone.now())
    assert "removed since" not in rows(browser, job)


@pytest.mark.parametrize("rows_left", [True, False])
def test_a_retry_that_would_fill_an_emptied_table_in_part_is_not_the_main_action(browser, job, mariadb, rows_left):
    ImportJob.objects.filter(pk=job.pk).update(status=Status.CANCELLED, scanned_rows=300, loaded_rows=147)
    if not rows_left:
        run_sql(mariadb, "TRUNCATE TABLE nodes")
    page, card = (browser.get(reverse(name, args=[job.pk])).text for name in ("job", "job_table_rows"))
    assert "Cancelled after 147 rows were committed" in page
    assert '<button class="btn" id="job-retry">' in page, "no advice before the table is read"
    assert 'hx-trigger="load"' in page
    assert ("This does not load again the 147 rows that were committed" in card) == (not rows_left)
    assert ('<a class="btn btn-primary" id="job-edit"' in card) == (not rows_left)
    assert ("147 rows were committed, and are no longer in the table." in card) == (not rows_left)
    assert ('<button class="btn btn-primary" id="job-retry">' in card) == rows_left


@pytest.mark.parametrize("rows_left", [True, False])
def test_a_pause_in_which_the_rows_went_does_not_recommend_to_resume(browser, job, mariadb, rows_left):
    ImportJob.objects.filter(pk=job.pk).update(status=Status.PAUSED, finished_at=None, loaded_rows=147)
    if not rows_left:
        run_sql(mariadb, "TRUNCATE TABLE nodes")
    page, card = browser.get(reverse("job", args=[job.pk])).text, rows(browser, job)
    assert '<button class="btn" id="job-resume">' in page
    assert ('<button class="btn btn-primary" id="job-resume">' in card) == rows_left
    assert ("Cancel it; then “Edit and run again” loads all rows." in card) == (not rows_left)


def test_after_a_restore_no_row_is_of_the_import(browser, job):
    ImportJob.objects.filter(pk=job.pk).update(restored_at=timezone.now())
    html = rows(browser, job)
    assert "none of this import" in html
    assert "<td>1</td>" in html


def test_a_target_that_is_away_is_said_to_be(browser, job):
    Target.objects.filter(pk=job.target_id).update(port=1)
    assert "There is no connection to the target" in rows(browser, job)


def test_who_may_not_load_sees_no_rows(browser, job):
    address = reverse("job_table_rows", args=[job.pk])
    assert address in browser.get(reverse("job", args=[job.pk])).content.decode()
    other = Client()
    other.force_login(viewer("vic"))
    assert address not in other.get(reverse("job", args=[job.pk])).content.decode()
    assert other.get(address).status_code == 403


def test_a_failed_import_whose_rows_are_gone_says_what_a_retry_brings_back(browser, job, mariadb):
    bad = {"kind": "RowsRefused", "what": "no", "where": "", "advice": "", "rows": [], "bad_rows": 1}
    ImportJob.objects.filter(pk=job.pk).update(
        status=Status.FAILED, scanned_rows=300, loaded_rows=147, problem={**(job.problem or {}), **bad}
    )
    page = browser.get(reverse("job", args=[job.pk])).text
    assert 'class="btn" id="job-leave-out"' in page
    assert f"Checking whether they are still in {job.table}" in page
    assert "Retry adds what is missing" not in page
    assert "Retry adds what is missing" in rows(browser, job)
    Target.objects.filter(pk=job.target_id).update(port=1)
    unread = rows(browser, job)
    assert f"{job.table} could not be read. If they are still there, a retry adds what is missing. If not," in unread
    assert 'class="btn" id="job-leave-out"' in unread
    Target.objects.filter(pk=job.target_id).update(port=mariadb.port)
    run_sql(mariadb, "TRUNCATE TABLE nodes")
    card = rows(browser, job)
    assert "147 rows of other chunks were committed, and are no longer in the table." in card
    assert 'id="job-problem" hx-swap-oob="true"' in card
    assert "Then “Edit and run again”." in card
    assert "loads the other rows" not in card
    assert (
        'class="dropdown-item" id="job-leave-out" name="leave_out" value="yes">Retry, reject invalid rows</button>'
        in card
    )
    assert card.count('id="job-leave-out"') == 1
    assert card.count('id="job-retry"') == 1, "that of the menu: with two, the new one takes the place of the old"
    assert '<a class="btn btn-primary" id="job-edit"' in card
