"""A year in small: what stays is bounded, the history's figures stay, and in the end everything goes.

`python -m bench.retention` does the same with 10,000 imports and 2,000,000 chunks, and measures.
"""

from datetime import timedelta

import pytest

from bench.retention import EVENTS, FIRST_DAY, LEDGER_ROWS, RUNS, SESSIONS, Year, years_later
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect
from importer.history.query import Query
from importer.history.search import matching
from importer.models import ImportJob
from tests.targets import saved_target

pytestmark = pytest.mark.django_db

JOBS, CHUNKS, DAYS = 100, 5_000, 100
EVERY = 10  # days between two deletions, which take most of the time


def test_what_stays_is_bounded_and_the_figures_of_the_history_stay(mariadb: Address):
    with connect(mariadb) as connection:
        ledger.create(connection)
    year = Year(JOBS, CHUNKS, DAYS, saved_target(mariadb, "real"), EVERY)
    days = list(year.pass_days())
    assert len(year.facts) == JOBS
    most = {name: max(getattr(day, name) for day in days) for name in vars(days[0])}
    a_day = JOBS // DAYS
    assert days[80 // EVERY - 1].chunks > 80 * CHUNKS // DAYS * 0.9
    assert most["chunks"] < 92 * CHUNKS // DAYS * 1.1
    assert most["ledger"] <= 92 * a_day * LEDGER_ROWS
    # A week of imported files, a month of files of failed imports, and rejects for 90 days.
    assert most["files"] < 9 * a_day + 0.2 * 32 * a_day + 0.1 * 92 * a_day * 1.5
    assert most["sessions"] <= 17 * SESSIONS
    assert most["runs"] <= 92 * RUNS
    assert most["events"] == DAYS * EVENTS
    assert year.changed_facts() == 0
    assert len(matching(Query())) == JOBS

    year.delete(FIRST_DAY + timedelta(days=DAYS + 401))
    assert not ImportJob.objects.exists()
    assert year.changed_facts() == 0
    assert len(matching(Query())) == JOBS
    left = years_later(year, 6)
    assert (left.jobs, left.chunks, left.facts, left.sources, left.files, left.ledger) == (0, 0, 0, 0, 0, 0)
    assert (left.sessions, left.events, left.runs) == (0, 0, 0)
