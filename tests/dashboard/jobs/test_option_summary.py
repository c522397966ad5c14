"""The page of one import: its options, the temporary changes on the target, and the duration of each part."""

import re
from dataclasses import asdict
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.jobs.progress import progress
from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.engine.schema.alter_table import DdlProgress
from importer.engine.schema.indexes import ForeignKey, KeyDefinition
from importer.engine.stored import to_json
from importer.engine.target.staging import Staged
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.models import ImportJob, Target
from importer.worker import live_progress
from tests.dashboard.job_data import Status, make_job, page
from tests.stack import announce_workers

pytestmark = pytest.mark.django_db


def tries(browser, job):
    """What the page says of the tries to put back what was refused."""
    return page(browser, job).split('id="job-tries">')[1].split("</p>")[0]


ENDS = (Status.LOADING, Status.SUCCEEDED, Status.FAILED)


class TestSettings:
    def test_what_was_asked_for_stands_first_and_the_rest_behind(self, browser):
        options = Options(mode="append", commit_rows=500, lock_table=True, session={"sort_buffer_size": "4M"})
        html = page(browser, make_job(chunks=2, options_json=to_json(options)))
        first, rest = html.split('id="job-defaults"')
        for words in ('<dd class="break">500</dd>', "LOCK TABLES for each chunk", "sort_buffer_size = 4M"):
            assert words in first
        assert "settings at default" in rest
        assert "as planned" in rest

    def test_what_slows_it_down_is_marked_until_the_timings_tell(self, browser):
        marks = [page(browser, make_job(status, chunks=2)).count("slows it down") for status in ENDS]
        assert marks == [1, 0, 0]

    def test_how_long_each_part_took(self, browser):
        job = make_job(Status.SUCCEEDED, chunks=4, index_seconds=0.125)
        said = " ".join(re.sub(r"<[^>]+>", " ", page(browser, job)).split())
        assert re.search(r"Scan 0\.40 s Load \S+ s Index 0\.12 s Verify 0\.1\d s", said)


class TestArrangement:
    ARRANGED = TemporaryChanges("osm", "nodes", (KeyDefinition("by_name", "KEY `by_name` (`name`)"),))

    def job(self, status, **fields):
        job = make_job(status, chunks=2, **fields)
        plan = {**job.plan_json, "arrangement": to_json(self.ARRANGED)}
        ImportJob.objects.filter(pk=job.pk).update(plan_json=plan, arrangement_json=to_json(self.ARRANGED))
        return job

    def test_the_chunks_wait_until_the_indexes_are_off(self, browser):
        assert "Taking 1 index off first; the chunks wait for that" in page(browser, self.job(Status.LOADING))

    def test_they_are_put_back_after_the_load_and_what_hinders_that_is_said(self, browser):
        obstacle = Problem("The disk is full.", advice="Make room.").as_json()
        html = page(browser, self.job(Status.INDEXING, changes="made", obstacle=obstacle))
        assert "Loaded; not yet put back: 1 index" in html
        assert "<strong>The keys cannot be put back yet: The disk is full.</strong>" in html
        assert "Make room." in html
        assert html.index("Make room.") < html.index('id="job-headline"'), "the cause comes before the figures"
        assert "Time left" not in html, "nothing is left to load"
        assert "Retry as soon as that is fixed." in html
        assert "This page then shows the SQL that brings back 1 index (by_name)." in html
        assert "End the import without 1 index? Its page will have the SQL that brings them back." in html

    def test_a_retry_by_itself_is_promised_only_while_something_can_do_it(self, browser, redis):
        obstacle = Problem("The disk is full.", advice="Make room.").as_json()
        waiting = {"obstacle": obstacle, "changes": "made", "step": "restore queued", "step_failures": 3}
        at = timezone.now() + timedelta(seconds=10)
        job = self.job(Status.INDEXING, step_lease=at, **waiting)
        alone = f"nothing retries it until that is fixed, except <code>millrace job run {job.pk}"
        assert f"No worker is running: {alone}" in tries(browser, job)
        announce_workers()
        assert f"{at:%H:%M:%S}</time>." in tries(browser, job)
        assert "It is retried by itself, next" in tries(browser, job)
        # Its third try was followed by a pause of four seconds.
        assert f'Last tried <time datetime="{at - timedelta(seconds=4):%Y-%m-%dT%H:%M:%S}' in tries(browser, job)
        before = progress(ImportJob.objects.get(pk=job.pk), timezone.now()).page_state
        ImportJob.objects.filter(pk=job.pk).update(step_lease=at - timedelta(minutes=2))
        assert "and nothing has begun it. Is <code>millrace serve</code> running?" in tries(browser, job)
        assert "by itself" not in tries(browser, job)
        assert progress(ImportJob.objects.get(pk=job.pk), timezone.now()).page_state != before
        Target.objects.update(password_unstored=True, password_ciphertext="")
        assert f"only <code>millrace job run {job.pk}</code> retries it." in tries(browser, job)

    def test_sql_is_promised_only_for_what_is_not_put_back(self, browser):
        """Everything is back, but whether a foreign key would have refused rows could not be found out."""
        unchecked = [asdict(ForeignKey("by_way", "CONSTRAINT `by_way` ...", ("way",), "`ways`", ("id",)))]
        obstacle = Problem("The disk is full.", advice="Make room.").as_json()
        html = page(browser, self.job(Status.INDEXING, changes="settled", unchecked_json=unchecked, obstacle=obstacle))
        assert 'data-confirm="End the import without this check?"' in html

    def test_foreign_keys_that_rows_may_lack_are_named_until_none_does(self, browser):
        key = ForeignKey("by_way", "CONSTRAINT `by_way` ...", ("way",), "`ways`", ("id",))
        html = page(browser, self.job(Status.FAILED, changes="settled", unchecked_json=[asdict(key)]))
        assert "<code>by_way</code> (way to <code>ways</code>) would have refused. A retry looks for them" in html
        html = page(browser, self.job(Status.LOADING, changes="made", unchecked_json=[asdict(key)]))
        assert "They are looked for when all rows are in." in html
        assert "job-unchecked" not in page(browser, self.job(Status.SUCCEEDED, changes="settled"))

    def test_how_far_that_is_comes_from_the_live_counters(self, browser, redis):
        job = self.job(Status.INDEXING, changes="made")
        with live_progress.restoring(job.pk) as tell:
            tell(DdlProgress("writing", 42.4))
            html = page(browser, job)
            assert "Indexes: writing" in html
            assert 'value="42' in html
        assert "bar-stage" not in page(browser, job)

    def test_the_sql_of_both_is_shown(self, browser):
        html = page(browser, self.job(Status.SUCCEEDED, changes="settled"))
        assert "DROP KEY `by_name`" in html
        assert "ADD KEY `by_name` (`name`)" in html
        assert "indexes after" in browser.get(reverse("jobs")).content.decode()

    def test_a_staging_table_that_gets_its_indexes_after_the_rows_is_told_so_too(self, browser):
        job = make_job(Status.SUCCEEDED)
        assert "indexes after" not in browser.get(reverse("jobs")).content.decode()
        staged = Staged("replace", "fail", "nodes", "", (), "RENAME TABLE s TO t", later=("by_name", "by_way"))
        ImportJob.objects.filter(pk=job.pk).update(plan_json={**job.plan_json, "staged": to_json(staged)})
        assert "indexes after" in browser.get(reverse("jobs")).content.decode()
        assert "the staging table gets by_name, by_way" in page(browser, job)
