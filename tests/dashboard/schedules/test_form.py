"""The form of a schedule: what it takes, and the preview of what the schedule would do."""

from datetime import UTC

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.schedules.form import suggested_pattern
from importer.connections import operations
from importer.models import Schedule
from tests.dashboard.job_data import Status, make_job
from tests.dashboard.schedules.conftest import values

pytestmark = pytest.mark.django_db


class TestForm:
    def test_a_recipe_without_a_limit_of_rejects_is_asked_about(self, browser, connection, preset):
        preset.options_json = {"on_error": "reject", "max_reject_percent": 100}
        preset.save()
        url = f"{reverse('schedule_new')}?preset={preset.pk}"
        assert "May reject any number of rows" in browser.get(url).text
        answer = browser.post(url, values(connection))
        assert (answer.status_code, "the rejected rows of an import are not in the table" in answer.text) == (422, True)
        browser.post(url, values(connection, reject_limit="default"))
        page = browser.get(reverse("schedule", args=[Schedule.objects.get().pk])).text
        assert "are rejected, at most 100 rows (or 1 %, if that is more)" in page

    @pytest.mark.parametrize(("on_error", "says"), [("fail", True), ("reject", False)])
    def test_the_limit_of_a_notification_is_not_that_of_an_import(self, browser, made, on_error, says):
        made.options_json = {"on_error": on_error, "max_rejects": 5}
        made.save()
        page = browser.get(reverse("schedule_edit", args=[made.pk])).text
        assert ">Notify if more rows are rejected than</label>" in page
        assert ("stops at the first invalid row: it rejects none." in page) == says

    def test_it_says_how_files_are_read_now(self, browser, made, preset):
        made.mapping_json = [{"column": "n"}, {"column": "name"}, {"column": ""}]
        made.save()
        page = browser.get(reverse("schedule_edit", args=[made.pk])).text
        assert f"Comma, UTF-8, header row; 2 fields into {made.table}." in page
        assert '<option value="">keep this</option>' in page

    def test_it_makes_what_was_entered(self, made):
        assert (made.name, made.cron, made.zone) == ("nightly", "30 2 * * *", "Europe/Vienna")
        assert made.next_due_at > timezone.now()

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"cron": "61 * * * *"}, "&#x27;61 * * * *&#x27; is no cron text"),
            ({"zone": "Europe/Wien"}, "There is no time zone named &#x27;Europe/Wien&#x27;"),
            ({"pattern": "{day}.csv"}, "{day} is not known."),
            ({"afterwards": "move", "move_to": "../x"}, "no folder below the connection"),
            ({"most_attempts": "99"}, "99 attempts are not possible."),
            ({"name": ""}, "This field is required."),
        ],
    )
    def test_what_cannot_be_is_said_at_its_field(self, browser, connection, preset, changes, said):
        answer = browser.post(f"{reverse('schedule_new')}?preset={preset.pk}", values(connection, **changes))
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert "is-invalid" in answer.content.decode()
        assert not Schedule.objects.exists()

    def test_a_change_is_kept_and_a_wrong_one_is_not(self, browser, connection, made):
        url = reverse("schedule_edit", args=[made.pk])
        assert browser.post(url, values(connection, cron="nonsense")).status_code == 422
        made.refresh_from_db()
        assert made.cron == "30 2 * * *"
        browser.post(url, values(connection, trigger="every", every_minutes="15"))
        made.refresh_from_db()
        assert (made.trigger, made.cron, made.every_minutes) == ("every", "", 15)

    def test_a_refused_change_keeps_the_chosen_preset(self, browser, connection, made, preset):
        url = reverse("schedule_edit", args=[made.pk])
        answer = browser.post(url, values(connection, cron="nonsense", preset=preset.pk))
        assert f'<option value="{preset.pk}" selected>' in answer.text

    @pytest.mark.parametrize(
        ("file", "pattern"),
        [("orders-20261120.csv", "orders-*.csv"), ("a_2026-11-20_v2.csv", "a_*_v*.csv"), ("x.csv.gz", "x*.csv.gz")],
    )
    def test_files_of_that_kind_are_suggested(self, file, pattern):
        assert suggested_pattern(file) == pattern


class TestPreview:
    def test_it_tells_when_and_which_files(self, browser, connection, tmp_path):
        (tmp_path / "orders-1.csv").write_text("n\n1\n")
        shown = browser.get(reverse("schedule_preview"), values(connection)).content.decode()
        assert "At 02:30 every day, Europe/Vienna" in shown
        assert shown.count("02:30</time>") == 5
        assert "1 file: the first run loads it." in shown
        assert "orders-1.csv" in shown

    def test_a_file_of_the_import_that_is_scheduled_is_named(self, browser, connection, tmp_path):
        path = tmp_path / "orders-1.csv"
        path.write_text("n\n1\n")
        job = make_job(Status.SUCCEEDED)
        shown = browser.get(reverse("schedule_preview"), values(connection, job=job.pk)).text
        assert f"import {job.pk}" not in shown
        job.source.size = path.stat().st_size
        job.source.save()
        shown = browser.get(reverse("schedule_preview"), values(connection, job=job.pk)).text
        assert f"left out if its content is that of import {job.pk}" in shown
        by_stat = browser.get(reverse("schedule_preview"), values(connection, job=job.pk, known_by="stat")).text
        assert "1 file: the first run loads it." in by_stat  # A copy is loaded again.
        (listed,) = operations.find(connection, "*.csv", timezone.now(), UTC)
        job.source.connection, job.source.found_name = connection, listed.name
        job.source.found_modified_at, job.source.found_etag = listed.modified_at, listed.etag
        job.source.save()
        shown = browser.get(reverse("schedule_preview"), values(connection, job=job.pk)).text
        assert f"loaded by import {job.pk} already" in shown
        assert "the first run loads those that the import has not loaded" in shown
        form = browser.get(f"{reverse('schedule_new')}?job={job.pk}").text
        assert f'hx-get="{reverse("schedule_preview")}?job={job.pk}"' in form

    def test_imports_that_worked_are_offered(self, browser):
        good, taken_back = make_job("succeeded", chunks=1), make_job("succeeded", chunks=1, restored_at=timezone.now())
        make_job("succeeded", chunks=1, rejects_of=good)
        make_job("succeeded", chunks=1, balanced=False)
        shown = browser.get(reverse("schedule_new"))
        assert list(shown.context["jobs"]) == [good]
        assert f"job={taken_back.pk}" not in shown.text

    def test_of_imports_alike_the_last_is_offered(self, browser):
        first, *_, last = (make_job("succeeded", chunks=1, file_name=f"orders-{number}.csv") for number in range(3))
        others = [make_job("succeeded", chunks=1, file_name="paid.csv"), make_job("succeeded", chunks=1, table="more")]
        shown = browser.get(reverse("schedule_new")).context["jobs"]
        assert (shown, first in shown) == ([*reversed(others), last], False)

    def test_half_of_a_form_is_no_problem(self, browser):
        shown = browser.get(reverse("schedule_preview"), {"trigger": "cron", "cron": ""}).content.decode()
        assert "Not chosen yet." in shown
        assert "Choose a connection." in shown

    def test_with_a_connection_only_the_files_are_asked_for(self, browser, connection):
        shown = browser.get(reverse("schedule_preview"), values(connection, pattern="")).content.decode()
        assert "Enter which files." in shown
        assert "Choose a connection" not in shown

    def test_what_is_wrong_is_said(self, browser, connection):
        shown = browser.get(reverse("schedule_preview"), values(connection, cron="x", pattern="../*")).content.decode()
        assert "has 1 field, and not five" in shown
        assert "not a path below the connection" in shown
