"""The counts of a job's chunks: added once, limited in size, checked against limits, subtracted for lost chunks."""

import pytest
from django.utils import timezone

from importer.engine.errors import Problem, TargetProblem, TooManyRejects
from importer.engine.load.outcome import NoticeCount, Outcome, ReasonCount, Tally
from importer.engine.mysql.error_messages import MEANINGS
from importer.engine.plan.options import Options
from importer.engine.source.chunks.skipped_lines import NO_LINES
from importer.engine.stored import to_json
from importer.jobs import lifecycle
from importer.jobs.actions.commands import set_parallelism
from importer.jobs.rejects.counts import MOST_KINDS, OTHERS, merged
from importer.jobs.rejects.limits import exceeded, most_rejects
from importer.jobs.steps.chunk_leases import ChunkRun, LoadedChunk, claim_run, record_failed, record_loaded
from importer.jobs.steps.scanning import finish_scan
from importer.models import Chunk, ImportJob
from tests.dashboard.job_data import LENGTH, ROWS, make_job

pytestmark = pytest.mark.django_db
Status = ImportJob.Status

TOO_LONG = ReasonCount("1406", "name", "The value is too long for varchar(64).", 2)
NO_NUMBER = ReasonCount("1366", "lat", "The value does not fit double.", 3)
ROUNDED = NoticeCount("rounded", "lat", "Rounded to the digits of the column.", 7)


def loading(chunks=4, scanned=True, **options):
    """A job whose chunks are all in flight, none of them loaded."""
    job = make_job(chunks=chunks, loaded=0, parallelism=chunks, options_json=to_json(Options(**options)))
    if not scanned:
        ImportJob.objects.filter(pk=job.pk).update(scan_finished=False, scanned_rows=2 * ROWS, scanned_bytes=2 * LENGTH)
    return job


def record(job, number, *reasons, notices=(), skipped=0, already=False):
    chunk = job.chunks.get(number=number)
    rejected = sum(each.rows for each in reasons) - skipped
    tally = Tally(ROWS - rejected - skipped, 0, skipped, rejected)
    outcome = Outcome(ROWS, already, {}, tally, tuple(reasons), tuple(notices))
    record_all(ChunkRun(chunk.run, job, [chunk]), outcome)
    return ImportJob.objects.select_related("source").get(pk=job.pk)


def record_all(run, outcome):
    now = timezone.now()
    record_loaded(run, [LoadedChunk(chunk, outcome, now, now) for chunk in run.chunks])


def kind(reason, amount, name="rows", code="1", column="c"):
    return {"code": code, "column": column, "reason": reason, name: amount}


class TestMerged:
    def test_equal_reasons_are_merged_and_the_most_frequent_comes_first(self):
        kinds = merged([kind("a", 1), kind("b", 5), kind("a", 2), kind("a", 9, column="d")], "rows")
        assert [(each["reason"], each["column"], each["rows"]) for each in kinds] == [
            ("a", "d", 9),
            ("b", "c", 5),
            ("a", "c", 3),
        ]

    def test_merged_kinds_are_limited_and_lose_no_row(self):
        counted: list = []
        for chunk in range(5):
            counted = merged([*counted, *(kind(f"{chunk} {n}", n + 1) for n in range(150))], "rows")
        assert len(counted) == MOST_KINDS + 1
        assert counted[-1]["reason"] == OTHERS
        assert sum(each["rows"] for each in counted) == 5 * sum(range(1, 151))

    def test_the_order_of_chunks_does_not_matter_for_counts(self):
        kinds = [kind("a", 1), kind("b", 2), kind("c", 2)]
        assert merged(kinds, "rows") == merged(reversed(kinds), "rows")


class TestRecorded:
    def test_a_tally_that_is_reported_twice_is_added_once(self):
        job = loading(on_error="reject")
        record(job, 0, TOO_LONG, NO_NUMBER, notices=[ROUNDED])
        now = record(job, 0, TOO_LONG, NO_NUMBER, notices=[ROUNDED], already=True)
        assert (now.loaded_rows, now.rejected_rows, now.skipped_rows) == (ROWS - 5, 5, 0)
        assert [each["rows"] for each in now.reject_reasons] == [3, 2]
        assert [each["values"] for each in now.notices] == [7]
        assert now.accounted_rows == ROWS

    def test_chunks_add_up(self):
        job = loading(on_error="reject", on_duplicate="skip")
        record(job, 1, TOO_LONG, notices=[ROUNDED])
        now = record(job, 0, TOO_LONG, ReasonCount("1062", "", "A row with this key is there already.", 4), skipped=4)
        assert (now.loaded_rows, now.skipped_rows, now.rejected_rows) == (2 * ROWS - 8, 4, 4)
        assert [(each["code"], each["rows"]) for each in now.reject_reasons] == [("1062", 4), ("1406", 4)]

    def test_counts_of_lost_chunks_are_subtracted(self):
        job = loading(chunks=3, on_error="reject")
        record(job, 0, TOO_LONG, notices=[ROUNDED])
        record(job, 1, TOO_LONG, NO_NUMBER, notices=[ROUNDED])
        record(job, 2)
        ImportJob.objects.filter(pk=job.pk).update(status=Status.VERIFYING)
        lifecycle.reopen(ImportJob.objects.get(pk=job.pk), {1, 2})
        now = ImportJob.objects.get(pk=job.pk)
        assert (now.status, now.loaded_rows, now.rejected_rows) == (Status.LOADING, ROWS - 2, 2)
        assert [(each["code"], each["rows"]) for each in now.reject_reasons] == [("1406", 2)]
        assert [each["values"] for each in now.notices] == [7]
        assert now.committed_bytes == LENGTH


class TestLimits:
    def test_no_limit_is_none(self):
        assert most_rejects(loading(on_error="reject", max_reject_percent=100)) is None

    @pytest.mark.parametrize(("most", "ends"), [(4, Status.FAILING), (5, Status.LOADING), (0, Status.FAILING)])
    def test_one_reject_above_the_limit_fails_the_job(self, most, ends):
        now = record(loading(on_error="reject", max_rejects=most), 0, TOO_LONG, NO_NUMBER)
        assert now.status == ends

    def test_a_share_is_of_all_rows_of_the_file(self):
        job = loading(chunks=4, on_error="reject", max_reject_percent=0.5)
        most = 4 * ROWS * 5 // 1000
        now = record(job, 0, ReasonCount("1406", "name", "too long", most))
        assert (now.status, most_rejects(now)) == (Status.LOADING, most)
        assert record(job, 1, ReasonCount("1406", "name", "too long", 1)).status == Status.FAILING

    def test_during_the_scan_only_a_certain_excess_fails_the_job(self):
        job = loading(scanned=False, on_error="reject", max_reject_percent=10)
        now = record(job, 0, ReasonCount("1406", "name", "too long", ROWS))
        assert now.status == Status.LOADING
        claimed = job.__class__.objects.get(pk=job.pk)
        ImportJob.objects.filter(pk=job.pk).update(step=ImportJob.Step.SCANNING)
        finish_scan(claimed, job.source.size, NO_LINES, NO_LINES)
        assert ImportJob.objects.get(pk=job.pk).status == Status.FAILING

    @pytest.mark.parametrize(("rows", "most"), [(5, 100), (10_000, 100), (10_001, 100), (50_000, 500)])
    def test_the_default_limit_is_the_larger_of_rows_and_share(self, rows, most):
        options = Options(on_error="reject")
        assert (options.limits_rejects, options.most_rejects(rows)) == (True, most)

    def test_stated_limits_have_no_default(self):
        assert Options(on_error="reject", max_rejects=5).with_default_limit().most_rejects(10**6) == 5
        assert Options(on_error="reject").without_limit().with_default_limit() == Options(on_error="reject")
        assert Options().with_default_limit() == Options()

    def test_the_problem_of_an_exceeded_limit_has_counts_and_reasons(self):
        now = record(loading(on_error="reject", max_rejects=4, max_reject_percent=50), 0, TOO_LONG, NO_NUMBER)
        assert now.problem["kind"] == TooManyRejects.__name__
        what = now.problem["what"]
        assert "5 of 13,600 rows cannot go in; at most 4 or 50 % of the rows may be left out." in what
        assert "3 rows: lat: The value does not fit double; 2 rows: name: The value is too long" in what
        assert "continue without the limit" in now.problem["advice"]
        assert "If lat is written in another way than the server reads it" in now.problem["advice"]

    def test_chunks_that_were_in_flight_still_count(self):
        job = loading(on_error="reject", max_rejects=0)
        record(job, 0, TOO_LONG)
        now = record(job, 1, TOO_LONG)
        assert (now.status, now.rejected_rows) == (Status.FAILING, 4)
        assert exceeded(now)


class TestOrder:
    def test_an_ordered_job_loads_chunks_in_order(self):
        job = make_job(chunks=4, loaded=0, parallelism=4)
        plan = job.plan_json | {"ordered": True}
        ImportJob.objects.filter(pk=job.pk).update(plan_json=plan)
        job.chunks.update(status=Chunk.Status.PENDING)
        first, second, *_ = job.chunks.all()
        assert [step.id for step in lifecycle.advance(job.pk)] == [first.pk]
        assert lifecycle.advance(job.pk) == []
        claimed = claim_run(first.pk)
        assert lifecycle.advance(job.pk) == []
        record_failed(claimed, claimed.chunks[0], Problem("A deadlock.", retryable=True))
        assert lifecycle.advance(job.pk) == []  # not the second either, until the first has its next turn
        job.chunks.filter(pk=first.pk).update(lease=None)
        assert [step.id for step in lifecycle.advance(job.pk)] == [first.pk]
        record_all(claim_run(first.pk), Outcome(ROWS, False, {}, Tally(ROWS)))
        assert [step.id for step in lifecycle.advance(job.pk)] == [second.pk]

    def test_more_in_parallel_is_refused_with_the_reason(self):
        job = make_job(chunks=4, loaded=0, parallelism=1)
        ImportJob.objects.filter(pk=job.pk).update(plan_json=job.plan_json | {"ordered": True})
        with pytest.raises(Problem, match="file's order"):
            set_parallelism(job.pk, 2)
        assert ImportJob.objects.get(pk=job.pk).parallelism == 1


class TestAttempts:
    def test_a_chunk_that_has_given_up_says_how_often_it_was_tried(self, settings):
        settings.MAX_ATTEMPTS = 3
        job = make_job(chunks=2, loaded=0)
        lost = TargetProblem("The connection was lost.", advice="Check the server.", retryable=True)
        job.chunks.update(attempt=0)
        for tried in (1, 2, 3):
            job.chunks.filter(number=0).update(status=Chunk.Status.QUEUED, lease=None)
            claimed = claim_run(job.chunks.get(number=0).pk)
            assert claimed.chunks[0].attempt == tried
            record_failed(claimed, claimed.chunks[0], lost)
            chunk = job.chunks.get(number=0)
            assert chunk.problem["advice"] == (
                "Check the server." if tried < 3 else "It was tried 3 times. Check the server."
            )
        job.refresh_from_db()
        assert (chunk.status, job.status) == (Chunk.Status.FAILED, Status.FAILING)
        assert job.problem["advice"] == "It was tried 3 times. Check the server."

    def test_no_advice_of_a_server_error_promises_another_attempt(self):
        promising = [number for number, each in MEANINGS.items() if "tried again" in each.advice.lower()]
        assert promising == []
