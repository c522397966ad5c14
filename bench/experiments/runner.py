"""Runs a published experiment in the process of the command: way after way, in rounds, each in its own tables.

An experiment is a lab whose grid lists ways. The process of the command holds the lab from beginning to end. If the
process dies, the lease expires, and the next worker that claims the lab ends it as any other lab: it removes imports,
scratch tables and files.
"""

import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import MySQLdb
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from bench.experiments.experiment import Experiment, Way
from bench.experiments.private_server import PrivateServers
from bench.experiments.published.registry import experiment_named
from bench.experiments.trials import TrialScene, try_way
from importer.access import approval, limits
from importer.access.policy import require
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import connect
from importer.engine.mysql.server_info import read_server
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.engine.target import scratch_tables
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import WAY, Grid
from importer.engine.tuning.rounds import turns
from importer.engine.tuning.sampling import Sample
from importer.engine.units import MIB
from importer.lab.cleanup import tidy
from importer.lab.commands import MOST_REPEATS, REPEATS
from importer.lab.lifecycle import LOOK_EVERY, end_abandoned
from importer.lab.transitions import Status, change_held, held, lease_keeper
from importer.lab.trial_order import lay_out
from importer.lab.trials import begin_trial, import_before, record_trial, retry_if_disturbed
from importer.lease import lease_end
from importer.models import Lab, Level, Target, Trial

State = Trial.Status
# Disk bytes of a private server without tables and redo log.
SERVER_BYTES = 512 * MIB
# Disk bytes per byte of the files: files and tables exist at the same time, and the MyISAM table exists twice.
DISK_BYTES_PER_BYTE = 2


@dataclass(frozen=True)
class ExperimentRequest:
    """An experiment to run: the rows of its workload, the rounds that count, and settings as LabRequest has them.

    Without `warm_up` the first round counts, too. `ways`: the names of those to run; () for all. `once`: an unended lab
    that the same person has ordered for the same is taken in place of a second one.
    """

    experiment: Experiment
    rows: int
    repeats: int = REPEATS
    warm_up: bool = True
    during_imports: bool = False
    ways: tuple[str, ...] = ()
    once: bool = False
    seed: int = field(default_factory=lambda: secrets.randbelow(2**31))

    @property
    def chosen(self) -> tuple[Way, ...]:
        """The ways that run."""
        return tuple(each for each in self.experiment.ways if not self.ways or each.name in self.ways)

    @property
    def seconds(self) -> float:
        """The estimated seconds of all rounds, the warm-up among them."""
        return self.experiment.seconds(self.rows, self.repeats + self.warm_up, self.chosen)

    @property
    def disk_bytes(self) -> int:
        """The bytes that files, tables and private servers need, approximately."""
        needed = self.experiment.file_bytes(self.rows, self.chosen) * DISK_BYTES_PER_BYTE
        logs = [SERVER_BYTES + each.server.log_bytes for each in self.chosen if each.server]
        return needed + max(logs, default=0)


def begin(request: ExperimentRequest, target: Target, user: User | None = None) -> Lab:
    """Create the experiment's lab and claim it and its target. run() and finish() must follow in this process.

    Raises Problem as order() does, and if another lab has the target.
    """
    now = timezone.now()
    claimed = {"target_claim": target.pk, "started_at": now, "prepared_at": now, "attempt": 1, "lease": lease_end()}
    try:
        return order(request, target, user, status=Status.RUNNING, **claimed)
    except IntegrityError as error:
        raise Problem(
            "Another lab has the target.", target.name, "Wait for its end, or cancel it: `millrace lab list`."
        ) from error


def order(request: ExperimentRequest, target: Target, user: User | None, **claimed: Any) -> Lab:
    """Create the experiment's lab: waiting, unless it is `claimed`.

    Raises Problem if the target does not answer, or the disk has no room for the files; and Forbidden if the acting
    person may not load into scratch tables of the target.
    """
    require(Level.LOAD, target, target.database, scratch_tables.PREFIX)
    ways = [each.name for each in request.chosen]
    request.experiment.only(ways)  # As the report does: ways that lack one would fail there, after all trials.
    if not 1 <= request.repeats <= MOST_REPEATS:
        raise Problem(f"{request.repeats} repeats are not possible.", advice=f"Choose 1 to {MOST_REPEATS}.")
    if target.needs_approval:
        raise Problem(
            f"What is written to {target.name} needs another person's approval, for which an experiment cannot wait.",
            advice="Run it on a target without that mark.",
        )
    with connect(target.address):
        _require_room(request)
    end_abandoned(target)
    with limits.one_more(limits.LABS, user):
        if request.once and (same := _ordered(request, target, user)):
            return same
        lab = Lab.objects.create(
            target=target,
            source_name="rows from a seed",
            created_by=user,
            starters=approval.starters(user),
            schema_name=target.database,
            table_name=request.experiment.workload.files,
            dialect_json=to_json(Dialect()),
            mapping_json=[],
            grid_json=to_json(Grid(request.experiment.name, {WAY: tuple(ways)}, request.experiment.article)),
            combinations_json=[{WAY: name} for name in ways],
            planned_json={WAY: request.experiment.baseline},
            sample_json=to_json(Sample(rows=request.rows)),
            sample_rows=request.rows,
            sample_bytes=request.experiment.file_bytes(request.rows, request.chosen),
            budget_json=to_json(Budget(None, None, None, None)),
            repeats=request.repeats,
            seed=request.seed,
            scratch_schema=target.database,
            during_imports=request.during_imports,
            **claimed,
        )
        lay_out(lab, turns(len(ways), request.repeats, request.seed, warm_up=request.warm_up))
    return lab


def _ordered(request: ExperimentRequest, target: Target, user: User | None) -> Lab | None:
    """The person's unended lab that differs from the request in its seed at most; None if there is none."""
    alike = Lab.objects.filter(target=target, created_by=user, sample_rows=request.rows, repeats=request.repeats)
    wanted = request.experiment.name, [{WAY: each.name} for each in request.chosen]
    labs = alike.exclude(status__in=Lab.ENDED).order_by("pk")
    return next((lab for lab in labs if (lab.experiment, lab.combinations) == wanted), None)


def run(lab: Lab, tell: Callable[[Trial], object] = lambda _trial: None, server_program: str = "") -> None:
    """Run all pending trials in order; `tell` is called with each trial when it begins and when it ends.

    `server_program`: the path of mysqld or mariadbd for private servers; "" for the one that this machine has. Raises
    Cancelled if the lab was cancelled, and Problem if the target does not answer.
    """
    settings.LAB_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    flavour = flavour_of(lab.target)
    folder = settings.LAB_DIR / f"{lab.key}.{lab.attempt}.server"
    servers = PrivateServers(flavour, folder, server_program)
    try:
        with lease_keeper(lab) as keeper:
            scene = TrialScene(lab, keeper, servers)
            while trial := lab.trials.filter(status=State.PENDING).select_related("lab").first():
                _wait_for_imports(lab)
                _try(scene, trial, tell)
                tell(trial)
    finally:
        servers.remove()


def flavour_of(target: Target) -> str:
    """The flavour of the target's server. Raises TargetProblem if it does not answer."""
    with connect(target.address) as connection:
        return read_server(connection, target.address).flavour


def _require_room(request: ExperimentRequest) -> None:
    settings.LAB_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    needed = request.disk_bytes
    free = shutil.disk_usage(settings.LAB_DIR).free
    if needed > free:
        raise Problem(
            f"The files and servers take about {needed:,} bytes, and {free:,} are free.",
            str(settings.LAB_DIR),
            "Take fewer rows.",
        )


def _wait_for_imports(lab: Lab) -> None:
    """Wait until no import runs on the target. Raises Cancelled if the lab is no longer wanted."""
    shown = ""
    while held(lab).exists():
        waits_for = import_before(lab)
        if waits_for != shown:
            change_held(lab, waits_for=waits_for)
            shown = waits_for
        if not waits_for:
            return
        time.sleep(LOOK_EVERY)
    raise Cancelled("The experiment is no longer wanted.", where=str(lab))


def _try(scene: TrialScene, trial: Trial, tell: Callable[[Trial], object]) -> None:
    """Run one trial. A failure is recorded on the trial; only an unreachable target or a cancel ends the experiment."""
    lab = scene.lab
    begin_trial(trial)
    tell(trial)
    try:
        figures = try_way(scene, trial, experiment_named(lab.experiment).way(str(trial.settings[WAY])))
    except (Problem, MySQLdb.Error) as error:
        if isinstance(error, Cancelled) or not held(lab).exists():
            raise Cancelled("The experiment is no longer wanted.", where=str(lab)) from error
        problem = error if isinstance(error, Problem) else Problem(str(error), str(trial), "Look at the server's log.")
        record_trial(trial, status=State.FAILED, problem=problem.as_json())
    else:
        if not retry_if_disturbed(lab, trial):
            record_trial(trial, status=State.DONE, **figures)
    with scene.connected() as connection:
        tidy(lab, connection)
    trial.refresh_from_db()
