"""A published experiment, run by the process that was asked for it: way after way, in rounds, each in its own tables.

It is a lab whose grid is of ways, and that its process holds from its beginning to its end. When that process dies, its
lease runs out, and whoever takes the lab then ends it as any other: imports, scratch tables and files go.
"""

import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import MySQLdb
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from importer import jobs
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import connect
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import WAY, Grid
from importer.engine.tuning.rounds import turns
from importer.engine.tuning.sampling import Sample
from importer.experiments.experiment import Experiment
from importer.experiments.published.registry import experiment_named
from importer.experiments.trials import try_way
from importer.lab.cleanup import tidy
from importer.lab.commands import MOST_REPEATS, REPEATS
from importer.lab.lifecycle import GONE, take
from importer.lab.transitions import Status, change_held, claim, connected, end, held, lease_keeper, release
from importer.lab.trial_order import lay_out
from importer.lab.trials import change_trial, disturbed, other_imports, record_trial, retry_trial
from importer.lease import lease_end
from importer.models import ImportJob, Lab, Target, Trial
from importer.worker import local_pool, sweep
from importer.worker.heartbeat import LeaseKeeper

State = Trial.Status
LOOK_EVERY = 0.5  # seconds
# Files and tables are held beside each other, and MyISAM's is there twice.
DISK_BYTES_PER_BYTE = 2


@dataclass(frozen=True)
class ExperimentRequest:
    """Which, with how many rows of its workload, how often, and how: as Asked has it. Without `warm_up`, every round
    counts.
    """

    experiment: Experiment
    rows: int
    repeats: int = REPEATS
    warm_up: bool = True
    beside_imports: bool = False
    seed: int = field(default_factory=lambda: secrets.randbelow(2**31))


def begin(asked: ExperimentRequest, target: Target, user: User | None = None) -> Lab:
    """Record it, and hold it and its target: run() and finish() are to follow in this process.

    Raises Problem if another lab has the target, it does not answer, or the files would not have room here.
    """
    if not 1 <= asked.repeats <= MOST_REPEATS:
        raise Problem(f"{asked.repeats} repeats are not possible.", advice=f"Choose 1 to {MOST_REPEATS}.")
    with connect(target.address):
        _require_room(asked)
    end_left(target)
    ways = [each.name for each in asked.experiment.ways]
    now = timezone.now()
    try:
        with transaction.atomic():
            lab = Lab.objects.create(
                target=target,
                target_claim=target.pk,
                source_name="rows from a seed",
                created_by=user,
                status=Status.RUNNING,
                started_at=now,
                prepared_at=now,
                attempt=1,
                lease=lease_end(),
                schema_name=target.database,
                table_name=asked.experiment.workload.files,
                dialect_json=to_json(Dialect()),
                mapping_json=[],
                grid_json=to_json(Grid(asked.experiment.name, {WAY: tuple(ways)}, asked.experiment.article)),
                combinations_json=[{WAY: name} for name in ways],
                planned_json={WAY: asked.experiment.baseline},
                sample_json=to_json(Sample(rows=asked.rows)),
                sample_rows=asked.rows,
                sample_bytes=asked.experiment.file_bytes(asked.rows),
                budget_json=to_json(Budget(None, None, None, None)),
                repeats=asked.repeats,
                seed=asked.seed,
                scratch_schema=target.database,
                beside_imports=asked.beside_imports,
            )
            lay_out(lab, turns(len(ways), asked.repeats, asked.seed, warm_up=asked.warm_up))
    except IntegrityError as error:
        raise Problem(
            "Another lab has the target.", target.name, "Wait for its end, or cancel it: `manage.py lab list`."
        ) from error
    return lab


def run(lab: Lab, tell: Callable[[Trial], object] = lambda _trial: None) -> None:
    """Try every way in its turn; `tell` is called with each trial that begins, and again when it is over.

    Raises Cancelled if somebody has cancelled the lab, and Problem if the target is gone.
    """
    settings.LAB_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lease_keeper(lab) as keeper:
        while trial := lab.trials.filter(status=State.PENDING).select_related("lab").first():
            _wait_for_imports(lab)
            _try(lab, trial, keeper, tell)
            tell(trial)


def finish(
    lab: Lab,
    becomes: Lab.Status = Status.DONE,
    problem: Problem | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Lab:
    """Drop all that it has made, for as long as that takes; `tell` is called with what is in the way.

    The lab, ended. Whoever has cancelled it has decided what it has become.
    """
    end(lab, becomes, problem.as_json() if problem else None)
    release(lab)
    told = ""
    while not (now := Lab.objects.select_related("target").get(pk=lab.pk)).ended:
        if now.waits_for != told:
            told = now.waits_for
            tell(told)
        take(lab.pk, lambda _steps: None)
        _end_imports(lab)
        if Lab.objects.filter(pk=lab.pk, status=Status.ENDING).exists():
            time.sleep(LOOK_EVERY)
    return now


def end_left(target: Target) -> None:
    """End the experiments on the target whose process is gone: it has not renewed its lease, or died over the end."""
    nobodys = Q(lease=None) | Q(lease__lte=timezone.now())
    held = Lab.objects.filter(nobodys, target=target).exclude(status__in=Lab.ENDED)
    for lab in held:
        if lab.experiment and (claimed := claim(lab.pk)):
            finish(claimed, Status.FAILED, GONE)


def _end_imports(lab: Lab) -> None:
    """Take the imports of its trials, which are cancelled, to their end: there may be no worker that does."""
    for job in ImportJob.objects.filter(trial__lab=lab, status=ImportJob.Status.CANCELLING):
        sweep.expire_runs()
        for step in jobs.advance(job.pk):
            local_pool.take(step)


def _require_room(asked: ExperimentRequest) -> None:
    settings.LAB_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    needed = asked.experiment.file_bytes(asked.rows) * DISK_BYTES_PER_BYTE
    free = shutil.disk_usage(settings.LAB_DIR).free
    if needed > free:
        raise Problem(
            f"The files take about {needed:,} bytes, and {free:,} are free.", str(settings.LAB_DIR), "Take fewer rows."
        )


def _wait_for_imports(lab: Lab) -> None:
    """Imports come first. Raises Cancelled if the lab is no longer wanted."""
    told = ""
    while held(lab).exists():
        other = None if lab.beside_imports else other_imports(lab).first()
        says = f"import {other.pk} into {other.table} runs on the same target" if other else ""
        if says != told:
            change_held(lab, waits_for=says)
            told = says
        if not other:
            return
        time.sleep(LOOK_EVERY)
    raise Cancelled("The experiment is no longer wanted.", where=str(lab))


def _try(lab: Lab, trial: Trial, keeper: LeaseKeeper, tell: Callable[[Trial], object]) -> None:
    """One way, once. What it cannot do is recorded as that; only a target that is gone, or a cancel, ends it all."""
    begun = {"status": State.RUNNING, "begun": F("begun") + 1, "started_at": timezone.now(), "problem": {}}
    change_trial(trial, State.PENDING, **begun)
    trial.refresh_from_db()
    tell(trial)
    try:
        figures = try_way(lab, trial, experiment_named(lab.experiment).way(str(trial.settings[WAY])), keeper)
    except (Problem, MySQLdb.Error) as error:
        if isinstance(error, Cancelled) or not held(lab).exists():
            raise Cancelled("The experiment is no longer wanted.", where=str(lab)) from error
        problem = error if isinstance(error, Problem) else Problem(str(error), str(trial), "Look at the server's log.")
        record_trial(trial, status=State.FAILED, problem=problem.as_json())
    else:
        if not lab.beside_imports and disturbed(lab, trial):
            why = Problem("Imports ran on the same target beside it.", str(trial), "Start it when none do.")
            retry_trial(trial, why)
        else:
            record_trial(trial, status=State.DONE, **figures)
    with connected(lab, keeper) as connection:
        tidy(lab, connection)
    trial.refresh_from_db()
