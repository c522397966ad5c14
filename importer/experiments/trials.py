"""Runs one way of a published experiment once: creates its tables, fills them, and times the way."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from importer import jobs
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Address, Connection, execute, fetch_row
from importer.engine.mysql.error_messages import explain
from importer.engine.plan.options import Options
from importer.engine.target import scratch_tables
from importer.engine.target.scratch_tables import ScratchTable
from importer.experiments import raw_statements
from importer.experiments.experiment import ImportAction, RawAction, Way
from importer.experiments.raw_statements import StatementTarget, TrialTable
from importer.experiments.slow_link import delayed
from importer.experiments.workloads.table import WorkloadTable, dialect_of
from importer.lab.setup import scratch_of
from importer.lab.transitions import connected, held
from importer.lab.trials import in_chunks, require_as_requested
from importer.models import ImportJob, Lab, SourceFile, Trial
from importer.models.outcomes.attempts import step_seconds
from importer.preparation.prepare import ImportRequest, prepare
from importer.worker import local_pool
from importer.worker.heartbeat import LeaseKeeper

SEPARATOR = ","
# Most tables of a trial; the scratch tables of trial n are numbered from n * MOST_TABLES.
MOST_TABLES = 10


def try_way(lab: Lab, trial: Trial, way: Way, keeper: LeaseKeeper) -> dict[str, Any]:
    """Create the way's tables, fill those with `filled`, and run the way. Returns the fields of the trial's record.

    Raises Problem if the way fails or loads another number of rows than planned, Cancelled if the lab is no longer
    wanted.
    """
    with connected(lab, keeper) as connection:
        scratches = [scratch_of(lab, trial.number * MOST_TABLES + number) for number in range(len(way.tables))]
        target = _statement_target(lab, way, scratches, keeper)
        for definition, scratch, table in zip(way.tables, scratches, target.tables, strict=True):
            scratch_tables.record(connection, scratch)
            with explain(table.name):
                sql = raw_statements.create_sql(table, target, keys=definition.keys, engine=definition.engine)
                execute(connection, sql)
            if definition.filled:
                raw_statements.load_file(target.address, table, keeper.connected)
    match way.action:
        case RawAction():
            figures = _raw(way.action, target)
        case ImportAction(options):
            figures = _import(lab, trial, options, target, scratches[-1])
    if not way.tables[-1].filled:
        with connected(lab, keeper) as connection:
            _require_rows(connection, target.own)
    return figures


def _statement_target(lab: Lab, way: Way, scratches: list[ScratchTable], keeper: LeaseKeeper) -> StatementTarget:
    tables = [
        TrialTable(table, scratch.quoted, _file(lab, table, rows), rows)
        for (table, rows), scratch in zip(way.files(lab.sample_rows), scratches, strict=True)
    ]
    return StatementTarget(lab.target.address, tuple(tables), keeper.connected)


def _file(lab: Lab, table: WorkloadTable, rows: int) -> Path:
    """The file with `rows` rows for a table, written on first use and removed with the lab."""
    path: Path = settings.LAB_DIR / f"{lab.key}.{lab.attempt}.{table.name}-{rows}"
    if not path.exists():
        part = path.with_name(path.name + ".part")
        table.write(part, rows, SEPARATOR)
        part.rename(path)
    return path


def _raw(do: RawAction, target: StatementTarget) -> dict[str, Any]:
    with _at(target.address, do.delay) as address, explain(target.own.name):
        begun = time.perf_counter()
        done = do.run(StatementTarget(address, target.tables, target.on_connection))
        seconds = time.perf_counter() - begun
    timings = {**dict.fromkeys(("scan", "load", "index", "verify")), "total": round(seconds, 6), "chunks": {"count": 0}}
    return {"rows": done, "rows_per_second": done / seconds, "timings": timings}


@contextmanager
def _at(address: Address, delay: float) -> Iterator[Address]:
    if not delay:
        yield address
        return
    with delayed(address, delay) as far:
        yield far


def _import(lab: Lab, trial: Trial, options: Options, target: StatementTarget, into: ScratchTable) -> dict[str, Any]:
    """Run the import. Its rate counts until the last commit and the last restored key, if staged until its end."""
    own = target.own
    prepared = prepare(
        _source(own.path),
        lab.target,
        f"{into.schema}.{into.name}",
        ImportRequest(dialect=dialect_of(SEPARATOR), mapping=own.table.mapping, options=options),
    )
    requested = _requested(options)
    require_as_requested(requested, prepared.plan, str(trial))
    job = _ended(lab, jobs.create(prepared, trial=trial))
    if not (job.status == ImportJob.Status.SUCCEEDED and job.balanced):
        raise Problem(
            str(job.problem.get("what") or f"Its import was {job.status}."), str(trial), "See its worker's log."
        )
    require_as_requested(requested, job.plan, str(trial))
    timings = step_seconds(job)
    staged = options.mode != "append"
    seconds = timings["total"] if staged else (timings["load"] or 0) + (timings["index"] or 0)
    if not seconds:
        raise Problem("Its import took no time.", str(trial), "Take more rows.")
    return {
        "rows": job.rows_in_table,
        "rows_per_second": job.rows_in_table / seconds,
        "timings": {**timings, "chunks": in_chunks(job)},
    }


def _requested(options: Options) -> dict[str, Any]:
    """The settings that the planner must not change, because otherwise another way would be measured."""
    names = ("method", "parallelism", "rows_per_statement")
    requested = {name: getattr(options, name) for name in names}
    return requested if options.indexes == "auto" else {**requested, "indexes": options.indexes}


def _source(path: Path) -> SourceFile:
    size = path.stat().st_size
    values = {"name": path.name, "size": size, "received": size, "status": SourceFile.Status.READY, "owned": False}
    source, _ = SourceFile.objects.get_or_create(path=str(path), defaults=values)
    return source


def _ended(lab: Lab, job: ImportJob) -> ImportJob:
    """Run the import to its end in a pool of this process, with as many sessions as the way has parallel chunks."""

    def look(_: ImportJob) -> None:
        if not held(lab).exists():
            with suppress(Problem):  # It is ending already.
                jobs.cancel(job.pk)

    job = local_pool.run(job.pk, job.parallelism, look, wait_for_start=True)
    if job.status == ImportJob.Status.CANCELLED:
        raise Cancelled("The experiment is no longer wanted.", where=str(lab))
    return job


def _require_rows(connection: Connection, own: TrialTable) -> None:
    stored = fetch_row(connection, f"SELECT COUNT(*) FROM {own.name}")[0]
    if stored != own.rows:
        raise Problem(f"The table has {stored:,} rows instead of {own.rows:,}.", own.name, "Look at the log.")
