"""A whole import that locks its table, chunk after chunk on one connection."""

from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, run
from tests.targets import saved_target

pytestmark = pytest.mark.both_servers


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("more", [{"on_error": "reject"}, {"on_duplicate": "skip"}], ids=["reject", "skip"])
def test_every_chunk_arrives_and_nothing_stays_locked(database, transactional_db, tmp_path: Path, more: dict):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20))")
    path = tmp_path / "words.csv"
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(500)))
    options = Options(lock_table=True, chunk_bytes=1000, **more)
    job = import_of(path, saved_target(database), options=options)
    with pytest.raises(Problem, match="Only one session"):
        commands.set_parallelism(job.pk, 2)
    job = run(job)
    assert job.status == ImportJob.Status.SUCCEEDED, job.problem
    assert job.chunks.count() > 5
    assert rows_of(database, "SELECT COUNT(*), SUM(n) FROM t") == [(500, 124750)]
    run_sql(database, "INSERT INTO t VALUES (-1, 'free')")
