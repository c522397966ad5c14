"""The same flights in every format are the same table on the server."""

from pathlib import Path

from importer import jobs
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.models import ImportJob, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from scripts.flights import TABLE
from tests.importer.formats.flights import WRITERS, flights, write_csv
from tests.importer.steps import run

ROWS = 3000


def checksum(target: Target, file: Path, **request) -> int:
    """Load the file into an empty table, and return the server's checksum of it."""
    with connect(target.address) as connection:
        execute(connection, "DROP TABLE IF EXISTS flights")
        execute(connection, TABLE)
    options = Options(parallelism=1, chunk_bytes=200_000)
    job = run(jobs.create(prepare(uploads.register(file), target, "flights", ImportRequest(options, **request))))
    assert (job.status, job.problem, job.loaded_rows) == (ImportJob.Status.SUCCEEDED, {}, ROWS), file.name
    with connect(target.address) as connection:
        ((_, found),) = fetch_all(connection, "CHECKSUM TABLE flights EXTENDED")
    return found


def test_every_format_loads_to_the_checksum_of_the_csv_file(target: Target, tmp_path: Path):
    rows = list(flights(ROWS))
    path = tmp_path / "flights.csv"
    write_csv(path, rows)
    wanted = checksum(target, path, null_markers=("NA",))
    found = {}
    for name, write in WRITERS.items():
        path = tmp_path / f"flights.{name}"
        write(path, rows)
        found[name] = checksum(target, path)
    assert found == dict.fromkeys(WRITERS, wanted)
