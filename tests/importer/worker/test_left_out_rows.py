"""Rows that the table has already are not staged, and are found again if others change the table in the meantime."""

from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.target.staging import staging_name
from importer.jobs import lifecycle
from importer.jobs.actions import applying
from importer.jobs.report import report
from importer.models import ImportJob
from importer.models.outcomes import outcome_words
from importer.worker import stage_and_finish
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import created, now, run, until

pytestmark = [pytest.mark.both_servers, pytest.mark.usefixtures("no_workers")]

Status = ImportJob.Status
ROWS = 1000
TABLES = (
    "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20) NOT NULL, price INT, note VARCHAR(20))",
    "INSERT INTO t (n, word, price) VALUES " + ", ".join(f"({n}, 'word {n}', {n})" for n in range(ROWS)),
)
# Of 20 rows the price is not the number.
APPLIED = [(960, 20, ROWS + 9)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The first 950 rows of the table, 19 of them with another price, and 10 new ones; in several chunks."""
    path = tmp_path / "people.csv"
    lines = (f"{n},word {n},{n + (n % 50 == 0)}\n" for n in [*range(950), *range(ROWS, ROWS + 10)])
    path.write_text("n,word,price\n" + "".join(lines))
    return path


def state(target) -> list[tuple]:
    differing = "COUNT(CASE WHEN price <> n OR word <> CONCAT('word ', n) THEN 1 END)"
    return rows_of(target.address, f"SELECT COUNT(*), {differing}, MAX(n) FROM t")


def staged(target, job: ImportJob) -> int:
    ((rows,),) = rows_of(target.address, f"SELECT COUNT(*) FROM {staging_name(str(job.key))}")
    return int(rows)


def counts(job: ImportJob) -> dict[str, int]:
    rows = report(job)["rows"]
    return {name: rows[name] for name in ("source", "loaded", "replaced", "unchanged", "deleted")}


def test_only_rows_that_differ_are_staged(target, file: Path):
    job = created(target, file, mode="sync")
    until(job, "finish")
    assert job.chunks.count() > 1
    assert 29 <= staged(target, job) <= 29 + 2 * job.chunks.count()
    job = run(job)
    assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
    assert counts(job) == {"source": 960, "loaded": 10, "replaced": 19, "unchanged": 931, "deleted": 50}
    assert state(target) == APPLIED
    assert "Rows that the table has already are not sent" in {each["choice"] for each in report(job)["plan"]["reasons"]}


@pytest.mark.parametrize("dies", [False, True], ids=["lives", "dies in between"])
def test_chunks_whose_rows_others_have_changed_are_staged_again(target, file: Path, monkeypatch, dies: bool):
    job = created(target, file, mode="sync")
    until(job, "finish")
    few = staged(target, job)
    run_sql(target.address, "UPDATE t SET word = 'theirs' WHERE n = 501")
    if dies:
        monkeypatch.setattr(lifecycle, "reopen", lambda *_, **__: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            stage_and_finish.finish_job(job.pk, lambda *_: None)
        monkeypatch.undo()
        ImportJob.objects.filter(pk=job.pk).update(step_lease="2000-01-01T00:00Z")
        until(job, "finish")
    stage_and_finish.finish_job(job.pk, lambda *_: None)
    assert now(job).status == Status.LOADING
    until(job, "finish")
    assert (staged(target, job) > few + 100) == (not dies)  # One that has died leaves equal rows out again.
    job = run(job)
    assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
    assert counts(job) == {"source": 960, "loaded": 10, "replaced": 20, "unchanged": 930, "deleted": 50}
    assert state(target) == APPLIED
    assert rows_of(target.address, "SHOW TABLES") == [(ledger.TABLE,), ("t",)]


class TestPreview:
    @pytest.fixture
    def previewed(self, target, file: Path) -> ImportJob:
        job = run(created(target, file, mode="sync", preview=True))
        assert (outcome_words(job), staged(target, job) < 100) == ("previewed", True)
        return job

    def test_it_is_applied_without_its_file(self, target, previewed, file: Path):
        file.unlink()
        applying.apply(previewed.pk)
        job = run(previewed)
        assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
        assert counts(job) == {"source": 960, "loaded": 10, "replaced": 19, "unchanged": 931, "deleted": 50}
        assert state(target) == APPLIED

    @pytest.mark.parametrize("by_others", ["UPDATE t SET word = 'x' WHERE n = 51", "DELETE FROM t WHERE n = 7"])
    def test_it_is_not_applied_once_an_equal_row_has_changed_and_compares_again(self, target, previewed, by_others):
        run_sql(target.address, by_others)
        applying.apply(previewed.pk)
        job = run(previewed)
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "NotAsSeen")
        assert "t has changed since the file was compared with it: n 0 to " in job.problem["what"]
        applying.compare(previewed.pk)
        job = run(previewed)
        assert (outcome_words(job), job.problem) == ("previewed", {})
        applying.apply(previewed.pk)
        assert run(previewed).status == Status.SUCCEEDED
        assert state(target) == APPLIED

    def test_without_the_file_it_says_what_cannot_be_compared_again(self, target, previewed, file: Path):
        run_sql(target.address, "UPDATE t SET word = 'x' WHERE n = 51")
        file.unlink()
        applying.compare(previewed.pk)
        job = run(previewed)
        assert job.status == Status.FAILED
        assert "people.csv" in str(job.problem)
        assert rows_of(target.address, "SELECT COUNT(*) FROM t") == [(ROWS,)]
