"""Where imports come from and whose they are, filters that people save, and actions on all imports that match."""

import pytest
from django.urls import reverse

from importer.models import AuditEvent, DiscoveredFile, ImportJob, Level, SavedFilter, SourceConnection, SourceFile
from tests.dashboard.home.test_page import make_run, make_schedule
from tests.dashboard.job_data import Status, make_job
from tests.people import operator, viewer

pytestmark = pytest.mark.django_db


def names(answer) -> list[str]:
    return [row["file"] for row in answer.context["jobs"]]


class TestOrigin:
    @pytest.fixture
    def made(self, user) -> dict[str, ImportJob]:
        """An import of each origin by its name."""
        schedule = make_schedule()
        ImportJob.objects.all().delete()
        jobs = {
            name: make_job(Status.SUCCEEDED, chunks=1, file_name=f"{name}.csv")
            for name in ("schedule", "rejects", "connection", "command", "upload")
        }
        make_run(schedule, 20, "succeeded", jobs["schedule"])
        ImportJob.objects.filter(pk=jobs["rejects"].pk).update(rejects_of=jobs["schedule"])
        ImportJob.objects.filter(pk=jobs["upload"].pk).update(created_by=user)
        fetched = {"connection": SourceConnection.objects.get()}
        SourceFile.objects.filter(pk__in=(jobs["connection"].source_id, jobs["schedule"].source_id)).update(**fetched)
        SourceFile.objects.filter(pk=jobs["command"].source_id).update(owned=False)
        return jobs

    def test_each_import_has_one_and_can_be_found_by_it(self, browser, made):
        rows = browser.get(reverse("jobs")).context["jobs"]
        assert {row["file"]: row["origin"] for row in rows} == {f"{name}.csv": name for name in made}
        for name in made:
            assert names(browser.get(reverse("jobs"), {"origin": name})) == [f"{name}.csv"]
        assert "Schedule nightly" in browser.get(reverse("jobs")).content.decode()

    def test_the_owner_is_shown_and_filters(self, browser, made):
        for owner in ("me", "ann"):
            assert names(browser.get(reverse("jobs"), {"owner": owner})) == ["upload.csv"]
        assert names(browser.get(reverse("jobs"), {"owner": "nobody"})) == []


class TestSavedFilters:
    FAILED = "q=nodes&status=failed"

    def test_a_filter_is_saved_changed_shown_to_its_owner_only_and_deleted(self, browser, client):
        values = {"name": "mine", "q": "nodes", "status": "failed", "page": "7"}
        make_job(Status.FAILED, chunks=1)
        assert browser.post(reverse("account_filter_save"), values).url == f"{reverse('jobs')}?{self.FAILED}"
        assert f'href="?{self.FAILED.replace("&", "&amp;")}"' in browser.get(reverse("jobs")).content.decode()
        browser.post(reverse("account_filter_save"), values | {"status": ""})
        saved = SavedFilter.objects.get()
        assert (saved.name, saved.query) == ("mine", "q=nodes")
        client.force_login(viewer("bob"))
        assert not client.get(reverse("jobs")).context["saved"]
        assert client.post(reverse("account_filter_delete", args=[saved.pk])).status_code == 404
        client.force_login(saved.user)
        client.post(reverse("account_filter_delete", args=[saved.pk]))
        assert not SavedFilter.objects.exists()

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"name": ""}, "The filter needs a name."),
            ({"name": "x" * 65}, "Use at most 64 characters."),
            ({"q": ""}, "Choose a filter, then save it."),
        ],
    )
    def test_without_a_name_or_a_filter_nothing_is_saved(self, browser, values, said):
        answer = browser.post(reverse("account_filter_save"), {"name": "mine", "q": "nodes"} | values, follow=True)
        assert said in answer.content.decode()
        assert not SavedFilter.objects.exists()


class TestActionsOnAll:
    def ask(self, browser, **query):
        return browser.get(reverse("jobs_bulk"), query)

    def do(self, browser, asked, **query):
        values = {"asked": asked.context["asked"], **query}
        return browser.post(reverse("jobs_bulk"), values, follow=True).content.decode()

    def test_it_asks_with_the_numbers_and_deletes_what_it_asked_about(self, browser):
        kept = make_job(Status.SUCCEEDED, chunks=1, file_name="other.csv")
        running = make_job(Status.LOADING, chunks=2)
        make_job(Status.FAILED, chunks=1)
        make_job(Status.CANCELLED, chunks=1)
        asked = self.ask(browser, action="delete", q="nodes-2026")
        page = asked.content.decode()
        assert "Delete the records of 2 imports?" in page
        assert "1 other that matches cannot be deleted, and stays as it is." in page
        later = make_job(Status.FAILED, chunks=1)
        ImportJob.objects.filter(pk=running.pk).update(status=Status.FAILED)  # has ended since
        assert "2 imports are deleted." in self.do(browser, asked, action="delete", q="nodes-2026")
        assert set(ImportJob.objects.values_list("pk", flat=True)) == {kept.pk, running.pk, later.pk}
        events = AuditEvent.objects.filter(action="job_delete")
        assert [each.details for each in events] == [{"with_others": True}] * 2
        assert AuditEvent.objects.get(action="jobs_bulk").details == {"action": "delete", "done": 2, "refused": 0}

    def test_imports_under_way_are_cancelled(self, browser):
        job = make_job(Status.WAITING, chunks=2, loaded=0)
        asked = self.ask(browser, action="cancel")
        assert "1 import is cancelled." in self.do(browser, asked, action="cancel")
        job.refresh_from_db()
        assert job.status in (Status.CANCELLING, Status.CANCELLED)

    def test_what_cannot_be_retried_is_named_with_the_reason(self, browser):
        job = make_job(Status.FAILED, chunks=1, file_name="gone.csv")
        SourceFile.objects.filter(pk=job.source_id).update(status=SourceFile.Status.REMOVED)
        asked = self.ask(browser, action="retry")
        assert "Retry 1 import?" in asked.content.decode()
        page = self.do(browser, asked, action="retry")
        assert f"Import {job.pk} of gone.csv: The import can no longer be retried" in page
        assert AuditEvent.objects.get(action="job_retry").outcome == "refused"

    def test_each_retry_counts_also_one_that_fails_and_those_beyond_the_limit_are_left(self, browser, settings):
        settings.STARTS_PER_MINUTE = 2
        made = [make_job(Status.FAILED, chunks=1) for _ in range(3)]
        page = self.do(browser, self.ask(browser, action="retry"), action="retry")
        assert "1 import is left. You may start or retry an import 2 times in a minute, and have done so." in page
        tried = AuditEvent.objects.filter(action="job_retry").values_list("object_id", flat=True)
        assert set(tried) == {str(each.pk) for each in made[:2]}
        noted = {"action": "retry", "done": 0, "refused": 2, "left": 1}
        assert noted.items() <= AuditEvent.objects.get(action="jobs_bulk").details.items()
        assert "3 imports are deleted." in self.do(browser, self.ask(browser, action="delete"), action="delete")

    def test_the_policy_decides_for_each_import(self, client):
        ann = operator("ann", Level.LOOK)
        make_job(Status.FAILED, chunks=1, user=ann)
        other = make_job(Status.FAILED, chunks=1)
        client.force_login(ann)
        asked = self.ask(client, action="delete")
        page = self.do(client, asked, action="delete")
        assert "1 import is deleted." in page
        assert f"Import {other.pk} of" in page
        assert list(ImportJob.objects.values_list("pk", flat=True)) == [other.pk]

    def test_viewers_change_nothing(self, client):
        job = make_job(Status.FAILED, chunks=1)
        client.force_login(viewer("bob"))
        asked = self.ask(client, action="delete")
        assert client.post(reverse("jobs_bulk"), {"action": "delete", "asked": job.pk}).status_code == 403
        assert asked.status_code == 200
        assert ImportJob.objects.exists()

    def test_an_unknown_action_is_no_page(self, browser):
        assert self.ask(browser, action="explode").status_code == 404


def test_a_file_of_two_runs_is_listed_once(browser):
    schedule = make_schedule()
    job = ImportJob.objects.get()
    for day in (20, 21):
        make_run(schedule, day, "succeeded", job)
    assert DiscoveredFile.objects.count() == 2
    assert len(names(browser.get(reverse("jobs"), {"origin": "schedule"}))) == 1
