"""The rows that did not go in: counted and shown on the page of the import, taken away, and brought in again."""

import re

import pytest
from django.urls import reverse

from importer.engine.errors import RowsRefused, TargetProblem, TooManyRejects
from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.jobs.rejects import downloads
from importer.models import ImportJob, SourceFile
from importer.sources.store import s3_client
from tests.dashboard.job_data import REFUSED, ROWS, Status, make_job
from tests.dashboard.jobs.test_detail import HTMX, page, poll, seen_in
from tests.dashboard.new_import.test_page import uploaded
from tests.dashboard.reject_data import HEAD, write_parts
from tests.engine.loads import run_sql
from tests.targets import saved_target

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>"
NO_NUMBER = "The value does not fit double."
BAD = [
    (12, "lat", "north", "1366", NO_NUMBER, b"10,north,1\n"),
    (13, "lat", EVIL, "1366", NO_NUMBER, f"11,{EVIL},1\n".encode()),
    (20, "", "18", "1261", "The row has 1 field instead of 3.", b"18\n"),
]


@pytest.fixture(autouse=True)
def rejects_dir(settings, tmp_path):
    settings.REJECTS_DIR = tmp_path / "rejects"


def with_rejects(status=Status.SUCCEEDED, chunks=4, **fields):
    job = make_job(status, chunks=chunks, options_json=to_json(Options(on_error="reject")), **fields)
    write_parts(job, 0, BAD)
    return job


def section(html):
    return re.search(r'<section class="card" id="job-rejects".*?</section>', html, re.DOTALL)[0]


def taken(browser, job, which):
    answer = browser.get(reverse(f"job_{which}_file", args=[job.pk]))
    return answer, b"".join(answer.streaming_content)


def test_without_the_store_the_page_says_so_and_shows_the_rest(browser, settings, monkeypatch, closed_port):
    job = with_rejects()
    settings.REJECTS_DIR = settings.REJECTS_DIR / "another-host"
    settings.FILE_STORE, settings.FILE_STORE_ENDPOINT = "s3://files/x", f"http://127.0.0.1:{closed_port}"
    settings.FILE_STORE_REGION = settings.FILE_STORE_ACCESS_KEY = settings.FILE_STORE_SECRET_KEY = "x"
    monkeypatch.setattr(s3_client, "ATTEMPTS", 1)
    shown = section(page(browser, job))
    assert "The store for files does not answer. Try again later." in shown
    assert NO_NUMBER in shown
    for name in ("job_reject_file", "job_reasons_file", "job_rejected"):
        answer = browser.get(reverse(name, args=[job.pk]))
        assert answer["Location"] == reverse("job", args=[job.pk]), name
    row = browser.get(reverse("job_fix_row", args=[job.pk, 0, 0]), headers=HTMX)
    assert (row.status_code, row.content) == (503, b"The store for files does not answer. Try again later.")


class TestSection:
    def test_hidden_while_every_row_went_in(self, browser):
        assert "hidden" in section(page(browser, make_job()))

    def test_a_success_with_rejected_rows_says_so_in_its_heading(self, browser):
        html = page(browser, with_rejects())
        assert "Completed with rejects, 3 rows" in html
        assert "rejected</span>" not in page(browser, make_job(Status.SUCCEEDED)).split("<h2")[0]

    def test_the_headline_counts_the_rows_that_later_imports_have_loaded(self, browser):
        job = with_rejects(attempts=2)
        html = page(browser, job)
        assert "3 rows were rejected and are not in the table" in html
        assert ("loaded in 2 attempts" in html, "at the first attempt" in html) == (True, False)
        make_job(Status.SUCCEEDED, chunks=1, loaded_rows=1, rejected_rows=1, rejects_of=job)
        assert "3 rows were rejected; 2 of them are not in the table" in page(browser, job)
        make_job(Status.SUCCEEDED, chunks=1, loaded_rows=2, rejects_of=job)
        assert "3 rows were rejected; all were loaded later" in page(browser, job)

    def test_where_every_row_was_rejected_nothing_was_committed(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=1)
        ImportJob.objects.filter(pk=job.pk).update(loaded_rows=0, rejected_rows=job.scanned_rows)
        html = page(browser, job)
        assert "nothing was committed" in html
        assert "committed yet" not in html

    def test_one_reason_of_one_column_is_one_line_whoever_found_it(self, browser):
        kinds = [
            {"code": code, "column": "lat", "reason": NO_NUMBER, "rows": rows}
            for code, rows in (("1366", 5), ("1265", 2))
        ]
        job = make_job(Status.SUCCEEDED, chunks=1, rejected_rows=7, reject_reasons=kinds)
        html = section(page(browser, job))
        assert html.count(f"{NO_NUMBER}</td>") == 1
        assert re.search(rf'{NO_NUMBER}</td><td class="break">lat</td><td class="number">7</td>', html)

    def test_reasons_counted_and_the_rows_in_place(self, browser):
        html = section(page(browser, with_rejects()))
        assert re.search(rf'{NO_NUMBER}</td><td class="break">lat</td><td class="number">2</td>', html)
        assert "&lt; 0.1 %" in html
        assert "The row has 1 field instead of 3." in html
        assert re.search(r'<td class="number">12</td>.*?aria-label="lat, line 12"', html, re.DOTALL)

    def test_a_value_is_text_whatever_it_says(self, browser):
        html = page(browser, with_rejects())
        assert EVIL not in html
        assert "&lt;script&gt;alert(1)" in html

    def test_only_the_first_rows_are_read_and_shown(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=3)
        many = [(n, "lat", f"bad {n}", "1366", NO_NUMBER, b"x\n") for n in range(2, 82)]
        write_parts(job, 1, many)
        write_parts(job, 2, [(5000 + n, *rest) for n, *rest in many])
        (downloads.folder(job) / "00000002.csv").write_text("not read")
        html = section(page(browser, job))
        assert html.count('<tr id="row-') == 50
        assert "1 to 50 of 160" in html

    def test_skipped_rows_are_told_from_rejected_ones(self, browser):
        job = make_job(
            Status.SUCCEEDED, chunks=2, options_json=to_json(Options(on_error="reject", on_duplicate="skip"))
        )
        key = "A row with this key is there already."
        write_parts(job, 0, [*BAD, (30, "", "10,1,2", "1062", key, b"10,1,2\n")], skipped=1)
        html = section(page(browser, job))
        rejected, skipped = html.split("Skipped rows, as asked")
        assert key in skipped
        assert f"{key}</td>" not in rejected
        assert f"{NO_NUMBER}</td>" not in skipped

    def test_notices_are_counted_even_if_no_row_was_left_out(self, browser):
        notice = {"code": "rounded", "column": "lat", "reason": "Digits were rounded away.", "values": 1204}
        created = {"code": "created", "column": "city", "reason": "city had no such row.", "values": 7}
        shown = page(browser, make_job(Status.SUCCEEDED, chunks=2, notices=[notice, created]))
        assert '<a class="text-warning" href="#job-rejects">1,204 values changed</a>' in shown
        html = section(shown)
        assert "Their lines are not kept. Rounding “Reject row” names them" in html
        assert re.search(r'Digits were rounded away.</td><td class="break">lat</td><td class="number">1,204</td>', html)
        assert "Reject file" not in html
        named = page(browser, make_job(Status.SUCCEEDED, chunks=2, notices=[created]))
        assert ("changed</a>" in named, "Their lines are not kept" in named) == (False, False)

    def test_many_reasons_fold_away(self, browser):
        kinds = [{"code": "1", "column": "c", "reason": f"reason {n}", "rows": 1} for n in range(30)]
        job = make_job(Status.SUCCEEDED, chunks=1, rejected_rows=30, reject_reasons=kinds)
        assert "<summary>20 more reasons</summary>" in section(page(browser, job))

    def test_only_the_latest_imports_of_the_rows_are_shown(self, browser):
        job = with_rejects()
        others = [make_job(Status.CANCELLED, rejects_of=job).pk for _ in range(7)]
        html = page(browser, job)
        assert re.findall(r'<a href="[^"]*/(\d+)/">Import \d+</a>, of rejected rows', html) == [
            str(each) for each in others[2:]
        ]
        assert "2 earlier imports of rejected rows of this import are not shown here." in html

    def test_without_the_parts_the_counts_stay(self, browser):
        job = with_rejects()
        (downloads.folder(job) / "00000000.csv").unlink()
        html = section(page(browser, job))
        assert "no longer on this machine" in html
        assert NO_NUMBER in html

    def test_the_button_that_loads_fixed_rows_is_seen_before_one_is_fixed(self, browser):
        html = section(page(browser, with_rejects()))
        assert re.search(r'<button [^>]*id="job-load-fixed" disabled>', html)

    def test_after_a_try_that_loaded_none_it_says_where_they_are_fixed(self, browser):
        job = with_rejects()
        make_job(Status.SUCCEEDED, chunks=1, loaded=0, rejects_of=job, rejected_rows=2, loaded_rows=0)
        html = section(page(browser, job))
        assert "loaded none of them. Fix them here." in html
        assert "on its page" not in html


class TestLive:
    def test_the_section_comes_only_when_its_numbers_change(self, browser):
        job = with_rejects(Status.LOADING)
        seen = seen_in(page(browser, job))
        ImportJob.objects.filter(pk=job.pk).update(loaded_rows=ROWS, version=99)
        html = poll(browser, job, seen).content.decode()
        assert 'id="job-equation"' in html
        assert 'id="job-rejects"' not in html
        write_parts(job, 1, [(4000, *BAD[0][1:])])
        assert "4,000" in section(poll(browser, job, seen_in(html)).content.decode())

    def test_loading_again_is_offered_at_the_end(self, browser):
        assert 'id="job-reimport"' not in page(browser, with_rejects(Status.LOADING))
        assert 'id="job-reimport"' in page(browser, with_rejects())


class TestFiles:
    def test_the_reject_file_is_the_header_and_the_original_bytes(self, browser):
        answer, content = taken(browser, with_rejects(), "reject")
        assert content == HEAD + b"".join(raw for *_, raw in BAD)
        assert answer["Content-Disposition"] == 'attachment; filename="nodes-2026-11-20.rejects.csv"'
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert answer["X-Content-Type-Options"] == "nosniff"

    @pytest.mark.parametrize(
        ("name", "named"),
        [
            ("orders.csv", "orders.rejects.csv"),
            ("orders.2024.TSV", "orders.2024.rejects.TSV"),
            ("orders.csv.gz", "orders.rejects.csv"),
            ("orders", "orders.rejects.csv"),
            ("orders.data", "orders.data.rejects.csv"),
            (".csv", ".csv.rejects.csv"),
            ("é" * 255, "é" * 50 + ".rejects.csv"),
        ],
    )
    def test_it_is_named_after_its_source(self, name, named):
        assert downloads.file_name(make_job(file_name=name, chunks=1), "rejects") == named

    def test_the_reasons_have_a_header_line(self, browser):
        _, content = taken(browser, with_rejects(), "reasons")
        lines = content.decode().splitlines()
        assert lines[0] == "line,byte_offset,column,value,code,reason"
        assert lines[1] == f"12,120,lat,north,1366,{NO_NUMBER}"
        assert len(lines) == 1 + len(BAD)

    def test_only_chunks_that_are_in_count(self, browser):
        job = with_rejects(Status.FAILED, loaded=1)
        stray = downloads.folder(job) / "00000003.rejects"
        stray.write_bytes(b"left by an attempt that was rolled back\n")
        assert b"rolled back" not in taken(browser, job, "reject")[1]

    @pytest.mark.parametrize("which", ["reject", "reasons"])
    def test_a_part_that_is_gone_is_said_and_not_left_out(self, browser, which):
        job = with_rejects()
        for path in downloads.folder(job).glob("*.*"):
            path.unlink()
        answer = browser.get(reverse(f"job_{which}_file", args=[job.pk]), follow=True)
        assert "are no longer there" in answer.content.decode()

    def test_a_copy_without_formulas_is_offered_beside_the_exact_file(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=4, options_json=to_json(Options(on_error="reject")))
        write_parts(job, 0, [(12, "lat", "=1", "1366", NO_NUMBER, b"10,=cmd|' /C calc'!A0,+1-1\n")])
        address = f"{reverse('job_reject_file', args=[job.pk])}?defused"
        assert f'href="{address}&amp;delimiter=semicolon"' in section(page(browser, job))
        answer = browser.get(address)
        assert "rejects" not in answer["Content-Disposition"]
        assert b"".join(answer.streaming_content).decode("utf-8-sig").splitlines() == [
            '"id","lat","lon"',
            '"10","\'=cmd|\' /C calc\'!A0","\'+1-1"',
        ]
        answer = browser.get(f"{address}&delimiter=semicolon")
        content = b"".join(answer.streaming_content)
        assert content.startswith('\ufeff"id";"lat";"lon"\r\n'.encode())
        reasons = browser.get(f"{reverse('job_reasons_file', args=[job.pk])}?delimiter=semicolon")
        assert b"".join(reasons.streaming_content).startswith('\ufeff"line";"byte_offset";'.encode())
        assert taken(browser, job, "reject")[1].endswith(b"10,=cmd|' /C calc'!A0,+1-1\n")

    def test_without_a_rejected_row_the_page_says_so(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=1)
        url = reverse("job_reject_file", args=[job.pk])
        assert browser.get(url)["Location"] == reverse("job", args=[job.pk])
        assert "No row was rejected." in browser.get(url, follow=True).content.decode()

    def test_a_missing_header_is_reported_before_the_download_starts(self, browser):
        job = with_rejects()
        (downloads.folder(job) / downloads.HEAD).unlink()
        answer = browser.get(reverse("job_reject_file", args=[job.pk]), follow=True)
        assert "are no longer there, first head" in answer.content.decode()


class TestAgain:
    def again(self, browser, job):
        return browser.post(reverse("job_again", args=[job.pk]))

    def test_the_reject_file_becomes_an_upload_with_the_settings_of_its_import(self, browser, user):
        job = with_rejects()
        answer = self.again(browser, job)
        source = SourceFile.objects.get(name="nodes-2026-11-20.rejects.csv")
        assert source.file.read_bytes() == HEAD + b"".join(raw for *_, raw in BAD)
        assert source.uploaded_by == user
        assert answer["Location"] == f"{reverse('new_source', args=[source.key])}?again={job.pk}"
        html = browser.get(answer["Location"]).content.decode()
        assert f'name="again" value="{job.pk}"' in html
        assert re.search(r'<option value="reject" selected>', html)

    def test_twice_is_once(self, browser):
        job = with_rejects()
        assert self.again(browser, job)["Location"] == self.again(browser, job)["Location"]
        assert SourceFile.objects.filter(name__contains="rejects").count() == 1

    def test_without_a_rejected_row_there_is_nothing_to_load(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=1)
        assert self.again(browser, job)["Location"] == reverse("job", args=[job.pk])
        assert SourceFile.objects.count() == 1

    def test_a_mended_file_begins_with_the_same_settings(self, browser):
        job = with_rejects()
        html = browser.get(reverse("new"), {"again": job.pk}).content.decode()
        assert f"?again={job.pk}" in re.search(r'data-preview="([^"]*)"', html)[1]
        assert f"import {job.pk}" in html

    @pytest.mark.parametrize(
        ("text", "encoding"), [("Zoe", "cp1252"), ("Zoë".encode("cp1252"), "cp1252"), ("Zoë", "utf-8")]
    )
    def test_a_mended_file_may_come_back_in_utf8(self, browser, user, text, encoding):
        job = with_rejects()
        job.dialect_json |= {"encoding": "cp1252"}
        job.save()
        data = b"id,lat,lon\n1," + (text if isinstance(text, bytes) else text.encode()) + b",2\n"
        source = uploaded(user, data, "corrected.csv")
        html = browser.get(reverse("new_source", args=[source.key]), {"again": job.pk}, headers=HTMX).content.decode()
        assert re.search(rf'name="encoding" value="{encoding}"', html)

    def test_the_own_reject_file_is_in_the_encoding_of_its_import(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=4, options_json=to_json(Options(on_error="reject")))
        job.dialect_json |= {"encoding": "cp1252"}
        write_parts(job, 0, [(12, "lat", "20 Â°C", "1366", NO_NUMBER, "10,20 Â°C,1\n".encode("cp1252"))])
        (downloads.folder(job) / downloads.HEAD).write_bytes(b"id,lat,lon\n")
        html = browser.get(self.again(browser, job)["Location"], headers=HTMX).content.decode()
        assert re.search(r'name="encoding" value="cp1252"', html)
        assert "20 Â°C" in html

    @pytest.mark.parametrize("number", ["", "x", "999999", "-1", "1" * 30])
    def test_an_import_that_is_not_there_changes_nothing(self, browser, number):
        assert browser.get(reverse("new"), {"again": number}).status_code == 200

    def test_both_imports_name_each_other(self, browser):
        first = with_rejects()
        second = make_job(Status.SUCCEEDED, chunks=1, rejects_of=first)
        assert f'href="{reverse("job", args=[second.pk])}"' in section(page(browser, first))
        assert f'what <a href="{reverse("job", args=[first.pk])}">' in page(browser, second)


class TestRetention:
    def test_parts_stay_with_their_job_and_go_with_it(self, settings):
        kept, gone = with_rejects(), with_rejects()
        (settings.REJECTS_DIR / "something else").mkdir()
        gone.delete()
        assert downloads.remove_orphans() == 1
        assert {path.name for path in settings.REJECTS_DIR.iterdir()} == {str(kept.key), "something else"}

    def test_no_folder_at_all_is_fine(self):
        assert downloads.remove_orphans() == 0


class TestCure:
    def failed(self, kind, **options):
        job = make_job(Status.FAILED, loaded=1, problem=kind("Rows cannot go in.", rows=REFUSED.rows, bad_rows=2))
        job.options_json = to_json(Options(**options))
        job.save()
        return job

    def test_leaving_bad_rows_out_is_offered_where_they_stopped_it(self, browser):
        html = page(browser, self.failed(RowsRefused))
        assert 'id="job-leave-out"' in html
        assert "<strong>Retry, reject invalid rows</strong> loads the other rows" in html

    def test_where_each_row_is_needed_the_main_button_does_not_fail_again(self, browser):
        job = self.failed(RowsRefused, mode="sync", key="id", missing="delete")
        html = page(browser, job)
        assert re.findall(r'class="btn btn-primary" id="([^"]*)"', html) == ["job-edit"]
        assert f'href="{reverse("new")}?edit={job.pk}"' in html
        # It is there for a table that was changed.
        assert "Retry with the invalid rows" in html
        # Another fault can be gone by itself.
        assert 'btn-primary" id="job-retry"' in page(browser, self.failed(TargetProblem, mode="sync", key="id"))

    def test_not_where_something_else_is_wrong_or_they_are_left_out_already(self, browser):
        assert 'id="job-leave-out"' not in page(browser, self.failed(TargetProblem))
        assert 'id="job-leave-out"' not in page(browser, self.failed(RowsRefused, on_error="reject"))

    def test_a_limit_is_lifted_by_continuing(self, browser):
        assert "Continue without the limit" in page(
            browser, self.failed(TooManyRejects, on_error="reject", max_rejects=1)
        )

    def test_the_button_retries_what_is_missing_without_them(self, browser, database):
        """On a real target, since a retry looks at the table again."""
        target = saved_target(database, "real")
        run_sql(database, "CREATE TABLE nodes (id INT, lat DOUBLE, lon DOUBLE) ENGINE=InnoDB")
        job = self.failed(RowsRefused)
        ImportJob.objects.filter(pk=job.pk).update(target=target, schema_name=target.database)
        browser.post(reverse("job_retry", args=[job.pk]), {"leave_out": "yes"}, headers=HTMX)
        now = ImportJob.objects.get(pk=job.pk)
        assert (now.options.on_error, now.problem) == ("reject", {})
        assert now.status in (Status.WAITING, Status.LOADING)
