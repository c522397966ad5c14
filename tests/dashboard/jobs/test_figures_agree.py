"""No two places give different figures for one import: random lives of imports, looked at everywhere."""

import random
from collections.abc import Mapping
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.api.resources.imports.imports import show
from dashboard.jobs.compare import MOST
from dashboard.jobs.list.page import rows
from dashboard.jobs.progress import progress
from importer.history.collect import chunks_of, facts_of
from importer.history.facts import FACTS, TIMING, Value
from importer.history.formatting import in_words
from importer.history.query import PAGE_ROWS
from importer.jobs.record import write_record
from importer.jobs.report import report
from importer.lab.trials import _figures
from importer.models import Attempt, ImportJob, Lab, Trial
from importer.models.outcomes.attempts import measures, rounded_or_none
from importer.models.outcomes.phases import LOCKABLE, locked_in, wait_in
from importer.notifications.payload import payload_of
from tests.dashboard.job_data import Status, make_job

pytestmark = pytest.mark.django_db

# Lives with --every-case, and in other runs.
MANY, LIVES = 500, 100
TIMED = [each.name for each in TIMING]
ENDS = (Status.SUCCEEDED, Status.SUCCEEDED, Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
PHASES = (
    *(Status.WAITING, Status.UNAPPROVED, Status.LOADING, Status.PAUSED, Status.FINISHING),
    *(Status.INDEXING, Status.VERIFYING),
    *map(wait_in, (Status.LOADING, Status.FINISHING, Status.VERIFYING)),
    *map(locked_in, LOCKABLE),
)

LOCK = {"cause": "row_lock", "what": "A row is locked.", "holder": 7, "account": "me@here", "attempt": 1}


def life(chance: random.Random) -> ImportJob:
    """An import that has ended: with waits, locks, pauses, keys that were put back, retries, and rows of every fate."""
    now = timezone.now()
    phases = {name: round(chance.expovariate(0.1), 3) for name in PHASES if chance.random() < 0.6}
    counts = {f"{name}_rows": chance.choice((0, 0, 1, 997, 3_000_000)) for name in ("replaced", "unchanged", "skipped")}
    job = make_job(
        chance.choice(ENDS),
        chunks=chance.randrange(3),
        phases_json=phases,
        phase_since=now,
        taken_at=now - timedelta(seconds=200),
        attempt_started_at=now - timedelta(seconds=200),
        worked_at=now,
        index_seconds=round(phases.get(Status.INDEXING, 0.0) * chance.random(), 3),
        rejected_rows=chance.choice((0, 0, 7)),
        restored_at=chance.choice((None, None, now)),
        attempts=chance.choice((1, 1, 2, 3)),
        lock_waits_json=[
            {**LOCK, "during": each, "since": now.isoformat(), "until": now.isoformat(), "seconds": seconds}
            for each in LOCKABLE
            if (seconds := phases.get(locked_in(each)))
        ],
        **counts,
    )
    for number in range(1, job.attempts):
        seconds = {name: round(chance.expovariate(0.2), 3) for name in ("waiting", "loading", "paused", "verifying")}
        Attempt.objects.create(
            job=job, number=number, started_at=now, ended_at=now, outcome="failed", rows=0, indexing=0.0, **seconds
        )
    ImportJob.objects.filter(pk=job.pk).update(**measures(job))
    write_record(job.pk)
    return ImportJob.objects.select_related("source", "target").get(pk=job.pk)


def test_every_place_gives_the_same_figures(browser, request):
    lives = MANY if request.config.option.every_case else LIVES
    seed, told = random.randrange(10**6), dict[int, Mapping[str, Value]]()
    chance = random.Random(seed)
    for number in range(lives):
        job = life(chance)
        page, (listed,), document = progress(job, timezone.now()), rows([job.pk]), report(job)
        facts, message = facts_of(job, chunks_of(job)), payload_of("failed", "", job, None, None)["job"]
        succeeded = job.status == Status.SUCCEEDED
        trial = _figures(Trial(lab=Lab(combinations_json=[{}]), combination=0), job, succeeded and job.balanced)
        about = f"life {number} of seed {seed}"

        total = {
            "page": page.elapsed and round(page.elapsed, 3),
            "list": listed["seconds"],
            "report": document["seconds"]["total"],
            "history": facts.get("total_seconds", 0.0),
            "message": message["seconds"],
            "lab": trial["timings"]["total"],
            "attempts": round(sum(each["seconds"][name] for each in document["attempts"]
                                  for name in ("loading", "indexing", "verifying")), 3),
        }  # fmt: skip
        assert all(each == pytest.approx(total["report"], abs=0.002) for each in total.values()), (about, total)

        for fact, seconds in (("load", "loading"), ("index", "indexing"), ("verify", "verifying")):
            of_attempts = sum(each["seconds"][seconds] for each in document["attempts"])
            assert document["seconds"][fact] in (None, pytest.approx(of_attempts, abs=0.002)), (about, fact)
        # Pages show the rate of what has not succeeded, too; elsewhere it would be taken for one to compare with.
        assert (listed["rate"] or 0) == pytest.approx(page.rows_per_second or 0, rel=0.01, abs=0.2), about
        rate = {
            **({"list": rounded_or_none(listed["rate"])} if succeeded else {}),
            "report": document["rates"]["rows_per_second"],
            "history": facts.get("rows_per_second"),
            "message": message["rows_per_second"],
            **({"page": rounded_or_none(page.rows_per_second)} if succeeded else {}),
        }
        assert len(set(rate.values())) == 1, (about, rate)
        overall = {
            "report": document["rates"]["overall_rows_per_second"],
            "history": facts.get("overall_rows_per_second"),
            **({"lab": rounded_or_none(trial["rows_per_second"])} if succeeded and rate["report"] else {}),
        }
        assert len(set(overall.values())) == 1, (about, overall)

        counted = document["rows"]
        committed = {
            "job": job.committed_rows,
            "report": counted["loaded"] + counted["replaced"] + counted["unchanged"],
            "message": sum(message["rows"][name] for name in ("loaded", "replaced", "unchanged")),
            "lab": trial["rows"],
        }
        assert len(set(committed.values())) == 1, (about, committed)
        in_table = {"API": show(job)["rows_in_table"], "list": listed["rows"], "job": job.rows_in_table}
        assert set(in_table.values()) == {0 if job.restored_at else committed["job"]}, (about, in_table)
        # The rate is that of rows in the table, by the seconds in which they were loaded.
        if succeeded and document["seconds"]["load"]:
            assert (
                rate["report"]
                == pytest.approx(
                    committed["job"] / document["seconds"]["load"] if committed["job"] else 0, rel=0.05, abs=0.1
                )
                or rate["report"] is None
            ), about
        told[job.pk] = facts
    for page in range(lives // PAGE_ROWS):
        expect_of_performance(browser, told, page + 1)
    numbers = list(told)
    for first in range(0, lives, MOST):
        expect_of_compare(browser, {each: told[each] for each in numbers[first : first + MOST]})


def expect_of_performance(browser: Client, told: Mapping[int, Mapping[str, Value]], number: int) -> None:
    """A page of the table of Performance has these facts."""
    shown = browser.get(reverse("history"), {"columns": ["job", *TIMED], "page": number}).context["table"]
    assert len(shown.lines) == PAGE_ROWS
    for line in shown.lines:
        words = [in_words(each, told[line.job].get(each)) for each in TIMED]
        assert [each.words for each in line.cells] == words, line.job


def expect_of_compare(browser: Client, told: Mapping[int, Mapping[str, Value]]) -> None:
    """The page that compares these imports has these facts."""
    shown = browser.get(reverse("history_compare"), {"jobs": list(told)}).context
    for column, facts in zip(shown["columns"], told.values(), strict=True):
        assert rounded_or_none(column.rate) == facts.get("overall_rows_per_second"), column.job
    lines = {line.title: [cell.words for cell in line.cells] for _, group in shown["timings"] for line in group}
    for each in TIMED:
        words = [in_words(each, facts.get(each)) for facts in told.values()]
        # What no import has is left out.
        assert lines.get(FACTS[each].title, [""] * len(told)) == words, each
