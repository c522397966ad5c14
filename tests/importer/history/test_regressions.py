"""Regressions: the error rate of the statistical test, and real imports into a table that becomes slow."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from bench.watch import KINDS, alarms
from importer.engine.plan.options import Options
from importer.history import regressions
from importer.history.read import rows
from importer.history.slowdown_test import FEWEST, MOST
from importer.jobs import report
from importer.models import Channel, ImportJob, JobFact, JobRecord, Notification, Target
from tests.documents import read
from tests.engine.loads import run_sql
from tests.importer.history.own_pace import OTHER_PACE
from tests.importer.steps import import_of, run
from tests.targets import on_one_server

ROWS = 100
TABLES = ("CREATE TABLE t (id INT PRIMARY KEY, a INT) CHARACTER SET utf8mb4",)


@pytest.mark.parametrize(
    ("kind", "others", "speed", "least", "most"),
    [
        ("noise 5%", FEWEST, 1.0, 0, 0.001),
        ("noise 10%", FEWEST, 1.0, 0, 0.01),
        ("two speeds, 3%", MOST, 1.0, 0, 0.04),
        ("noise 5%", FEWEST, 0.7, 0.9, 1),
        ("stalls, 3%", MOST, 0.7, 0.95, 1),
        # A tenth is noise, however even the imports were.
        ("noise 3%", MOST, 0.9, 0, 0.001),
    ],
)
def test_the_test_has_few_false_alarms_and_few_missed_slowdowns_in_10_000_series(kind, others, speed, least, most):
    assert least <= alarms(KINDS[kind], others, speed, series=10_000) <= most


def imported(target: Target, folder: Path, number: int, **options) -> ImportJob:
    path = folder / "t.csv"
    first = 10_000 + number * ROWS
    path.write_text("id,a\n" + "".join(f"{n},{n}\n" for n in range(first, first + ROWS)))
    return run(import_of(path, target, options=Options(**options)))


@on_one_server
@pytest.mark.usefixtures("no_workers")
def test_a_slower_import_is_reported_with_the_changes(target: Target, tmp_path: Path):
    early = [imported(target, tmp_path, number) for number in range(FEWEST)]
    assert regressions.recorded_peer_speed(early[-1]) is None
    # As even as they are on a machine that has nothing else to do.
    for number, each in enumerate(early):
        JobFact.objects.filter(record=each.pk, name=regressions.RATE).update(number=2000 + number)
    run_sql(target.address, "CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW SET @slept = SLEEP(0.02)")
    Channel.objects.create(name="ops", kind="webhook", events=["regression"])
    job = imported(target, tmp_path, FEWEST)
    slower = regressions.regression(job)
    assert slower
    facts = rows([job.pk])[job.pk]
    assert (facts["slower_than_like"], facts["like_imports"]) == (True, FEWEST)
    assert [each.as_json() for each in slower.changed if each.fact.name == "insert_triggers"] == [
        {"fact": "insert_triggers", "before": 0, "after": 1}
    ]
    assert slower.words.startswith("Slower than similar imports: ")
    assert "Triggers on INSERT 0 → 1" in slower.words
    assert report.report(job)["rates"]["slower_than_like"] == slower.as_json()
    notice = Notification.objects.get()
    assert (notice.job, notice.payload["what"], notice.payload["details"]) == (job, slower.words, slower.as_json())

    out = StringIO()
    call_command("history", "--json", "--where", "slower_than_like", "=", "yes", "--columns", "job", stdout=out)
    assert read(out.getvalue())["jobs"] == [{"job": job.pk}]

    # Asked for differently, or of another size: nothing is like it. Otherwise it is as slow before it is recorded.
    assert regressions.compare_with_peers(facts | {"mode": "atomic"}) is None
    assert regressions.compare_with_peers(facts | {"data_bytes": 2 * facts["data_bytes"]}) is None
    assert regressions.compare_with_peers(facts | {regressions.RATE: 0.0}) is None
    assert all(regressions.compare_with_peers(facts | other_pace) is None for other_pace in OTHER_PACE)
    # What is lost is less than a second: not worth a word.
    assert not regressions.compare_with_peers(facts | {"rows": 1}).slower
    JobRecord.objects.filter(pk=job.pk).delete()
    assert regressions.regression(job).words == slower.words
    # A peer whose file set its pace, or whose rate an older version stored as 0, is none: then they are too few.
    for name, number in (("followed_upload", 1), ("attempts", 2), ("planned_parallelism", 64), (regressions.RATE, 0)):
        other = JobFact.objects.get(record=early[0].pk, name=name)
        JobFact.objects.filter(pk=other.pk).update(number=number)
        assert regressions.compare_with_peers(facts) is None
        other.save()
    # Imports of low priority are judged if they have not waited for others while they loaded.
    JobFact.objects.filter(name="priority").update(text="low")
    low = facts | {"priority": "low"}
    assert low["idle_seconds"] == 0
    assert regressions.compare_with_peers(low).slower
    JobFact.objects.filter(name="idle_seconds").update(number=2)
    assert regressions.compare_with_peers(low) is None
