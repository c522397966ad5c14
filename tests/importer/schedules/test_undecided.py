"""A scheduled import that a limit of changes has stopped waits for a decision, and holds up no other file."""

from dataclasses import replace
from html import unescape

import pytest
from django.urls import reverse

from importer import schedules
from importer.engine.stored import to_json
from importer.jobs.actions import applying
from importer.models import Channel, ImportJob, Notification, Schedule
from importer.models.channel import Event
from importer.models.outcomes import outcome_words
from importer.models.outcomes.runs import outcome_of_run
from importer.models.outcomes.sequels import told_of_run
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import outcomes, rows, run_now
from tests.importer.steps import now, run

pytestmark = pytest.mark.usefixtures("no_workers")
WAITS = "waits for a decision"


def words(numbers) -> str:
    return "".join(f"{n},word\n" for n in numbers)


@pytest.fixture
def nightly(make, folder, database) -> Schedule:
    """A sync that has loaded 10 rows, and another table that points at one of them."""
    run_sql(
        database,
        "ALTER TABLE t ADD PRIMARY KEY (n)",
        "CREATE TABLE child (n INT NOT NULL, FOREIGN KEY (n) REFERENCES t (n))",
    )
    made = make()
    made.options_json = to_json(replace(made.options, mode="sync"))
    made.save()
    drop(folder, "1.csv", words(range(1, 11)))
    assert run_now(made).status == "succeeded"
    run_sql(database, "INSERT INTO child VALUES (1)")
    return made


@pytest.fixture
def cut(nightly, folder) -> ImportJob:
    """The import of the file that was cut in half."""
    drop(folder, "2.csv", words(range(1, 6)))
    stopped = run_now(nightly)
    assert (outcome_of_run(stopped), outcomes(stopped)["2.csv"]) == (WAITS, "failed")
    job = stopped.files.get(name="2.csv").job
    assert (outcome_words(job), job.table_claim) == (WAITS, None)
    return job


class TestLaterRuns:
    def test_the_next_file_loads_and_the_run_still_says_that_one_waits(self, nightly, folder, database, cut):
        drop(folder, "3.csv", words(range(1, 12)))
        later = run_now(nightly)
        assert outcomes(later) == {"1.csv": "already loaded", "2.csv": "failed", "3.csv": "loaded"}
        assert outcome_of_run(later) == WAITS
        assert f"Import {cut.pk} of this file waits for a decision" in later.problem["what"]
        assert rows(database) == list(range(1, 12))
        assert ImportJob.objects.count() == 3
        applying.apply(cut.pk, all_the_same=True)
        job = run(cut)
        assert (job.problem["kind"], rows(database)) == ("NotAsSeen", list(range(1, 12)))

    def test_a_file_that_was_written_again_is_another_one(self, nightly, folder, database, cut):
        drop(folder, "2.csv", words(range(1, 10)))
        assert outcomes(run_now(nightly))["2.csv"] == "loaded"
        assert rows(database) == list(range(1, 10))


class TestDecision:
    def test_applied_it_counts_as_loaded(self, nightly, database, cut):
        applying.apply(cut.pk, all_the_same=True)
        assert run(cut).status == ImportJob.Status.SUCCEEDED
        assert rows(database) == [1, 2, 3, 4, 5]
        later = run_now(nightly)
        assert (later.status, outcomes(later)["2.csv"]) == ("succeeded", "already loaded")

    @pytest.mark.parametrize("known_by", ["content", "stat"])
    def test_dropped_it_is_left_alone_until_it_is_forgotten(self, nightly, database, cut, known_by):
        Schedule.objects.update(known_by=known_by)
        stopped = cut.picked.get().run
        applying.drop(cut.pk)
        assert outcome_words(run(cut)) == "cancelled"
        assert told_of_run(stopped) == f"{WAITS}, then dismissed"
        assert not schedules.needing_attention().exists()
        later = run_now(nightly)
        assert (later.status, outcomes(later)["2.csv"], rows(database)) == ("succeeded", "dropped", list(range(1, 11)))
        schedules.forget(nightly, "2.csv")
        assert outcomes(run_now(nightly))["2.csv"] == "failed"


def test_channels_are_notified_and_home_offers_no_dismissal(nightly, folder, client, admin_user):
    client.force_login(admin_user)
    Channel.objects.create(name="ops", kind="mail", addresses="ops@example.org", events=[Event.FAILED])
    drop(folder, "2.csv", words(range(1, 6)))
    job = run_now(nightly).files.get(name="2.csv").job
    notice = Notification.objects.get()
    assert "5 rows (50.0%) would be deleted" in str(notice.payload)
    assert WAITS in str(notice.payload)
    home = unescape(client.get(reverse("home")).text)
    assert WAITS in home.lower()
    page = client.get(reverse("job", args=[now(job).pk])).text
    assert "job-drop-staged" in page
