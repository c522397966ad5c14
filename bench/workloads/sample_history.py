"""Generates plausible imports for measuring and trying the history. The same seed gives the same imports.

The imports belong to targets of their own, whose names begin with PREFIX and whose host does not exist.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, LoadStatements, Reason
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.schema.indexes import KeyDefinition
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.engine.units import GIB, MIB
from importer.history.collect import add_up, facts_of
from importer.jobs.bulk import insert_each
from importer.jobs.record import fact_values, of_job
from importer.management.application_tables import next_number
from importer.models import Chunk, ImportJob, JobFact, JobRecord, SourceFile, Target

PREFIX = "seeded-"
JOBS_TOGETHER = 200

# The factor of each setting on the speed of a load. Invented, similar to what was measured (docs/server-behaviour.md,
# Speed).
PARALLELISM = {1: 1.0, 2: 1.5, 4: 1.75, 8: 1.8}
CHUNK_BYTES = {MIB: 0.8, 4 * MIB: 0.95, 8 * MIB: 1.0, 32 * MIB: 1.02, 128 * MIB: 0.9}
INDEXES = {"keep": 1.0, "defer": 1.6}
SAMPLED = [method for method in METHODS.values() if method.tunable]
# Most imports use the first method.
WEIGHTS = [12, *(1 for _ in SAMPLED[1:])]
PHASES = {"connect": 0.01, "ledger": 0.02, "review": 0.02, "load": 0.9, "commit": 0.05}
SPREAD = 0.05


@dataclass(frozen=True)
class _Server:
    """A generated server with its `version` and its `later` release, which has another buffer pool."""

    name: str
    flavour: str
    version: str
    later: str
    round_trip_ms: float | None


SERVERS = (
    _Server("warehouse", "MySQL", "8.4.2", "9.7.0", None),
    _Server("shop", "MariaDB", "10.11.6-MariaDB", "11.4.3-MariaDB", None),
    _Server("far", "MySQL", "8.0.36", "8.0.43", 24.0),
)


@dataclass(frozen=True)
class _Table:
    target: Target
    server: _Server
    source: SourceFile
    name: str
    row_bytes: int
    rows: int
    rows_per_second: float
    secondary_keys: int


def real_jobs() -> int:
    """The number of jobs that were not generated."""
    return ImportJob.objects.exclude(target__name__startswith=PREFIX).count()


def seed(
    jobs: int, chunks: int, *, tables: int = 40, seed: int = 1, now: datetime | None = None, days: float = 365
) -> Iterator[int]:
    """Write `jobs` ended jobs with about `chunks` chunks over the days before `now`. Yields the jobs written so far."""
    chance = random.Random(seed)
    now = now or timezone.now()
    generated = _tables(chance, tables)
    weights = [chance.lognormvariate(0, 1) for _ in range(jobs)]
    each = max(0, chunks - jobs) / sum(weights)
    first = next_number()
    for start in range(0, jobs, JOBS_TOGETHER):
        numbers = range(start, min(start + JOBS_TOGETHER, jobs))
        with transaction.atomic():
            together = [
                _job(chance, generated, first + n, now - timedelta(days=days) * (jobs - n) / jobs) for n in numbers
            ]
            _write([(job, 1 + round(weights[n] * each)) for n, job in zip(numbers, together, strict=True)], chance)
        yield numbers.stop


def _tables(chance: random.Random, count: int) -> list[_Table]:
    targets = {server.name: _target(server) for server in SERVERS}
    return [_table(chance, number, SERVERS[number % len(SERVERS)], targets) for number in range(count)]


def _target(server: _Server) -> Target:
    values = {"host": "seeded.invalid", "user": "nobody", "database": "made_up", "tls": "off"}
    return Target.objects.get_or_create(name=f"{PREFIX}{server.name}", defaults=values)[0]


def _table(chance: random.Random, number: int, server: _Server, targets: dict[str, Target]) -> _Table:
    row_bytes, rows = chance.randint(30, 400), round(chance.lognormvariate(13, 1.5))
    name = f"{PREFIX}{number}.csv"
    source = SourceFile.objects.create(
        name=name, path=f"/nowhere/{name}", size=row_bytes * rows, status=SourceFile.Status.READY, owned=False
    )
    rate = 40e6 / row_bytes * chance.uniform(0.5, 1)
    return _Table(targets[server.name], server, source, f"t{number}", row_bytes, rows, rate, chance.randint(0, 4))


def _job(chance: random.Random, tables: list[_Table], pk: int, ended: datetime) -> ImportJob:
    """An ended job, in 95 % of the cases successful, with everything that its record needs except the chunks."""
    table = chance.choice(tables)
    options = Options(
        parallelism=chance.choice([None, *PARALLELISM]),
        indexes=chance.choice(["auto", "keep", "defer"]),
        chunk_bytes=chance.choice([None, None, *CHUNK_BYTES]),
    )
    method = chance.choices(SAMPLED, WEIGHTS)[0]
    indexes = options.indexes if options.indexes != "auto" else chance.choice(list(INDEXES))
    parallelism, chunk_bytes = options.parallelism or 2, options.chunk_bytes or 8 * MIB
    rows = round(table.rows * chance.uniform(0.8, 1.2))
    later = pk % 100_000 > 5000
    gain = PARALLELISM[parallelism] * CHUNK_BYTES[chunk_bytes] * INDEXES[indexes] * method.speed
    rate = table.rows_per_second * gain * (1.1 if later else 1) * chance.lognormvariate(0, SPREAD)
    total = rows / rate + 0.1
    failed = chance.random() < 0.05
    started = ended - timedelta(seconds=total)
    index = (total - 0.1) * 0.3 if indexes == "defer" else 0.0
    load = total if failed else total - index - 0.1
    status = ImportJob.Status.FAILED if failed else ImportJob.Status.SUCCEEDED
    loaded = rows if not failed else rows // 2
    return ImportJob(
        pk=pk,
        target=table.target,
        source=table.source,
        schema_name="made_up",
        table_name=table.name,
        status=status,
        dialect_json=to_json(Dialect()),
        mapping_json=[to_json(ColumnMapping(name)) for name in ("id", "name", "value")],
        options_json=to_json(options),
        plan_json=plan_to_json(_plan(table, method.name, parallelism, chunk_bytes, indexes, later)),
        parallelism=parallelism,
        plain_size=rows * table.row_bytes,
        scanned_bytes=rows * table.row_bytes,
        scanned_rows=rows,
        scan_finished=True,
        loaded_rows=loaded,
        committed_bytes=loaded * table.row_bytes,
        index_seconds=index,
        balanced=not failed,
        problem={"kind": "RowsRefused"} if failed else {},
        created_at=started - timedelta(seconds=chance.choice([0.05, 0.05, 0.05, 30])),
        started_at=started,
        scanned_at=started + timedelta(seconds=total / 3),
        loaded_at=None if failed else ended - timedelta(seconds=index + 0.1),
        finished_at=ended,
        loading_seconds=load,
        total_seconds=total,
        rows_per_second=None if failed else rows / load,
    )


def _plan(table: _Table, method: str, parallelism: int, chunk_bytes: int, indexes: str, later: bool) -> ImportPlan:
    keys = tuple(KeyDefinition(f"k{number}", "") for number in range(table.secondary_keys))
    return ImportPlan(
        statements=LoadStatements(method, plain="", null_word="", traced=""),
        schema=table.target.database,
        table=table.name,
        chunk_bytes=chunk_bytes,
        parallelism=parallelism,
        table_digest="",
        fields=("id", "name", "value"),
        reasons=(
            Reason(f"{parallelism} in parallel", "made up", option="parallelism"),
            Reason("Indexes stay on" if indexes == "keep" else "Indexes after the load", "made up", option="indexes"),
        ),
        temporary_changes=(
            TemporaryChanges(table.target.database, table.name, keys) if keys and indexes == "defer" else None
        ),
        seen=_seen(table, later),
    )


def _seen(table: _Table, later: bool) -> dict[str, int | float | str | bool]:
    version = table.server.later if later else table.server.version
    seen: dict[str, int | float | str | bool] = {
        "table_engine": "InnoDB",
        "table_columns": 3,
        "rows_before": 0,
        "primary_key": "id",
        "primary_key_type": "int",
        "secondary_keys": table.secondary_keys,
        "flavour": table.server.flavour,
        "server_version": version,
        "server_release": ".".join(version.split(".")[:2]),
        "server_local": table.server.round_trip_ms is None,
        "server_innodb_buffer_pool_size": str((4 if later else 2) * GIB),
        "server_innodb_flush_log_at_trx_commit": "1",
        "server_log_bin": "ON",
    }
    if table.server.round_trip_ms:
        seen |= {"round_trip_ms": table.server.round_trip_ms, "line_bytes_per_second": 12e6}
    return seen


def _write(jobs: list[tuple[ImportJob, int]], chance: random.Random) -> None:
    """Write the jobs, each with its number of chunks, and their records."""
    chunks = {job.pk: list(_chunks(job, count, chance)) for job, count in jobs}
    created = {job.pk: job.created_at for job, _ in jobs}
    ImportJob.objects.bulk_create(job for job, _ in jobs)
    # auto_now_add has set the present time.
    for job, _ in jobs:
        job.created_at = created[job.pk]
    ImportJob.objects.bulk_update((job for job, _ in jobs), ["created_at"])
    JobRecord.objects.bulk_create(
        JobRecord(job=job, reasons=job.plan_json["reasons"], **of_job(job)) for job, _ in jobs
    )
    facts: list[dict[str, Any]] = []
    for job, _ in jobs:
        own = chunks[job.pk]
        insert_each(Chunk, own)
        known = facts_of(job, add_up((each["attempt"], 0, each["timings"]) for each in own))
        facts += (
            {"record": job.pk, "name": name, "number": number, "text": text}
            for name, number, text in fact_values(known)
        )
    insert_each(JobFact, facts)


def _chunks(job: ImportJob, count: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Equal chunks of the job, one after another in each session."""
    assert job.started_at
    assert job.finished_at
    load = (job.finished_at - job.started_at).total_seconds() - job.index_seconds
    each = 0.9 * load * job.parallelism / count
    rows, length = job.scanned_rows // count, job.data_bytes // count
    for number in range(count):
        took = each * chance.lognormvariate(0, 0.1)
        began = job.started_at + timedelta(seconds=number // job.parallelism * each)
        yield {
            "job": job.pk,
            "status": Chunk.Status.LOADED,
            "number": number,
            "offset": number * length,
            "length": length,
            "rows": rows,
            "loaded_rows": rows,
            "digest": "0" * 16,
            "first_line": 1 + number * rows,
            "first_row": 1 + number * rows,
            "attempt": 2 if chance.random() < 0.01 else 1,
            "started_at": began,
            "finished_at": began + timedelta(seconds=took),
            "timings": {phase: round(share * took, 6) for phase, share in PHASES.items()},
        }
