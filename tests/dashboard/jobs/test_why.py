"""The banner that says why an import waits, and the card of its server, with a real lock."""

import re
from itertools import pairwise

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.diagnosis.watch import kept_counters
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address
from importer.jobs.report import report
from importer.models import Chunk
from importer.models.outcomes import outcome_words
from tests.dashboard.job_data import Status, make_job
from tests.engine.loads import run_sql
from tests.engine.mysql.diagnosis.scene import scene
from tests.people import viewer
from tests.stack import wait_until
from tests.targets import saved_target

pytestmark = pytest.mark.django_db
ROWS = 5_000


@pytest.fixture
def locked(mariadb: Address, redis):
    """An import whose connection waits for a lock of another one; and that one's number."""
    with scene(mariadb) as made:
        holder = made.other("LOCK TABLES t WRITE").thread_id()
        job = make_job(
            table="t", target=saved_target(mariadb, "shop"), schema_name=mariadb.database, started_at=timezone.now()
        )
        own = made.waiting("INSERT INTO t VALUES (7, 8)")
        job.chunks.filter(status=Chunk.Status.LOADING).update(connection_id=own)
        yield job, holder


def said(browser, job, words: str, **values: str) -> str:
    """The parts as soon as they have these words."""
    pages = []

    def there() -> bool:
        pages.append(browser.get(reverse("job_why", args=[job.pk]), values).content.decode())
        return words in pages[-1]

    wait_until(there, 20, words)
    return pages[-1]


def test_the_banner_names_the_holder_and_the_card_shows_the_server(
    browser, client, locked, django_assert_max_num_queries
):
    job, holder = locked
    parts = said(browser, job, "rows/s")
    assert f"t is locked probably by connection {holder} (root@127.0.0.1), with LOCK TABLES." in parts
    assert f"KILL {holder};" in parts
    assert re.search(r"\d % of \d+(\.\d+)? MiB in use", parts)
    # An opened statement stays open: only the sentence with the seconds is replaced.
    again = said(browser, job, "rows/s", seen=f"table_lock.{holder}")
    assert "Copy KILL" not in again
    assert "The import&#x27;s connection has waited for" in again
    # Each who watches asks again and again.
    with django_assert_max_num_queries(16):
        browser.get(reverse("job_why", args=[job.pk]))
    client.force_login(viewer("vic"))
    assert "KILL" not in said(client, job, "t is locked").replace("with KILL", "")


def test_the_servers_own_rows_stand_on_the_axis_of_the_throughput_curve(browser, locked, mariadb):
    job, _ = locked
    curve = reverse("job_rates", args=[job.pk])
    assert browser.get(curve).json()["server"] == []  # nobody looks at the server for the curve alone
    said(browser, job, "t is locked")
    run_sql(mariadb, "CREATE TABLE written (n int)", f"INSERT INTO written VALUES {','.join(['(1)'] * ROWS)}")
    points: list[tuple[float, int]] = []

    def counted() -> bool:
        browser.get(reverse("job_why", args=[job.pk]))
        points[:] = browser.get(curve).json()["server"]
        # On a busy machine looks are further apart than planned.
        seconds = [late.at - early.at for early, late in pairwise(kept_counters(job.target))]
        rows = [rate * each for (_, rate), each in zip(points, seconds, strict=False)]
        return sum(rows) >= 0.9 * ROWS

    wait_until(counted, 30, "the rows that another connection has written are counted")
    since = (timezone.now() - job.started_at).total_seconds()
    assert all(0 <= at <= since for at, _ in points)


def test_an_obstacle_with_ways_out_is_said_once(browser, redis):
    job = make_job(Status.INDEXING, obstacle=Problem("The disk is full.").as_json(), changes="made")
    page = browser.get(reverse("job", args=[job.pk])).content.decode()
    assert "not possible yet: The disk is full." in page
    # The badge says so wherever the import is named; no curve is waited for.
    for html in (page, *(browser.get(reverse(name)).content.decode() for name in ("home", "jobs"))):
        assert "Held up</span>" in html
        assert "Indexing</span>" not in html
    # A full bar would read as done.
    assert not any("<progress" in browser.get(reverse(name)).text for name in ("home", "jobs"))
    assert "data-loaded" in page
    assert f'href="{reverse("target", args=[job.target_id])}">Check the target' in page
    assert 'class="progress held-up" id="job-committed"' in page
    # Another import into the table says it as well, and so do the report and the list of the command line.
    other = make_job(Status.WAITING)
    assert "(held up)" in browser.get(reverse("job", args=[other.pk])).text
    assert (report(job)["held_up"]["what"], report(other)["held_up"]) == ("The disk is full.", None)
    assert outcome_words(job) == "held up"
    assert "The disk is full." not in browser.get(reverse("job_why", args=[job.pk])).content.decode()


def test_after_the_end_nothing_is_said_and_the_poll_ends(browser, redis):
    answer = browser.get(reverse("job_why", args=[make_job(Status.SUCCEEDED).pk]))
    assert answer.status_code == 286
    assert "alert" not in answer.content.decode()
