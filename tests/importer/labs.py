"""A lab that a test advances step by step itself, including the imports of its trials."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from importer import lab
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.engine.target import global_settings, scratch_tables, temporary_changes
from importer.engine.tuning.grid import Grid
from importer.engine.tuning.sampling import Sample
from importer.jobs.actions import commands
from importer.lab import LabRequest
from importer.models import ImportJob, Lab, SourceFile, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.importer.steps import run

ROWS = 2000


def write_rows(path: Path, rows: int = ROWS) -> Path:
    path.write_text("n,word,p\n" + "".join(f'{n},"word ""{n % 7}""\nand more",{n % 3}\n' for n in range(rows)))
    return path


def grid(**values: tuple) -> Grid:
    return Grid("own", values)


def created_lab(target: Target, path: Path, values: dict[str, tuple], options: Options | None = None, **request) -> Lab:
    """Create a lab for table t, without starting it."""
    request = {"sample": Sample(rows=500), "repeats": 1, "seed": 1, **request}
    prepared = prepare(uploads.register(path), target, "t", ImportRequest(options=options))
    return lab.create(prepared, LabRequest(grid(**values), **request))


def now(of: Lab) -> Lab:
    return Lab.objects.get(pk=of.pk)


def take_step(of: Lab) -> Lab:
    """Advance the lab by one step; messages that would follow are dropped."""
    lab.take(of.pk, lambda _steps: None)
    return now(of)


def trial_job(of: Lab) -> ImportJob | None:
    return ImportJob.objects.filter(trial__lab=of, trial__status="running").first()


def to_trial(of: Lab) -> ImportJob:
    """Advance the lab to its next trial's import, which has not begun to load. Returns the import."""
    while not (job := trial_job(of)):
        assert not take_step(of).ended
    return job


def to_end(of: Lab) -> Lab:
    while not now(of).ended:
        job = trial_job(of)
        if job and not job.ended:
            commands.start(job.pk)
            run(job)
        take_step(of)
    return now(of)


def tables(address: Address) -> set[str]:
    """All tables of the database except Millrace's own."""
    with connect(address) as connection:
        names = {row[0] for row in fetch_all(connection, "SHOW TABLES")}
    return names - KEPT - {scratch_tables.TABLE}


# Tables that Millrace keeps in the target's database for the next import, by any person.
KEPT = {ledger.TABLE, temporary_changes.TABLE, global_settings.TABLE}
# Global variables that change by themselves.
MOVING = ("gtid_", "timestamp", "innodb_buffer_pool_load", "innodb_buffer_pool_dump")


@dataclass(frozen=True)
class WholeTarget:
    """What a whole server has: schemas, tables with their schemas, and global variables."""

    schemas: frozenset[str]
    tables: frozenset[tuple[str, str]]
    variables: tuple[tuple[str, str], ...]


def whole_target(address: Address) -> WholeTarget:
    """Everything on the server, except the tables in KEPT of the database, which must have no row."""
    with connect(address) as connection:
        schemas = frozenset(name for (name,) in fetch_all(connection, "SHOW DATABASES"))
        tables = fetch_all(connection, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES")
        variables = fetch_all(connection, "SHOW GLOBAL VARIABLES")
    assert record_count(address) == 0
    kept = {(address.database, name) for name in KEPT}
    return WholeTarget(
        schemas,
        frozenset((schema, name) for schema, name in tables) - kept,
        tuple((name, value) for name, value in variables if not name.startswith(MOVING)),
    )


def record_count(address: Address) -> int:
    """The number of records of labs and their imports on the target."""
    with connect(address) as connection:
        names = {row[0] for row in fetch_all(connection, "SHOW TABLES LIKE 'millrace\\_%'")}
        return sum(int(fetch_all(connection, f"SELECT COUNT(*) FROM {name}")[0][0]) for name in names)


def leaves_nothing(of: Lab, database: Address) -> None:
    """Fail if the lab has left a table, a record, a file or an import."""
    assert (tables(database), record_count(database)) == ({"t", "parent"}, 0)
    assert list(settings.LAB_DIR.glob(f"{of.key}*")) == []
    assert not ImportJob.objects.filter(trial__lab=of).exists()
    assert not SourceFile.objects.filter(path__startswith=str(settings.LAB_DIR)).exists()
