"""No two places give different figures for one import: random lives of imports, looked at everywhere."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.api.resources.imports.imports import show
from dashboard.jobs.list.page import rows
from dashboard.jobs.progress import progress
from importer.history.collect import chunks_of, facts_of
from importer.jobs.report import report
from importer.models import Attempt, ImportJob
from importer.models.outcomes.attempts import measures, rounded_or_none
from importer.models.outcomes.phases import wait_in
from importer.notifications.payload import payload_of
from tests.dashboard.job_data import Status, make_job

pytestmark = pytest.mark.django_db

LIVES = 500
ENDS = (Status.SUCCEEDED, Status.SUCCEEDED, Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
PHASES = (
    *(Status.WAITING, Status.UNAPPROVED, Status.LOADING, Status.PAUSED, Status.FINISHING),
    *(Status.INDEXING, Status.VERIFYING),
    *map(wait_in, (Status.LOADING, Status.FINISHING, Status.VERIFYING)),
)


def life(chance: random.Random) -> ImportJob:
    """An import that has ended: with waits, pauses, keys that were put back, retries, and rows of every fate."""
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
        attempts=chance.choice((1, 1, 2, 3)),
        **counts,
    )
    for number in range(1, job.attempts):
        seconds = {name: round(chance.expovariate(0.2), 3) for name in ("waiting", "loading", "paused", "verifying")}
        Attempt.objects.create(
            job=job, number=number, started_at=now, ended_at=now, outcome="failed", rows=0, indexing=0.0, **seconds
        )
    ImportJob.objects.filter(pk=job.pk).update(**measures(job))
    return ImportJob.objects.select_related("source", "target").get(pk=job.pk)


def test_every_place_gives_the_same_figures(db):
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    for number in range(LIVES):
        job = life(chance)
        page, (listed,), document = progress(job, timezone.now()), rows([job.pk]), report(job)
        facts, message = facts_of(job, chunks_of(job)), payload_of("failed", "", job, None, None)["job"]
        about = f"life {number} of seed {seed}"

        total = {
            "page": page.elapsed and round(page.elapsed, 3),
            "list": listed["seconds"],
            "report": document["seconds"]["total"],
            "history": facts.get("total_seconds", 0.0),
            "message": message["seconds"],
            "attempts": round(sum(each["seconds"][name] for each in document["attempts"]
                                  for name in ("loading", "indexing", "verifying")), 3),
        }  # fmt: skip
        assert all(each == pytest.approx(total["report"], abs=0.002) for each in total.values()), (about, total)

        succeeded = job.status == Status.SUCCEEDED
        rate = {
            "list": rounded_or_none(listed["rows_per_second"]),
            "report": document["rates"]["rows_per_second"],
            "history": facts.get("rows_per_second"),
            "message": message["rows_per_second"],
            **({"page": rounded_or_none(page.rows_per_second)} if succeeded else {}),
        }
        assert len(set(rate.values())) == 1, (about, rate)

        counted = document["rows"]
        in_table = {
            "page": page.committed_rows,
            "report": counted["loaded"] + counted["replaced"] + counted["unchanged"],
            "API": show(job)["rows_in_table"],
            "message": sum(message["rows"][name] for name in ("loaded", "replaced", "unchanged")),
            "list": listed["rows"] - counted["skipped"] - counted["rejected"],
        }
        assert len(set(in_table.values())) == 1, (about, in_table)
        # The rate is that of rows in the table, by the seconds in which they were loaded.
        if succeeded and document["seconds"]["load"]:
            assert (
                rate["report"]
                == pytest.approx(
                    in_table["report"] / document["seconds"]["load"] if in_table["report"] else 0, rel=0.05, abs=0.1
                )
                or rate["report"] is None
            ), about
