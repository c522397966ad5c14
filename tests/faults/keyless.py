"""An import into a table whose keys are off during the load, and what must hold at its end."""

import random
from pathlib import Path

from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.engine.schema.indexes import show_create
from importer.engine.target import temporary_changes
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import saved_target

Status = ImportJob.Status

ROWS = 60_000
TABLE = """CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80) NOT NULL, amount INT NOT NULL, p INT,
  KEY word (word(40) DESC) COMMENT 'it''s first', UNIQUE KEY both_ (amount, n), KEY amount (amount, word),
  KEY p (p), CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id))"""


def write_rows(path: Path) -> None:
    """A file whose rows come in no key's order but the primary one's."""
    of = random.Random(5)
    lines = (f"{n},{of.randbytes(30).hex()},{of.randrange(10**6)},{of.randrange(9)}\n" for n in range(ROWS))
    path.write_text("n,word,amount,p\n" + "".join(lines))


class Keyless:
    """The job, and its table as it was before."""

    def __init__(self, job: ImportJob, address: Address) -> None:
        self.job, self.address = job, address
        self.before = self.structure()

    def start(self) -> None:
        commands.start(self.job.pk)

    def now(self) -> ImportJob:
        return ImportJob.objects.get(pk=self.job.pk)

    def structure(self) -> str:
        with connect(self.address) as connection:
            return show_create(connection, self.address.database, "t")

    def builds(self) -> bool:
        """Whether the server is putting keys back at this moment."""
        sql = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%%ADD KEY%%'"
        return rows_of(self.address, sql)[0][0] > 0

    def ends(self, *statuses: str) -> ImportJob:
        """The job, ended in one of these ways, its table with the very keys that it had."""
        wait_until(lambda: self.now().ended, seconds=120, what="the job's end")
        job = self.now()
        assert job.status in statuses, (job.status, job.problem)
        assert (job.unrestored, self.structure()) == (False, self.before)
        with connect(self.address) as connection:
            assert temporary_changes.list_records(connection) == []
            rows = fetch_all(connection, "SELECT COUNT(*) FROM t")[0][0]
        assert rows == job.loaded_rows == (ROWS if job.status == Status.SUCCEEDED else rows)
        return job


def planned(address: Address, path: Path) -> Keyless:
    """A new table and an import of the file into it, not started."""
    run_sql(
        address,
        "CREATE TABLE parent (id INT PRIMARY KEY)",
        "INSERT INTO parent VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8)",
        TABLE,
    )
    options = Options(chunk_bytes=256 * 1024, parallelism=2, indexes="defer", foreign_keys="defer")
    target = saved_target(address, address.database)
    return Keyless(import_of(path, target, options=options), address)
