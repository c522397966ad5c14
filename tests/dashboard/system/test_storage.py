"""The page Storage, and the pages that ask before a file or an import is deleted."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.jobs.record import write_record
from importer.models import AuditEvent, ImportJob, RetentionPolicy, SourceFile, Target
from importer.retention import policies
from importer.retention.ended_jobs import remove_by_hand
from tests.dashboard.job_data import Status, make_job
from tests.people import admin, operator, viewer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    for name in ("UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR"):
        folder = tmp_path / name
        folder.mkdir()
        setattr(settings, name, folder)


@pytest.fixture
def root(client):
    user = admin("root")
    client.force_login(user)
    return user


def upload(user, name: str = "mine.csv", size: int = 3) -> SourceFile:
    return SourceFile.objects.create(
        name=name, path="/nowhere/x", size=size, received=size, uploaded_by=user, status=SourceFile.Status.READY
    )


def page(client, name: str = "storage", *args) -> str:
    return client.get(reverse(name, args=args)).content.decode()


class TestStorage:
    def test_an_admin_sees_what_takes_how_much_each_policy_and_everybodys_files(self, client, root, settings):
        (settings.REJECTS_DIR / "note").write_bytes(b"x" * 9000)
        job = make_job(Status.SUCCEEDED, chunks=1, user=operator("olga"), rejected_rows=1)
        (settings.REJECTS_DIR / str(job.key)).mkdir()
        (settings.REJECTS_DIR / str(job.key) / "0.csv").write_bytes(b"x" * 20_000)
        upload(operator("ole"), "theirs.csv")
        html = page(client)
        for text in ("Free on each disk", "Rejected rows", "Database", "Audit log", "Redis", "theirs.csv", "of ole"):
            assert text in html
        assert all(each.title in html for each in policies.POLICIES.values())
        assert reverse("job_delete", args=[job.pk]) in html
        assert re.search(r">Rejected rows<.*?>2 files</td>", html, re.DOTALL)
        assert '<span class="text-danger">it does not answer</span>' in html

    def test_an_operator_sees_the_own_files_the_largest_first_and_nothing_else(self, client):
        olga, ole = operator("olga"), operator("ole")
        upload(olga, "small.csv", 10)
        upload(olga, "large.csv", 1000)
        upload(ole, "theirs.csv")
        client.force_login(olga)
        html = page(client)
        assert html.index("large.csv") < html.index("small.csv")
        assert "You keep 1,010 bytes" in html
        for text in ("theirs.csv", "Use of disk and memory", "Free on each disk"):
            assert text not in html

    def test_an_upload_under_way_is_stopped_not_deleted(self, client, root):
        upload(root, "half.csv")
        SourceFile.objects.update(status=SourceFile.Status.UPLOADING, received=1)
        assert re.search(r'>Stop upload <span class="visually-hidden">half.csv</span>', page(client))
        assert "3 bytes, being uploaded" in page(client)
        SourceFile.objects.update(touched_at=timezone.now() - timedelta(hours=1))
        assert "3 bytes, stopped at 1 byte" in page(client)
        assert re.search(r'>Delete upload <span class="visually-hidden">half.csv</span>', page(client))

    @pytest.mark.parametrize(
        ("status", "days", "kept"),
        [
            (Status.SUCCEEDED, {}, "kept until 1 Jun 2026, then they can be neither corrected nor loaded"),
            (Status.SUCCEEDED, {"jobs": 30}, "kept until 2 Apr 2026"),
            # It can be retried for longer than its rejected rows would be kept.
            (Status.FAILED, {"retry": 100}, "kept until 11 Jun 2026"),
            (Status.SUCCEEDED, {"retry": 100}, "kept until 1 Jun 2026"),
            (Status.SUCCEEDED, {"rejects": None, "jobs": None}, "kept for ever"),
            (Status.LOADING, {}, "kept while it is under way"),
        ],
    )
    def test_until_when_rejected_rows_are_kept_agrees_with_the_policies(
        self, client, root, settings, status, days, kept
    ):
        for name, value in days.items():
            RetentionPolicy.objects.create(name=name, days=value)
        job = make_job(status, chunks=1, rejected_rows=1)
        ended = None if status == Status.LOADING else datetime(2026, 3, 3, tzinfo=UTC)
        ImportJob.objects.update(finished_at=ended)
        (settings.REJECTS_DIR / str(job.key)).mkdir()
        (settings.REJECTS_DIR / str(job.key) / "0.csv").write_bytes(b"x")
        html = page(client)
        assert kept in html
        assert f">Delete import {job.pk}</a>" in html
        assert "Sizes are those on disk, in whole blocks." in html

    def test_a_viewer_has_no_files(self, client):
        client.force_login(viewer("vic"))
        assert client.get(reverse("storage")).status_code == 403

    def test_a_file_that_stays_says_why(self, client, root):
        failed = make_job(Status.FAILED, chunks=1)
        assert "It stays: an import of it can be retried." in page(client)
        ImportJob.objects.filter(pk=failed.pk).update(status=Status.LOADING, finished_at=None)
        assert "It stays: an import of it is under way." in page(client)

    def test_an_import_that_stays_beyond_its_days_says_why(self, client, root):
        job = make_job(Status.SUCCEEDED, chunks=1, kept_table="nodes_before")
        write_record(job.pk)
        assert "Imports that stay" not in page(client)
        ImportJob.objects.update(finished_at=timezone.now() - timedelta(days=500))
        html = page(client)
        assert "Imports that stay beyond their days" in html
        assert "its old table, or old rows, are kept on the server" in html

    def test_a_target_whose_ledger_rows_stay_is_named_with_the_reason(self, client, root):
        job = make_job(Status.SUCCEEDED, chunks=1)
        Target.objects.filter(pk=job.target_id).update(ledger_problem="DELETE command denied")
        assert "DELETE command denied" in page(client)


class TestPolicies:
    def change(self, client, **values):
        return client.post(reverse("storage_policy"), values, follow=True).content.decode()

    def test_a_change_is_in_force_named_and_in_the_audit_log(self, client, root):
        html = self.change(client, name="chunks", days="12")
        assert ">changed by root on" in html
        assert policies.in_force("chunks").days == 12
        event = AuditEvent.objects.get(action="storage_policy")
        assert event.details["days"] == {"old": "90", "new": "12"}

    def test_nothing_entered_takes_the_change_back(self, client, root):
        self.change(client, name="chunks", days="keep")
        page = self.change(client, name="chunks", days="")
        assert re.search(r'id="days-chunks" name="days" value="90"', page)
        assert 'id="source-chunks">the default' in page

    @pytest.mark.parametrize(("days", "shown", "kept"), [("90", "90", None), ("", "90", None), ("12", "90", 12)])
    def test_for_ever_is_chosen_unless_other_days_are_written(self, client, root, days, shown, kept):
        page = self.change(client, name="chunks", days=days, shown=shown, unit="keep")
        assert policies.in_force("chunks").days == kept
        assert ('<option value="keep" selected>' in page) == (kept is None)

    @pytest.mark.parametrize("values", [{"name": "ledger", "days": "29"}, {"name": "chunks", "days": "x"}, {}])
    def test_a_wrong_value_is_refused_with_what_is_possible(self, client, root, values):
        assert re.search(r"from \d+ to 36500|Policies: ", self.change(client, **values))
        assert not RetentionPolicy.objects.exists()

    def test_an_operator_changes_nothing(self, client):
        client.force_login(operator("olga"))
        assert client.post(reverse("storage_policy"), {"name": "chunks", "days": "12"}).status_code == 403
        assert not RetentionPolicy.objects.exists()


class TestDeleteFile:
    def test_the_owner_is_told_what_is_lost_and_deletes_it(self, client, settings):
        olga = operator("olga")
        client.force_login(olga)
        job = make_job(Status.FAILED, chunks=2, user=olga)
        path = settings.UPLOAD_DIR / "x"
        path.write_bytes(b"a\n1")
        SourceFile.objects.filter(pk=job.source_id).update(uploaded_by=olga, path=str(path))
        html = page(client, "storage_file_delete", job.source.key)
        assert re.search(r"Import \d+</a> \(failed\) can then no longer be retried", html)
        assert path.exists()
        client.post(reverse("storage_file_delete", args=[job.source.key]))
        assert not path.exists()
        assert AuditEvent.objects.filter(action="storage_file_delete", object_name=job.source.name).exists()
        html = page(client, "job", job.pk)
        assert "It can no longer be retried: its file was deleted." in html
        assert 'id="job-retry"' not in html

    def test_a_file_that_an_import_reads_has_no_button_and_stays(self, client, root):
        job = make_job(Status.LOADING, chunks=2)
        html = page(client, "storage_file_delete", job.source.key)
        assert "The file stays: an import of it is under way." in html
        assert "btn-danger" not in html
        client.post(reverse("storage_file_delete", args=[job.source.key]))
        job.source.refresh_from_db()
        assert job.source.status == SourceFile.Status.READY

    def test_no_page_offers_a_deleted_file_any_more(self, client, root):
        job = make_job(Status.SUCCEEDED, chunks=2)
        assert 'id="job-lab"' in page(client, "job", job.pk)
        client.post(reverse("storage_file_delete", args=[job.source.key]))
        assert 'id="job-lab"' not in page(client, "job", job.pk)
        assert client.get(reverse("new_source", args=[job.source.key])).status_code == 404
        for name in ("storage", "lab_new", "new"):
            assert str(job.source.key) not in page(client, name)
            assert job.source.name not in page(client, name)

    def test_a_file_of_somebody_else_is_not_there(self, client):
        source = upload(operator("ole"))
        client.force_login(operator("olga"))
        for verb in ("get", "post"):
            assert getattr(client, verb)(reverse("storage_file_delete", args=[source.key])).status_code == 404
        assert SourceFile.objects.filter(pk=source.pk).exists()


class TestDeleteImport:
    def test_the_owner_is_told_what_is_lost_and_deletes_it(self, client):
        olga = operator("olga", level=1)
        client.force_login(olga)
        job = make_job(Status.FAILED, chunks=2, user=olga, rejected_rows=7)
        assert reverse("job_delete", args=[job.pk]) in page(client, "job", job.pk)
        html = page(client, "job_delete", job.pk)
        for text in ("can then no longer be retried", "The 7 rejected or skipped rows", "stays in osm.nodes"):
            assert text in html
        answer = client.post(reverse("job_delete", args=[job.pk]), follow=True)
        assert f"Import {job.pk} of {job.source.name} is deleted." in answer.content.decode()
        assert not ImportJob.objects.exists()
        event = AuditEvent.objects.get(action="job_delete")
        assert (event.object_id, event.table, event.outcome) == (str(job.pk), "osm.nodes", "done")

    def test_an_import_under_way_says_why_it_stays(self, client, root):
        job = make_job(Status.LOADING, chunks=2)
        assert "The import stays: it has not ended." in page(client, "job_delete", job.pk)
        assert reverse("job_delete", args=[job.pk]) not in page(client, "job", job.pk)
        assert "The import stays" in client.post(reverse("job_delete", args=[job.pk]), follow=True).content.decode()
        assert ImportJob.objects.exists()

    def test_who_may_only_load_into_the_table_deletes_no_import_of_others(self, client):
        job = make_job(Status.SUCCEEDED, chunks=2, user=operator("ole"))
        client.force_login(operator("olga", level=2))
        assert client.post(reverse("job_delete", args=[job.pk])).status_code == 403
        assert reverse("job_delete", args=[job.pk]) not in page(client, "job", job.pk)
        assert ImportJob.objects.exists()

    def test_the_history_keeps_its_facts_without_a_link(self, client, root):
        job = make_job(Status.SUCCEEDED, chunks=2)
        write_record(job.pk)
        remove_by_hand(job.pk)
        html = page(client, "history")
        assert f">{job.pk}</span>" in html
        assert reverse("job", args=[job.pk]) not in html

    def test_who_may_see_the_table_sees_the_facts_of_a_deleted_import(self, client):
        job = make_job(Status.SUCCEEDED, chunks=2)
        write_record(job.pk)
        remove_by_hand(job.pk)
        client.force_login(viewer("vic"))
        assert f">{job.pk}</span>" in page(client, "history")
