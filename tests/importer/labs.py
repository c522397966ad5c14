"""A lab whose pieces a test takes itself, its trials' imports included."""

from pathlib import Path

from importer import jobs, lab
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.engine.tuning.grid import Grid
from importer.engine.tuning.sampling import Sample
from importer.lab import LabRequest
from importer.models import ImportJob, Lab, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.importer.steps import run

ROWS = 2000


def write_rows(path: Path, rows: int = ROWS) -> Path:
    path.write_text("n,word,p\n" + "".join(f'{n},"word ""{n % 7}""\nand more",{n % 3}\n' for n in range(rows)))
    return path


def grid(**values: tuple) -> Grid:
    return Grid("own", values)


def made(target: Target, path: Path, values: dict[str, tuple], options: Options | None = None, **request) -> Lab:
    """A lab on table t that is not started."""
    request = {"sample": Sample(rows=500), "repeats": 1, "seed": 1, **request}
    prepared = prepare(uploads.register(path), target, "t", ImportRequest(options=options))
    return lab.create(prepared, LabRequest(grid(**values), **request))


def now(of: Lab) -> Lab:
    return Lab.objects.get(pk=of.pk)


def take(of: Lab) -> Lab:
    """One piece, by a worker that nothing follows."""
    lab.take(of.pk, lambda _steps: None)
    return now(of)


def trial_job(of: Lab) -> ImportJob | None:
    return ImportJob.objects.filter(trial__lab=of, trial__status="running").first()


def to_trial(of: Lab) -> ImportJob:
    """As far as its next trial's import, which nobody has begun to load."""
    while not (job := trial_job(of)):
        assert not take(of).ended
    return job


def to_end(of: Lab) -> Lab:
    while not now(of).ended:
        job = trial_job(of)
        if job and not job.ended:
            jobs.start(job.pk)
            run(job)
        take(of)
    return now(of)


def tables(address: Address) -> set[str]:
    """All tables of the database but those in which Millrace keeps its books."""
    with connect(address) as connection:
        found = {row[0] for row in fetch_all(connection, "SHOW TABLES")}
    return found - {"millrace_ledger", "millrace_lab", "millrace_arrangement"}


def books(address: Address) -> int:
    """What is still written down on the target of labs and their imports."""
    with connect(address) as connection:
        there = {row[0] for row in fetch_all(connection, "SHOW TABLES LIKE 'millrace\\_%'")}
        return sum(int(fetch_all(connection, f"SELECT COUNT(*) FROM {name}")[0][0]) for name in there)
