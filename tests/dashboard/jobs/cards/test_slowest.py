"""What took the time: each advice only where the timings tell it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.jobs.cards.slowest import slowest
from importer.engine.stored import to_json
from importer.history.chunks.timings import add_up
from importer.models import ImportJob
from tests.dashboard.job_data import REASONS, Status, make_job

pytestmark = pytest.mark.django_db


def told(seconds, laps, reasons=()):
    """What is said of an import with these seconds of wait, scan, load and index, and these of each chunk."""
    now = timezone.now()
    wait, scan, load, index = seconds
    started = now - timedelta(seconds=load + index)
    job = make_job(Status.SUCCEEDED, chunks=2)
    ImportJob.objects.filter(pk=job.pk).update(
        created_at=started - timedelta(seconds=wait),
        attempt_started_at=started,
        started_at=started,
        scanned_at=started + timedelta(seconds=scan),
        loaded_at=started + timedelta(seconds=load),
        index_seconds=index,
        finished_at=now,
        plan_json={**job.plan_json, "reasons": [to_json(each) for each in reasons]},
    )
    return slowest(ImportJob.objects.get(pk=job.pk), add_up([(0, 1, 0, laps), (1, 1, 0, laps)], 1))


def test_the_longest_phase_and_the_longest_part_of_a_chunk_are_named():
    said = told((1, 2, 20, 0), {"connect": 0.1, "load": 9.0, "commit": 0.9})
    assert (
        said.sentence
        == "Loading took 20.0 s, 95 % of the time. Its chunks took 20.0 s together, 90 % in “Send and load”."
    )
    assert said.advice == ()


@pytest.mark.parametrize(
    ("phases", "index", "said"),
    [
        ({"paused": 18_000, "loading": 12}, 0, "Pauses took 5 h 0 min, 100 % of the time."),
        ({"indexing": 18_010, "loading": 12}, 10, "Waiting until keys could be put back took 5 h 0 min, 100 %"),
        ({"waiting": 18_000, "loading": 12}, 0, "Waiting took 5 h 0 min, 100 %"),
        ({"finishing": 12, "loading": 11}, 0, "Verification took 12.0 s, 52 %"),
    ],
)
def test_time_in_which_nothing_could_be_done_is_not_that_of_a_step(phases, index, said):
    job = make_job(Status.SUCCEEDED, chunks=2)
    values = {"phases_json": phases, "phase_since": job.finished_at, "index_seconds": index}
    ImportJob.objects.filter(pk=job.pk).update(**values)
    assert slowest(ImportJob.objects.get(pk=job.pk), add_up([], 1)).sentence.startswith(said)


@pytest.mark.parametrize(
    ("seconds", "laps", "words"),
    [
        ((60, 1, 20, 0), {"load": 9.0}, "It waited for its table"),
        ((0, 19.5, 20, 0), {"load": 9.0}, "Reading the file set the pace"),
        ((0, 1, 20, 0), {"load": 5.0, "commit": 4.0}, "Each commit waits for the server's disk"),
        ((0, 1, 20, 0), {"load": 5.0, "review": 4.0}, "are reviewed before they are sent"),
    ],
)
def test_advice_follows_the_figures(seconds, laps, words):
    (advice,) = told(seconds, laps).advice
    assert words in advice


def test_what_the_plan_knows_to_hold_back_counts_while_loading_is_the_longest():
    assert told((0, 1, 20, 0), {"load": 9.0}, REASONS).held_back == (
        "innodb_redo_log_capacity is 100 MB: 2 GB would let it load without waiting.",
    )
    keys = told((0, 1, 20, 60), {"load": 9.0}, REASONS)
    assert keys.sentence.startswith("Building keys took 1 min 0 s, 75 %")
    assert keys.advice == keys.held_back == ()


def test_an_import_of_less_than_a_second_needs_no_advice():
    said = told((0, 0.1, 0.5, 0), {"load": 0.1, "commit": 0.3}, REASONS)
    assert said.advice == said.held_back == ()
