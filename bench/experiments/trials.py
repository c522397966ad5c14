"""Runs one way of a published experiment once: creates its tables, fills them, and times the way."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings

from bench.experiments.experiment import ImportAction, RawAction, Way
from bench.experiments.private_server import PrivateServers
from bench.experiments.raw.loads import fill
from bench.experiments.raw.routes import ROUTES
from bench.experiments.raw.server_copy import server_copy
from bench.experiments.raw.target import StatementTarget, TrialTable, create
from bench.experiments.variants import ServerVariant
from bench.relay import linked
from bench.relay import prepare as prepare_link
from bench.workloads.table import WorkloadTable, dialect_of
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Connection, connect, fetch_row
from importer.engine.mysql.error_messages import explain
from importer.engine.plan.options import Options
from importer.engine.source.formats.sql.declared import SQL
from importer.engine.target import scratch_tables
from importer.engine.target.scratch_tables import ScratchTable
from importer.jobs.actions import commands
from importer.lab.dry_plan import require_as_requested
from importer.lab.setup import scratch_of
from importer.lab.transitions import connected, held
from importer.lab.trials import in_chunks
from importer.models import ImportJob, Lab, SourceFile, Trial
from importer.models.outcomes.attempts import step_seconds
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest
from importer.worker import local_pool
from importer.worker.heartbeat import LeaseKeeper

SEPARATOR = ","
# Key of a private server's name among the settings that a trial ran with.
SERVER = "server"
# Key of the measured link there.
LINK = "link"
# Most tables of a trial; the scratch tables of trial n are numbered from n * MOST_TABLES.
MOST_TABLES = 10


@dataclass(frozen=True)
class TrialScene:
    """Where trials run: the lab with its lease, and the private servers for ways that need one."""

    lab: Lab
    keeper: LeaseKeeper
    servers: PrivateServers

    def connected(self) -> AbstractContextManager[Connection]:
        """A connection to the lab's target."""
        return connected(self.lab, self.keeper)

    def require_wanted(self, _connection_id: int = 0) -> None:
        """Raise Cancelled if the lab is no longer wanted."""
        if not held(self.lab).exists():
            raise Cancelled("The experiment is no longer wanted.", where=str(self.lab))


def try_way(scene: TrialScene, trial: Trial, way: Way) -> dict[str, Any]:
    """Create the way's tables, fill those with `filled`, and run the way. Returns the fields of the trial's record.

    Raises Problem if the way fails or loads another number of rows than planned, Cancelled if the lab is no longer
    wanted.
    """
    if way.server:
        return _on_private_server(scene, way, way.server)
    lab = scene.lab
    scratches = [scratch_of(lab, trial.number * MOST_TABLES + number) for number in range(len(way.tables))]
    tables = _tables(lab, way, [each.quoted for each in scratches])
    with ExitStack() as stack:
        if way.server_file:
            copy = stack.enter_context(server_copy(lab.target.address, tables[-1].path))
            tables = (*tables[:-1], replace(tables[-1], path=copy))
        target = StatementTarget(lab.target.address, tables, scene.keeper.connected)
        with scene.connected() as connection:
            for each in scratches:
                scratch_tables.record(connection, each)
            _create(connection, way, target)
        match way.action:
            case RawAction():
                figures = _raw(way.action, target)
            case ImportAction():
                figures = _import(scene, trial, way.action, target, scratches[-1])
        if not way.tables[-1].filled:
            with scene.connected() as connection:
                _require_rows(connection, target.own)
    return figures


def _on_private_server(scene: TrialScene, way: Way, variant: ServerVariant) -> dict[str, Any]:
    """Run the way on a private server of this variant. Its time ends when the rows are safe from a crash."""
    assert isinstance(way.action, RawAction)
    scene.require_wanted()
    with scene.servers.running(variant) as server:
        tables = _tables(scene.lab, way, [f"{server.address.database}.{each.table.name}" for each in way.tables])
        # The connections are on another server than the target: a cancel waits for the end of the trial.
        target = StatementTarget(server.address, tables, scene.require_wanted)
        with connect(server.address) as connection:
            _create(connection, way, target)
        figures = _raw(way.action, target)
        if not way.tables[-1].filled:
            with connect(server.address) as connection:
                _require_rows(connection, target.own)
    return {**figures, "ran_as": {SERVER: server.title, **server.variables}}


def _create(connection: Connection, way: Way, target: StatementTarget) -> None:
    """Create the way's tables, and fill those with `filled`."""
    for definition, table in zip(way.tables, target.tables, strict=True):
        with explain(table.name):
            create(connection, table, target, definition.form)
        if definition.filled:
            fill(target, table)


def _tables(lab: Lab, way: Way, names: Sequence[str]) -> tuple[TrialTable, ...]:
    """The way's tables by these names, with their files."""
    sql = isinstance(way.action, ImportAction) and way.action.sql
    return tuple(
        TrialTable(table, name, _file(lab, table, rows, sql=sql), rows)
        for (table, rows), name in zip(way.files(lab.sample_rows), names, strict=True)
    )


def _file(lab: Lab, table: WorkloadTable, rows: int, *, sql: bool) -> Path:
    """The file with `rows` rows for a table, written on first use and removed with the lab."""
    path: Path = settings.LAB_DIR / f"{lab.key}.{lab.attempt}.{table.name}-{rows}{'.sql' * sql}"
    if not path.exists():
        part = path.with_name(path.name + ".part")
        if sql:
            table.write_inserts(part, rows)
        else:
            table.write(part, rows, SEPARATOR)
        part.rename(path)
    return path


def _raw(do: RawAction, target: StatementTarget) -> dict[str, Any]:
    with ExitStack() as stack:
        address = ROUTES[do.route].address(target.address) if do.route else target.address
        measured = None
        if do.link:
            simulated, measured = prepare_link(do.link)
            address = stack.enter_context(linked(address, simulated))
        stack.enter_context(explain(target.own.name))
        begun = time.perf_counter()
        done = do.run(replace(target, address=address, session=do.session))
        seconds = time.perf_counter() - begun
    timings = {**dict.fromkeys(("scan", "load", "index", "verify")), "total": round(seconds, 6), "chunks": {"count": 0}}
    ran_as = {"ran_as": {LINK: asdict(measured)}} if measured else {}
    return {"rows": done, "rows_per_second": done / seconds, "timings": timings, **ran_as}


def _import(
    scene: TrialScene, trial: Trial, do: ImportAction, target: StatementTarget, into: ScratchTable
) -> dict[str, Any]:
    """Run the import. Its rate counts until the last commit and the last restored key, if staged until its end."""
    own, lab, options = target.own, scene.lab, do.options
    stated: dict[str, Any] = {"known_format": {"format": SQL.name}} if do.sql else {"dialect": dialect_of(SEPARATOR)}
    prepared = prepare(
        _source(own.path),
        lab.target,
        f"{into.schema}.{into.name}",
        ImportRequest(**stated, mapping=own.table.mapping, options=options),
    )
    requested = _requested(options)
    require_as_requested(requested, prepared.plan, str(trial))
    job = _ended(lab, commands.create(prepared, trial=trial))
    if not (job.status == ImportJob.Status.SUCCEEDED and job.balanced):
        raise Problem(
            str(job.problem.get("what") or f"Its import was {job.status}."), str(trial), "See its worker's log."
        )
    require_as_requested(requested, job.plan, str(trial))
    timings = step_seconds(job)
    seconds = timings["total"] if job.stages else (timings["load"] or 0) + (timings["index"] or 0)
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
                commands.cancel(job.pk)

    job = local_pool.run(job.pk, job.parallelism, look, wait_for_start=True)
    if job.status == ImportJob.Status.CANCELLED:
        raise Cancelled("The experiment is no longer wanted.", where=str(lab))
    return job


def _require_rows(connection: Connection, own: TrialTable) -> None:
    stored = fetch_row(connection, f"SELECT COUNT(*) FROM {own.name}")[0]
    if stored != own.rows:
        raise Problem(f"The table has {stored:,} rows instead of {own.rows:,}.", own.name, "Look at the log.")
