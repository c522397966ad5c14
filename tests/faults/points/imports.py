"""The imports that faults disturb, into a table with a primary key and one without, and what must hold at their end."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from importer.engine.load import ledger
from importer.engine.mapping.columns import FieldOverride, Lookup
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.schema.indexes import show_create
from importer.engine.target import temporary_changes
from importer.jobs.actions import commands
from importer.jobs.lifecycle import planned_rows
from importer.jobs.rejects import downloads
from importer.jobs.rejects.downloads import HEAD
from importer.models import Chunk, ImportJob
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.sources import uploads
from tests.faults.points.hands import Row
from tests.stack import wait_until
from tests.targets import saved_target

HEADER = "n,word,amount,p\n"
ROWS: list[Row] = [(n, f'wörd "{n % 97}"\nx', n * 7 % 1000, n % 3) for n in range(1500)]
BAD = range(7, len(ROWS), 50)
OLD: list[Row] = [(n, "old", 0, 0) for n in range(-50, 100)]
# All but 15 rows of the file, of which 30 differ, and 50 others.
MOSTLY: list[Row] = [*OLD[:50], *((n, word, amount + (n % 50 == 25), p) for n, word, amount, p in ROWS if n % 100)]
# 37 MB: a table with these is larger than every other file of a server after TestServer.shrink_files.
LARGE: list[Row] = [(n, f"{n:09}".ljust(7500, "x"), n * 7 % 1000, n % 3) for n in range(5000)]
MORE: list[Row] = [(n + len(LARGE), word, amount, p) for n, word, amount, p in LARGE[:1700]]

COLUMNS = "n INT NOT NULL, word VARCHAR(7500) NOT NULL, amount INT, p INT"
DEFERRED = "KEY word (word(40), amount), KEY amount (amount), CONSTRAINT {0} FOREIGN KEY (p) REFERENCES parent_{0} (id)"


def write_files(folder: Path) -> dict[str, Path]:
    """The files to import, by name."""
    texts = {name: _lines(rows) for name, rows in {"rows": ROWS, "large": LARGE, "more": MORE}.items()}
    texts["bad"] = [f"x{line}" if n in BAD else line for n, line in enumerate(texts["rows"])]
    files = {name: folder / f"{name}.csv" for name in texts}
    for name, path in files.items():
        path.write_text(HEADER + "".join(texts[name]))
    packed = folder / "packed.csv.gz"
    packed.write_bytes(gzip.compress(files["rows"].read_bytes()))
    return {**files, "packed": packed}


def _lines(rows: list[Row]) -> list[str]:
    return [f'{n},"{word.replace(chr(34), chr(34) * 2)}",{amount},{p}\n' for n, word, amount, p in rows]


@dataclass(frozen=True)
class Kind:
    """A kind of import: its file, its options for the two tables, and the tables' keys.

    `rows` are those of the file that are accepted, `old` those that the tables have before. `naming`: the parents of p
    have no rows, and get them by name.
    """

    file: str
    keyed: Options
    unkeyed: Options
    keys: str = ""
    rows: list[Row] = field(default_factory=lambda: ROWS)
    old: list[Row] = field(default_factory=list)
    naming: bool = False

    def expected(self, options: Options) -> list[Row]:
        """The rows of the table at the end."""
        taken = {row[0] for row in self.rows} if options.mode in ("upsert", "sync") else set()
        whole = options.mode == "replace" or (options.mode == "sync" and not options.scope)
        kept = [] if whole else self.old
        return sorted([*self.rows, *(row for row in kept if row[0] not in taken)])


def _options(**values: object) -> tuple[Options, Options]:
    options = replace(Options(parallelism=1), **values)
    return options, options


SMALL = {"commit_rows": 300}
DEFERRING = _options(**SMALL, indexes="defer", foreign_keys="defer")
MERGING = _options(**SMALL, mode="upsert")[0], _options(**SMALL, mode="atomic")[0]
WHOLE, _ = _options(**SMALL, mode="sync", key="n", stop_if="deleted>50%")
SYNCING = WHOLE, replace(WHOLE, scope="n >= 0")
KEEPING = _options(**SMALL, mode="sync", undo="keep", stop_if="deleted>100%")[0], MERGING[1]
KINDS = {
    "alone": Kind("rows", *_options(**SMALL)),
    "together": Kind("rows", *_options(chunk_bytes=4096)),
    "packed": Kind("packed", *_options(**SMALL)),
    "naming": Kind("rows", *_options(**SMALL, lookup_missing="create"), naming=True),
    "rejecting": Kind("bad", *_options(**SMALL, on_error="reject"), rows=[row for row in ROWS if row[0] not in BAD]),
    "merging": Kind("rows", *MERGING, old=OLD),
    "syncing": Kind("rows", *SYNCING, keys="UNIQUE KEY n (n)", old=MOSTLY),
    "replacing": Kind("rows", *_options(**SMALL, mode="replace"), old=OLD),
    "keeping": Kind("rows", *KEEPING, old=OLD),
    "deferring": Kind("rows", *DEFERRING, keys=DEFERRED),
    "large alone": Kind("large", *_options(**SMALL), rows=LARGE),
    "large merging": Kind("more", *MERGING, rows=MORE, old=LARGE),
}


class Disturbed(Protocol):
    """Work that a fault disturbs. `processes`: how many processes reach a point at the same time."""

    processes: int

    def start(self) -> None:
        """Begin the work."""

    def over(self) -> bool:
        """Whether all of it has ended, well or not."""

    def expire(self) -> None:
        """Let leases end that are longer than a test may wait."""

    def met_no_room(self) -> bool:
        """Whether the target's server has refused something for lack of room."""

    def ends_well(self) -> None:
        """Wait for the end, try again what has failed for lack of room, and check everything."""


@dataclass
class Import:
    """One import, and what its table must have at the end: `rows`, and in its backup `backup`.

    With a `parent`, it has the values of p as names, each once.
    """

    prepared: PreparedImport
    address: Address
    rows: list[Row]
    backup: list[Row] = field(default_factory=list)
    structure: str = ""
    parent: str = ""
    job: ImportJob | None = None

    def start(self) -> ImportJob:
        """Create the job and begin. The sweep begins a job that is only created."""
        self.job = commands.create(self.prepared)
        commands.start(self.job.pk)
        return self.job

    def now(self) -> ImportJob:
        assert self.job
        return ImportJob.objects.get(pk=self.job.pk)

    def check(self) -> None:
        """Every row once, the ledger as planned, the job's state true, and nothing left over."""
        job = self.now()
        assert (job.status, job.problem, job.balanced) == (ImportJob.Status.SUCCEEDED, {}, True)
        assert set(job.chunks.values_list("status", "lease")) == {(Chunk.Status.LOADED, None)}
        assert (job.step, job.step_lease, job.unrestored, job.table_claim) == ("", None, False, None)
        with connect(self.address) as connection:
            assert contents(self.address, job.table_name, self.parent) == self.rows
            assert ledger.rows_by_chunk(connection, str(job.key)) == planned_rows(job)
            assert temporary_changes.list_records(connection) == []
            assert show_create(connection, self.address.database, job.table_name) == self.structure
        if self.backup:
            assert contents(self.address, job.kept_table) == sorted(self.backup)
        self._check_files(job)

    def _check_files(self, job: ImportJob) -> None:
        wait_until(lambda: not list(settings.PLAIN_DIR.glob(f"{job.key}*")), what="no working copy left")
        folder = downloads.folder(job)
        kept = {each.name for each in folder.iterdir()} - {HEAD} if folder.exists() else set()
        rejecting = job.chunks.filter(rejected_rows__gt=0).values_list("number", flat=True)
        assert kept == {f"{number:08d}.{suffix}" for number in rejecting for suffix in ("rejects", "csv", "json")}


@dataclass
class Imports:
    """Two imports of one kind at the same time: into a table with a primary key, and into one without."""

    address: Address
    imports: list[Import]
    processes: int = 2

    def start(self) -> None:
        for each in self.imports:
            each.start()

    def over(self) -> bool:
        return all(each.now().ended for each in self.imports)

    def expire(self) -> None:
        """The leases of jobs are short in these tests."""

    def met_no_room(self) -> bool:
        jobs_now = [each.now() for each in self.imports]
        refused = [is_full(job.problem or job.obstacle) for job in jobs_now]
        return any(refused) and all(full or job.ended for full, job in zip(refused, jobs_now, strict=True))

    def ends_well(self) -> None:
        wait_until(self.over, seconds=100, what="the end of the imports")
        for each in self.imports:
            if is_full(each.now().problem):
                commands.retry(each.now().pk)
        wait_until(self.over, seconds=100, what="the end of the imports that were tried again")
        wait_until(lambda: not any(each.now().leftover for each in self.imports), what="no staging table left")
        for each in self.imports:
            each.check()
        check_tables(self.address, {each.now().kept_table for each in self.imports} - {""})
        no_connection_is_left(self.address)


def is_full(problem: Mapping[str, Any]) -> bool:
    """Whether the problem is that of a full disk."""
    return "Make room" in problem.get("advice", "")


def made(address: Address, through: Address, kind: Kind, files: Mapping[str, Path]) -> Imports:
    """Two imports of the kind into new tables, not started. The workers will connect to `through`."""
    target = saved_target(through, address.database)
    with connect(address) as connection:
        ledger.create(connection)
    imports = []
    for table, options in (("keyed", kind.keyed), ("unkeyed", kind.unkeyed)):
        _create(address, table, kind)
        parent = f"parent_{table}" if kind.naming else ""
        looked_up = [FieldOverride("p", "p", lookup=Lookup.of(f"{parent}.name"))] if parent else []
        request = ImportRequest(overrides=looked_up, options=options)
        prepared = prepare(uploads.register(files[kind.file]), target, table, request)
        with connect(address) as connection:
            structure = show_create(connection, address.database, table)
        backup = kind.old if options.mode == "replace" else []
        imports.append(Import(prepared, address, kind.expected(options), backup, structure, parent))
    return Imports(address, imports)


def _create(address: Address, table: str, kind: Kind) -> None:
    keys = [*(["PRIMARY KEY (n)"] if table == "keyed" else []), *([kind.keys.format(table)] if kind.keys else [])]
    with connect(address) as connection:
        # A parent for each: while one table is altered, the other one's parent is not locked.
        numbered = "AUTO_INCREMENT" if kind.naming else ""
        execute(connection, f"CREATE TABLE parent_{table} (id INT {numbered} PRIMARY KEY, name VARCHAR(9))")
        if not kind.naming:
            execute(connection, f"INSERT INTO parent_{table} (id) VALUES (0), (1), (2)")
        execute(connection, f"CREATE TABLE {table} ({', '.join([COLUMNS, *keys])}) CHARACTER SET utf8mb4")
        for first in range(0, len(kind.old), 1000):
            values = ", ".join(str(row) for row in kind.old[first : first + 1000])
            execute(connection, f"INSERT INTO {table} VALUES {values}")


def contents(address: Address, table: str, parent: str = "") -> list[Row]:
    """All rows of the table, sorted; with a parent, the names of p for p, which may be there twice."""
    sql = f"SELECT n, word, amount, p FROM {table}"
    if parent:
        sql = f"SELECT n, word, amount, CAST(name AS SIGNED) FROM {table}, {parent} WHERE name = (SELECT name FROM"
        sql += f" {parent} AS own WHERE own.id = p)"
    with connect(address) as connection:
        return sorted(fetch_all(connection, sql))


def check_tables(address: Address, backups: set[str]) -> None:
    """No table but the test's own, the ledger, the record of changes, and these backups."""
    with connect(address) as connection:
        names = {row[0] for row in fetch_all(connection, "SHOW TABLES")}
    own = {"keyed", "unkeyed", "parent_keyed", "parent_unkeyed", ledger.TABLE, temporary_changes.TABLE}
    assert names <= own | backups, names


def no_connection_is_left(address: Address) -> None:
    """Wait until nobody but this test is connected to the database."""
    sql = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = %s AND ID <> CONNECTION_ID()"

    def alone() -> bool:
        with connect(address) as connection:
            return fetch_all(connection, sql, (address.database,))[0][0] == 0

    wait_until(alone, what="no connection left on the target")
