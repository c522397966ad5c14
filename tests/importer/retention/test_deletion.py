"""The deletion: what goes and what stays at a given moment."""

from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.forms import model_to_dict
from django.utils import timezone

from importer.engine.errors import Problem
from importer.history import read
from importer.history.chunks.map import chunk_map
from importer.history.chunks.rates import rates
from importer.history.chunks.timings import chunk_timings
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.models import (
    AuditEvent,
    DiscoveredFile,
    ImportJob,
    JobFact,
    Lab,
    Schedule,
    ScheduleRun,
    SourceConnection,
    SourceFile,
)
from importer.models.outcomes.attempts import present_attempt
from importer.retention import ended_jobs, files
from importer.retention.run import run, run_to_the_end
from importer.sources.quotas import kept_for
from importer.sources.uploads import register
from tests.dashboard.job_data import Status
from tests.importer.retention.conftest import NOW, days_ago
from tests.people import operator

pytestmark = pytest.mark.django_db

RECIPE = {"schema_name": "osm", "table_name": "nodes", "dialect_json": {}, "mapping_json": []}


def picked(job: ImportJob | None, outcome: str, source: SourceFile | None = None, age: float = 0) -> DiscoveredFile:
    """A file of a run of a schedule that ended some days ago, or is under way for an age of 0."""
    connection = SourceConnection.objects.get_or_create(name="in", defaults={"kind": "folder"})[0]
    target = job.target if job else ImportJob.objects.latest("pk").target
    values = {"target": target, "connection": connection, "header": [], "columns_json": [], **RECIPE}
    schedule = Schedule.objects.get_or_create(name="nightly", defaults=values)[0]
    status = ScheduleRun.Status.SUCCEEDED if age else ScheduleRun.Status.LOADING
    done = ScheduleRun.objects.create(schedule=schedule, due_at=days_ago(age), moment=days_ago(age), status=status)
    return DiscoveredFile.objects.create(
        run=done, schedule=schedule, name="a.csv", job=job, outcome=outcome, source=source
    )


def test_to_the_end_is_until_a_run_finds_nothing(monkeypatch):
    found = iter((2, 1, 0))
    monkeypatch.setattr("importer.retention.run.PARTS", {"files": (2, lambda _now, _most: next(found))})
    assert run_to_the_end(NOW) == {"files": 3}


class TestFiles:
    def test_an_imported_file_goes_after_its_days_and_its_import_stays(self, ended):
        job, young = ended(8), ended(6)
        assert run(NOW)["files"] == 1
        assert (job.source.file.exists(), young.source.file.exists()) == (False, True)
        assert ImportJob.objects.get(pk=job.pk).source.status == SourceFile.Status.REMOVED

    def test_an_imported_file_goes_at_once_if_the_policy_says_so(self, ended, settings):
        settings.IMPORTED_FILES_DAYS = 0
        job = ended(0.5)
        run(NOW)
        assert not job.source.file.exists()

    def test_a_file_without_an_import_goes_after_other_days_with_its_row(self, upload):
        old, young = upload(31), upload(29)
        run(NOW)
        assert not old.file.exists()
        assert list(SourceFile.objects.all()) == [young]

    def test_a_row_that_an_import_names_since_the_look_holds_up_no_other(self, ended, upload, monkeypatch):
        named, free = ended(8).source, upload(31)
        SourceFile.objects.update(owned=False)
        monkeypatch.setattr(files, "JOBS_OF_FILE", ImportJob.objects.none())
        assert files.forget_rows([named.pk, free.pk]) == 1
        assert list(SourceFile.objects.all()) == [named]

    def test_the_file_of_a_failed_import_stays_as_long_as_it_can_be_retried(self, ended, settings):
        settings.OTHER_FILES_DAYS = 1
        job = ended(29, Status.FAILED)
        run(NOW)
        assert job.source.file.exists()
        run(NOW + timedelta(days=2))
        assert not job.source.file.exists()
        with pytest.raises(Problem, match="can no longer be retried"):
            commands.retry(job.pk)

    def test_a_deleted_file_no_longer_counts_for_its_owners_quota(self, ended):
        user = operator("olga")
        SourceFile.objects.filter(pk=ended(8).source_id).update(uploaded_by=user)
        assert kept_for(user).files == 1
        run(NOW)
        assert kept_for(user).files == 0

    def test_a_file_of_two_imports_follows_the_last_one(self, ended):
        first = ended(100)
        ended(1, source=first.source)
        run(NOW)
        assert first.source.file.exists()

    @pytest.mark.parametrize("status", [Status.LOADING, Status.PAUSED, Status.WAITING])
    def test_a_file_that_an_import_reads_stays(self, ended, status):
        job = ended(100, status)
        run(NOW)
        assert job.source.file.exists()

    def test_a_file_that_a_lab_reads_stays(self, ended):
        job = ended(100)
        Lab.objects.create(
            target=job.target,
            source=job.source,
            grid_json={},
            sample_json={},
            budget_json={},
            repeats=1,
            seed=1,
            **RECIPE,
        )
        run(NOW)
        assert job.source.file.exists()

    def test_a_file_that_a_run_has_fetched_and_not_imported_stays(self, ended, upload):
        ended(1)
        source = upload(100)
        picked(None, DiscoveredFile.Outcome.FETCHED, source)
        run(NOW)
        assert source.file.exists()

    def test_a_file_elsewhere_on_the_server_is_never_deleted(self, ended, tmp_path):
        path = tmp_path / "theirs.csv"
        path.write_bytes(b"a\n1")
        source = SourceFile.objects.create(
            name="theirs.csv", path=str(path), size=3, owned=False, status=SourceFile.Status.READY
        )
        ended(1000, source=source)
        run_to_the_end(NOW)
        assert path.exists()

    def test_the_row_of_a_file_elsewhere_stays_while_it_is_used(self, tmp_path):
        path = tmp_path / "theirs.csv"
        path.write_bytes(b"a\n1")
        source = register(path)
        SourceFile.objects.update(touched_at=days_ago(2))
        assert register(path) == source
        assert run(NOW)["rows of deleted files"] == 0
        assert run(NOW + timedelta(days=2))["rows of deleted files"] == 1

    def test_bytes_that_stayed_behind_when_a_process_ended_are_deleted_by_the_next_run(self, ended):
        job = ended(8)
        SourceFile.objects.filter(pk=job.source_id).update(status=SourceFile.Status.REMOVED)
        assert run(NOW)["files without a row"] == 1
        assert not job.source.file.exists()

    def test_a_file_is_deleted_by_hand_unless_something_needs_it(self, ended):
        failed = ended(1, Status.FAILED)
        files.remove_by_hand(failed.source)
        assert not failed.source.file.exists()
        loading = ended(1, Status.LOADING)
        with pytest.raises(Problem, match="an import of it is under way"):
            files.remove_by_hand(loading.source)
        assert loading.source.file.exists()


class TestRejects:
    def rejected(self, job: ImportJob) -> None:
        downloads.folder(job).mkdir(parents=True)
        (downloads.folder(job) / "00000001.rejects").write_bytes(b"1,2\n")

    def test_rejected_rows_go_after_their_days(self, ended):
        old, young = ended(91, rejected_rows=2), ended(89, rejected_rows=2)
        self.rejected(old)
        self.rejected(young)
        run(NOW)
        assert (downloads.folder(old).exists(), downloads.folder(young).exists()) == (False, True)

    def test_of_a_store_those_without_an_import_go_after_a_day(self, ended, store):
        known = ended(1, Status.FAILED, rejected_rows=2)
        for key in (str(uuid4()), str(known.key)):
            store.put_bytes(store.address_of("rejects", key, "00000001.rejects"), b"1,2\n")
        today = timezone.now()
        assert files.remove_unknown_rejects(today + timedelta(hours=23), 10) == 0
        assert run(today + timedelta(hours=25))["rejected rows of earlier attempts in the store"] == 1
        assert [each.address.split("/")[-2] for each in store.listed("rejects")] == [str(known.key)]

    def test_a_folder_that_cannot_be_deleted_does_not_repeat_the_run_for_ever(self, ended, tmp_path):
        job = ended(91, rejected_rows=2)
        (tmp_path / "elsewhere").mkdir()
        downloads.folder(job).symlink_to(tmp_path / "elsewhere")
        assert run_to_the_end(NOW)["rejected rows of imports"] == 0
        assert (tmp_path / "elsewhere").exists()

    def test_chunks_stay_as_long_as_the_rejected_rows_that_are_found_by_them(self, ended, settings):
        settings.CHUNKS_DAYS, settings.REJECTS_DAYS = 10, 60
        job = ended(50, rejected_rows=2)
        self.rejected(job)
        run(NOW)
        assert job.chunks.exists()
        settings.REJECTS_DAYS = None
        run(NOW + timedelta(days=100))
        assert downloads.folder(job).exists()

    def test_the_page_of_deleted_rejects_says_so(self, ended):
        job = ended(91, rejected_rows=2)
        run(NOW)
        job.refresh_from_db()
        with pytest.raises(Problem, match="no longer kept"):
            downloads.reject_file(job)


class TestChunks:
    def test_what_the_page_and_the_history_show_stays(self, ended):
        job = ended(91)
        job.chunks.filter(number=3).update(attempt=2)
        before = chunk_map(job), rates(job, NOW), chunk_timings(job), model_to_dict(present_attempt(job))
        facts = read.rows([job.pk])
        assert run(NOW)["chunks of imports"] == 1
        job = ImportJob.objects.get(pk=job.pk)
        assert not job.chunks.exists()
        assert (chunk_map(job), rates(job, NOW), chunk_timings(job), model_to_dict(present_attempt(job))) == before
        assert read.rows([job.pk]) == facts

    def test_what_is_kept_of_many_chunks_is_small(self, ended):
        job = ended(91, chunks=3000)
        run(NOW)
        job = ImportJob.objects.get(pk=job.pk)
        kept = job.record
        assert len(str(kept.kept_chunks)) + len(str(kept.chunk_timings)) < 20_000
        assert (chunk_map(job).loaded, chunk_map(job).chunks) == (3000, 3000)

    def test_one_import_that_makes_trouble_does_not_hold_up_the_others(self, ended):
        odd, other = ended(92), ended(91)
        odd.chunks.update(timings={"load": "long"})
        assert run(NOW)["chunks of imports"] == 1
        assert (odd.chunks.exists(), other.chunks.exists()) == (True, False)

    def test_an_import_that_can_be_retried_keeps_its_chunks(self, ended, settings):
        settings.CHUNKS_DAYS = 5
        job = ended(29, Status.CANCELLED)
        run(NOW)
        assert job.chunks.exists()
        run(NOW + timedelta(days=2))
        assert not job.chunks.exists()

    @pytest.mark.parametrize(
        "values",
        [{"changes": "begun"}, {"staging": "begun"}, {"changes": "left"}, {"step": "keeping"}, {"table_claim": "x"}],
    )
    def test_an_import_with_work_left_keeps_everything(self, ended, values):
        job = ended(1000, **values)
        run(NOW)
        assert job.chunks.exists()
        with pytest.raises(Problem, match="The import stays: "):
            ended_jobs.remove_by_hand(job.pk)

    def test_a_retry_that_comes_too_late_is_refused(self, ended):
        job = ended(91, Status.FAILED)
        run(NOW)
        with pytest.raises(Problem, match="can no longer be retried"):
            commands.retry(job.pk)


class TestJobs:
    def test_an_old_import_goes_and_its_facts_stay(self, ended):
        job, young = ended(401), ended(399)
        facts = read.rows([job.pk])
        run_to_the_end(NOW)
        assert list(ImportJob.objects.all()) == [young]
        assert facts[job.pk]
        assert read.rows([job.pk]) == facts
        assert job.pk in read.recorded()

    def test_an_import_whose_old_table_is_kept_stays(self, ended):
        job = ended(1000, kept_table="nodes_before")
        run(NOW)
        assert ImportJob.objects.filter(pk=job.pk).exists()
        with pytest.raises(Problem, match="its old table, or old rows, are kept on the server"):
            ended_jobs.remove_by_hand(job.pk)

    def test_a_failed_import_from_which_a_schedule_goes_on_stays(self, ended):
        job = ended(1000, Status.FAILED)
        picked(job, DiscoveredFile.Outcome.FAILED, age=1000)
        run(NOW)
        assert job.chunks.exists()
        assert job.source.file.exists()
        with pytest.raises(Problem, match="a schedule continues from it"):
            ended_jobs.remove_by_hand(job.pk)

    def test_a_schedule_still_knows_a_file_as_loaded_whose_import_was_retried_by_hand(self, ended):
        job = ended(1000)
        found = picked(job, DiscoveredFile.Outcome.FAILED, age=1000)
        run(NOW)
        found.refresh_from_db()
        assert (found.outcome, found.job) == (DiscoveredFile.Outcome.LOADED, None)

    def test_by_hand_it_goes_at_once_with_its_rejected_rows(self, ended):
        job = ended(0, Status.FAILED, rejected_rows=1)
        downloads.folder(job).mkdir(parents=True)
        ended_jobs.remove_by_hand(job.pk)
        assert not ImportJob.objects.exists()
        assert not downloads.folder(job).exists()
        assert lifecycle.advance(job.pk) == []
        with pytest.raises(Problem, match="deleted already"):
            ended_jobs.remove_by_hand(job.pk)

    def test_the_command_deletes_one_and_says_what_stays(self, ended):
        job, out = ended(0), StringIO()
        call_command("job", "delete", str(job.pk), stdout=out)
        assert out.getvalue() == f"Import {job.pk} is deleted. What it loaded stays in its table.\n"
        assert not ImportJob.objects.exists()
        assert AuditEvent.objects.get().object_id == str(job.pk)

    def test_facts_go_after_their_days_once_the_import_is_gone(self, ended, settings):
        ended(50)
        settings.HISTORY_DAYS = 40
        run_to_the_end(NOW)
        assert JobFact.objects.exists()
        settings.JOBS_DAYS = 40
        run_to_the_end(NOW)
        assert not JobFact.objects.exists()


class TestOthers:
    def test_a_run_goes_that_imported_nothing_and_one_that_did_stays(self, ended):
        kept = picked(ended(1), DiscoveredFile.Outcome.LOADED, age=91).run
        known = picked(None, DiscoveredFile.Outcome.ALREADY_LOADED, age=92).run
        asked = picked(None, DiscoveredFile.Outcome.NEEDS_ANSWER, age=93).run
        run(NOW)
        assert set(ScheduleRun.objects.all()) == {kept, asked}
        assert known not in ScheduleRun.objects.all()

    def test_sessions_go_after_they_have_ended(self):
        for key, age in (("old", 2), ("just over", 0.5), ("continuing", -3)):
            Session.objects.create(session_key=key, session_data="", expire_date=days_ago(age))
        run(NOW)
        assert set(Session.objects.values_list("pk", flat=True)) == {"just over", "continuing"}

    def test_keep_deletes_nothing(self, ended, settings):
        for name in ("IMPORTED_FILES", "OTHER_FILES", "REJECTS", "CHUNKS", "JOBS", "HISTORY", "RUNS", "SESSIONS"):
            setattr(settings, f"{name}_DAYS", None)
        job = ended(10_000)
        assert not any(run(NOW).values())
        assert job.source.file.exists()

    def test_a_part_that_fails_does_not_hold_up_the_others(self, ended, settings, tmp_path):
        job = ended(91)
        settings.REJECTS_DIR = tmp_path / "closed"
        settings.REJECTS_DIR.mkdir()
        settings.REJECTS_DIR.chmod(0)
        run(NOW)
        settings.REJECTS_DIR.chmod(0o700)
        assert not job.chunks.exists()
