"""The rejected rows as a grid: filtered, fixed in place by each person alone, and loaded once, on both servers."""

import re
from dataclasses import replace

import pytest
from django.urls import reverse

from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.plan.options import Options
from importer.jobs.actions import commands, fixes
from importer.jobs.rejects import rows, storage
from importer.models import AuditEvent, ImportJob, Level, RowFix
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources.several import as_one
from tests.dashboard.job_data import Status, make_job
from tests.dashboard.jobs.test_detail import HTMX, page
from tests.dashboard.new_import.test_page import uploaded
from tests.dashboard.reject_data import write_parts
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, run
from tests.people import operator, viewer
from tests.targets import saved_target

pytestmark = pytest.mark.django_db(transaction=True)

# Rejected: line 3 (amount), 4 (date), 5 to 6 (amount, over two lines), 8 (too few fields).
ORDERS = b"""id;note;amount;day
1;fine;1.50;2026-01-01
2;plain;x1;2026-01-02
3;plain;2.50;2026-13-01
4;"say ""hi"";
twice";y2;2026-01-04
5;fine;3.50;2026-01-05
6;short
"""
TABLE = "CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(40), amount DECIMAL(8,2), day DATE) ENGINE=InnoDB"


@pytest.fixture(autouse=True)
def rejects_dir(settings, tmp_path):
    settings.REJECTS_DIR = tmp_path / "rejects"


def imported(database, user, data, **chosen):
    run_sql(database, TABLE)
    options = replace(Options(on_error="reject", chunk_bytes=2**20).without_limit(), **chosen)
    prepared = prepare(
        uploaded(user, data, "orders.csv"), saved_target(database), "orders", ImportRequest(options=options)
    )
    return run(commands.create(prepared, user))


@pytest.fixture
def rejected(database, user):
    """An import that has rejected four of six rows."""
    job = imported(database, user, ORDERS)
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, 4)
    return job


def stored(database):
    return list(rows_of(database, "SELECT id, note, CAST(amount AS CHAR), CAST(day AS CHAR) FROM orders"))


def grid(browser, job, **query):
    return browser.get(reverse("job_rejected", args=[job.pk]), query, headers=HTMX).content.decode()


def fix(browser, job, place, **values):
    return browser.post(reverse("job_fix_row", args=[job.pk, 0, place]), values, headers=HTMX)


def load(browser, job):
    return browser.post(reverse("job_load_fixed", args=[job.pk]), follow=True)


def messages(answer):
    return [str(each) for each in answer.context["messages"]]


def test_rows_are_fixed_in_place_and_loaded_once(browser, user, rejected, database):
    html = page(browser, rejected)
    assert html.count('class="wrong"') == 3
    assert re.search(r'<input[^>]*name="value_2" value="x1"', html)
    assert re.search(r'<input[^>]*name="value_3" value="2026-13-01"', html)
    answer = fix(browser, rejected, 0, value_2="20.25")
    assert answer["HX-Trigger"] == "rows-fixed"
    assert ">Fixed</span>" in answer.content.decode()
    fix(browser, rejected, 2, value_1='say "hi";\r\nthrice', value_2="4.5")
    fix(browser, rejected, 3, value_2="6", value_3="2026-01-06")
    assert "3 rows are changed" in page(browser, rejected)
    answer = load(browser, rejected)
    loaded = run(ImportJob.objects.get(rejects_of=rejected))
    assert answer.redirect_chain[-1][0] == reverse("job", args=[loaded.pk])
    assert (loaded.status, loaded.rejected_rows, loaded.loaded_rows) == (Status.SUCCEEDED, 0, 3)
    assert [row for row in stored(database) if row[0] in (2, 4, 6)] == [
        (2, "plain", "20.25", "2026-01-02"),
        (4, 'say "hi";\nthrice', "4.50", "2026-01-04"),
        (6, "short", "6.00", "2026-01-06"),
    ]
    assert f'3 of 4 rejected rows were fixed and loaded by <a href="{reverse("job", args=[loaded.pk])}">' in page(
        browser, rejected
    )
    assert "No corrected row waits" in messages(load(browser, rejected))[0]
    assert fix(browser, rejected, 0, value_2="7").status_code == 422
    assert ImportJob.objects.count() == 2
    event = AuditEvent.objects.filter(action="job_load_fixed", outcome="done").get()
    assert (event.details["started"], event.details["rows"]) == (loaded.pk, 3)


def test_a_change_that_does_not_fit_is_no_fix(browser, rejected):
    answer = fix(browser, rejected, 0, value_2="z").text
    assert (">Changed</span>" in answer, ">Fixed</span>" in answer, "reject-mark" in answer) == (True, False, False)
    assert re.search("The table of this import still does not take this row. amount: .*decimal", answer)
    fix(browser, rejected, 1, value_3="2026-01-03")
    load(browser, rejected)
    again = run(ImportJob.objects.get(rejects_of=rejected))
    html = grid(browser, rejected)
    assert (again.loaded_rows, again.rejected_rows) == (1, 1)
    assert html.count(f"Rejected again, import {again.pk}") == 1
    assert html.count(f"Fixed, import {again.pk}") == 1
    fix(browser, rejected, 2, value_2="z")
    load(browser, rejected)
    last = ImportJob.objects.order_by("pk").last()
    assert f"Being loaded, import {last.pk}" in grid(browser, rejected)
    assert run(last).rejected_rows == 1
    assert f"Rejected again, import {last.pk}" in grid(browser, rejected)


def test_each_person_has_own_drafts_and_no_row_is_loaded_twice(browser, client, rejected, database):
    fix(browser, rejected, 0, value_2="1")
    other = operator("bob")
    client.force_login(other)
    assert 'value="x1"' in grid(client, rejected)
    fix(client, rejected, 0, value_2="2")
    fix(client, rejected, 1, value_3="2026-12-01")
    load(client, rejected)
    first = run(ImportJob.objects.get(rejects_of=rejected))
    client.force_login(ImportJob.objects.get(pk=rejected.pk).created_by)
    html = grid(client, rejected)
    assert html.count(f"Fixed, import {first.pk}") == 2
    assert "No corrected row waits" in messages(load(client, rejected))[0]
    first.delete()
    assert "Fixed and loaded" in grid(client, rejected)


def test_a_refused_fix_shows_what_was_entered_and_undo_takes_a_draft_back(browser, rejected):
    dialect = rejected.dialect_json | {"encoding": "cp1252"}
    ImportJob.objects.filter(pk=rejected.pk).update(dialect_json=dialect)
    answer = fix(browser, rejected, 0, value_2="→")
    assert answer.status_code == 422
    assert "does not have the character" in answer.content.decode()
    assert 'value="→"' in answer.content.decode()
    assert not RowFix.objects.exists()
    fix(browser, rejected, 0, value_2="1")
    assert "Undo" in grid(browser, rejected)
    fix(browser, rejected, 0, undo="yes")
    assert not RowFix.objects.exists()


def test_a_fixed_row_keeps_its_file_and_line(browser, user, database):
    run_sql(database, TABLE.replace("day DATE", "day DATE, src VARCHAR(40), at INT"))
    several = as_one([uploaded(user, b"id;amount\n1;1\n", "a.csv"), uploaded(user, b"id;amount\n2;x\n3;y\n", "b.csv")])
    request = ImportRequest(
        options=Options(on_error="reject").without_limit(),
        fillings=[GeneratedColumn("src", "file"), GeneratedColumn("at", "line")],
    )
    job = run(import_of(several, saved_target(database), "orders", request, user=user))
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, 2)
    again = browser.post(reverse("job_again", args=[job.pk]))["Location"]
    html = browser.get(again, headers=HTMX).content.decode()
    assert f"src, at: from this file, not from where the rows stood in import {job.pk}" in html
    [chunk] = {row.chunk for row in rows.rows(job, None, 0, 9)}
    for place, value in enumerate(("5", "6")):
        browser.post(reverse("job_fix_row", args=[job.pk, chunk, place]), {"value_1": value}, headers=HTMX)
    assert "orders, at: The corrected rows would get other values" in messages(load(browser, job))[0]
    browser.post(reverse("job_fix_row", args=[job.pk, chunk, 1]), {"undo": "yes"}, headers=HTMX)
    load(browser, job)
    assert run(ImportJob.objects.get(rejects_of=job)).loaded_rows == 1
    assert rows_of(database, "SELECT id, src, at FROM orders ORDER BY id") == [(1, "a.csv", 2), (2, "b.csv", 2)]


@pytest.mark.parametrize("mode", ["atomic", "replace"])
def test_rows_that_a_retry_reads_again_are_not_fixed_before(browser, user, database, mode):
    good = b"".join(b"%d;fine;1.50;2026-01-01\n" % n for n in range(10, 600))
    job = imported(database, user, ORDERS + good + b"9;late\n", mode=mode, max_rejects=4, chunk_bytes=8000)
    assert (job.status, job.problem["kind"]) == (Status.FAILED, "TooManyRejects")
    assert fix(browser, job, 0, value_2="1").status_code == 422
    commands.retry(job.pk)
    job = run(ImportJob.objects.get(pk=job.pk))
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, 5)
    fix(browser, job, 0, value_2="1")
    load(browser, job)
    assert run(ImportJob.objects.get(rejects_of=job)).loaded_rows == 1
    assert [row[2] for row in stored(database) if row[0] == 2] == ["1.00"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Main St\rVienna", "Main St\r\nVienna"),
        ("Main St\r\nVienna", "Main St\r\nVienna"),
        ("x\0y", "x\ufffdy"),
        ("\nafter a blank line", "\r\nafter a blank line"),
    ],
)
def test_a_value_that_is_sent_as_it_was_shown_is_no_edit(browser, text, shown):
    job = make_job(Status.SUCCEEDED, chunks=1, options_json={"on_error": "reject"})
    write_parts(job, 0, [(2, "lat", "abc", "1366", "Not a number.", f'1,abc,"{text}",,\n'.encode())])
    fix(browser, job, 0, value_1="1", value_2=f"{shown}!")
    fix(browser, job, 0, value_1="52.5", value_2=shown)
    assert RowFix.objects.get().texts == ["1", "52.5", text, "", ""]
    fix(browser, job, 0, value_1="abc", value_2=shown)
    assert not RowFix.objects.exists()


def test_a_whole_row_opens_with_every_value(browser, rejected):
    address = reverse("job_fix_row", args=[rejected.pk, 0, 3])
    html = browser.get(address, {"open": "yes", "columns": "0.1.2.3"}, headers=HTMX).content.decode()
    assert len(re.findall(r"<(?:input|textarea)", html)) == 4
    assert browser.get(reverse("job_fix_row", args=[rejected.pk, 0, 9])).status_code == 404


def test_who_may_only_look_at_the_import_sees_no_whole_row(client, rejected):
    client.force_login(viewer("vera", Level.LOOK))
    assert 'id="job-reject-grid"' not in page(client, rejected)
    assert client.get(reverse("job_rejected", args=[rejected.pk])).status_code == 403
    assert fix(client, rejected, 0, value_2="1").status_code == 403


def test_many_rows_are_paged_and_filtered_and_other_chunks_are_not_read(browser):
    job = make_job(Status.SUCCEEDED, chunks=3, options_json={"on_error": "reject"})
    for number, column in enumerate(("lat", "lon", "lat")):
        write_parts(job, number, [(n, column, f"v{n}", "1366", f"Not for {column}.", b"1,v,2\n") for n in range(2, 82)])
    assert [amount for _, amount in rows.reasons(job)] == [160, 80]
    html = grid(browser, job, page=2)
    assert "51 to 100 of 240" in html
    html = grid(browser, job, why=1, page=2)
    assert "51 to 80 of 80" in html
    assert "Not for lat." not in re.search("<tbody>.*</tbody>", html, re.DOTALL)[0]
    RowFix.objects.all().delete()
    (storage.folder(job) / "00000000.csv").write_text("not read")
    assert len(rows.rows(job, ("Not for lon.", "lon"), 0, 50)) == 50


def test_values_go_with_the_rejected_rows(browser, rejected):
    fix(browser, rejected, 0, value_2="1")
    fixes.forget(rejected)
    assert not RowFix.objects.exists()
