"""Lines that are no records: left out and counted in each form of a file, on each server."""

import gzip
from pathlib import Path

import pytest

from importer import jobs
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.models import ImportJob, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.importer.steps import run
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

ROWS = {n: f"wörd {n}" for n in range(1, 10)}


@pytest.fixture
def target(database: Address, transactional_db) -> Target:
    with connect(database) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20) NOT NULL) CHARSET utf8mb4")
    return saved_target(database)


def imported(target: Target, folder: Path, content: bytes, known: dict, **options) -> ImportJob:
    path = folder / "file.csv"
    path.write_bytes(content)
    options = Options(**{"chunk_bytes": 20, "parallelism": 2, **options})
    request = ImportRequest(known_format=known, options=options)
    return run(jobs.create(prepare(uploads.register(path), target, "t", request)))


def rows(target: Target) -> dict[int, str]:
    with connect(target.address) as connection:
        return dict(fetch_all(connection, "SELECT * FROM t"))


COMMENTED = '# made by "x\n\n# 2024,x\nid,word\n#,"\n' + "".join(
    f'{n},"{text}"\n# after {n}, "\n' for n, text in reversed(ROWS.items())
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("sort", ["keep", "key"])
def test_comments(target: Target, tmp_path: Path, pack, encoding: str, sort: str):
    content = pack(COMMENTED.encode(encoding))
    job = imported(target, tmp_path, content, {"comment": "#", "encoding": encoding}, sort=sort)
    assert (job.status, job.balanced, job.problem) == (ImportJob.Status.SUCCEEDED, True, {})
    assert rows(target) == ROWS
    assert job.skipped_lines.counts == {"header": 1, "comment": 12, "blank": 1}
    assert [each.line for each in job.skipped_lines.shown if each.kind == "comment"] == [1, 3, 5, *range(7, 20, 2)]
    assert job.skipped_lines.total + job.scanned_rows == COMMENTED.count("\n")
