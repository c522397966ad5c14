"""The actions that people request: create, start and cancel labs."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from importer import queue
from importer.access import approval, limits
from importer.access.policy import require
from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.stored import to_json
from importer.engine.target import scratch_tables
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import TUNABLE, Grid, Settings, changes, combinations
from importer.engine.tuning.sampling import Sample
from importer.engine.units import count_of
from importer.lab.dry_plan import dry_planner, leave_out_alike, nothing_to_compare, ran_as
from importer.lab.sample_size import SAMPLE_ROWS, expected_sample, file_rows, least_rows
from importer.lab.transitions import Status, change
from importer.models import ImportJob, Lab, Level, Target
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest
from importer.queue import Message
from importer.worker.hosts import presence

REPEATS = 3
MOST_REPEATS = 50


@dataclass(frozen=True)
class LabRequest:
    """The settings to try (`grid`), the sample, the number of rounds (`repeats`), and the budget.

    `schema`: where the scratch tables are made, "" for the table's own. `during_imports`: trials run even while imports
    run on the same target. The same `seed` gives the same order of trials.
    """

    grid: Grid
    sample: Sample = field(default_factory=lambda: Sample(rows=SAMPLE_ROWS))
    repeats: int = REPEATS
    budget: Budget = field(default_factory=Budget)
    schema: str = ""
    during_imports: bool = False
    seed: int = field(default_factory=lambda: secrets.randbelow(2**31))


@dataclass(frozen=True)
class LabChoice:
    """The combinations to try, the settings planned without a lab, and combinations left out (as Lab.left_out_json).

    `alike`: sentences about values of a setting that give the same plan on this sample.
    """

    tried: list[Settings]
    planned: Settings
    left_out: list[dict[str, Any]]
    alike: tuple[str, ...]


def choose(prepared: PreparedImport, request: LabRequest, of_job: ImportJob | None = None) -> LabChoice:
    """Choose the combinations of a request that can be tried and do different things, for repeating `of_job` if given.

    Raises Problem if the request is wrong, if the table does not exist yet, or if nothing is left to compare.
    """
    if prepared.new_table:
        raise Problem(
            "A lab makes tables like an existing one; this table does not exist yet.",
            advice="Import once, or create the table, then start the lab.",
        )
    if not 1 <= request.repeats <= MOST_REPEATS:
        raise Problem(f"{request.repeats} repeats are not possible.", advice=f"Choose 1 to {MOST_REPEATS}.")
    planned = planned_settings(prepared.plan, prepared.options)
    possible, left_out = _split(combinations(request.grid), planned, prepared.target)
    sample = expected_sample(prepared, request.sample)
    mode = (of_job or prepared).options.mode
    of = "file" if sample.rows >= file_rows(prepared) else "sample"
    distinct = leave_out_alike(possible, planned, dry_planner(prepared, request.grid, sample, planned, mode), of)
    if problem := nothing_to_compare(distinct, of, _larger(prepared, request, sample.rows)):
        raise problem
    return LabChoice(distinct.tried, planned, [*left_out, *distinct.left_out], distinct.alike)


def _larger(prepared: PreparedImport, request: LabRequest, rows: int) -> str:
    """The advice to take more rows, if that makes a difference; "" for none."""
    least = min(least_rows(prepared, request.grid), file_rows(prepared))
    return f"Take a sample of {count_of(least, 'row')}, or other values." if least > rows else ""


def create(
    prepared: PreparedImport, request: LabRequest, user: User | None = None, of_job: ImportJob | None = None
) -> Lab:
    """Create a lab for a planned import, or for repeating the import `of_job`. It waits until start().

    Raises Problem as choose() does, and Forbidden if the acting person may not load into the table, or into scratch
    tables in another schema.
    """
    require(Level.LOAD, prepared.target, prepared.table.schema, prepared.table.name)
    if request.schema not in ("", prepared.table.schema):
        require(Level.LOAD, prepared.target, request.schema, scratch_tables.PREFIX)
    choice = choose(prepared, request, of_job)
    lab = Lab(
        **prepared.recipe,
        of_job=of_job,
        source=prepared.source,
        source_name=prepared.source.name,
        created_by=user,
        starters=approval.starters(user),
        grid_json=to_json(request.grid),
        sample_json=to_json(request.sample),
        budget_json=to_json(request.budget),
        repeats=request.repeats,
        seed=request.seed,
        scratch_schema=request.schema or prepared.table.schema,
        during_imports=request.during_imports,
        planned_json=choice.planned,
        combinations_json=choice.tried,
        left_out_json=choice.left_out,
    )
    with limits.one_more(limits.LABS, user):
        lab.save()
    return lab


def create_from_job(job: ImportJob, request: LabRequest, user: User | None = None) -> Lab:
    """Create a lab for importing a past job's file in the same way. Raises Problem as create() and prepare() do."""
    return create(prepare_again(job), request, user, job)


def prepare_again(job: ImportJob) -> PreparedImport:
    """Prepare a new import of a past job's file into the table as it is now. Raises Problem as prepare() does."""
    return prepare(job.source, job.target, job.table, ImportRequest.like(job, options=job.options.appending()))


def start(lab_id: int) -> None:
    """Send the lab to the workers. It begins at once, or when the lab that has the target has ended."""
    queue.send([Message("take_lab", lab_id)])


def cancel(lab_id: int) -> None:
    """Stop the lab: scratch tables are dropped, results stay. Raises Problem if it is ending or has ended."""
    active = [Status.WAITING, Status.PREPARING, Status.RUNNING]
    if not change(lab_id, active, status=Status.ENDING, becomes=Status.CANCELLED, waits_for=""):
        raise Problem("The lab is ending, or has ended.", advice="Its page shows how it stands now.")
    start(lab_id)


def planned_settings(plan: ImportPlan, options: Options) -> Settings:
    """The settings for the whole file without a lab: those of the options, replaced by the planner's decisions."""
    return {
        **{name: getattr(options, name) for name in TUNABLE},
        "method": plan.statements.method,
        "rows_per_statement": plan.statements.rows_per_statement,
        "parallelism": plan.parallelism,
        "chunk_bytes": plan.chunk_bytes,
        "commit_rows": plan.chunk_rows,
        "indexes": ran_as(plan)["indexes"],
        "sort": "key" if plan.sorted_by else "keep",
        "partitions": None,
    }


def _split(combined: list[Settings], planned: Settings, target: Target) -> tuple[list[Settings], list[dict[str, Any]]]:
    """The combinations to try, always including the planned one, and the impossible ones with the reason."""
    at_once = presence.parallel_loads(target.label)
    those = f"the workers with the label {target.label}" if target.label else "the workers that run"
    tried: list[Settings] = []
    left_out: list[dict[str, Any]] = []
    for settings in combined:
        sessions = int(settings.get("parallelism") or 0)
        if sessions > target.ceiling:
            why = f"the target's ceiling is {target.ceiling} parallel chunks"
        elif 0 < at_once < sessions:
            why = f"{those} load {count_of(at_once, 'chunk')} in parallel"
        else:
            tried.append(settings)
            continue
        left_out.append({"settings": settings, "why": why})
    if all(changes(settings, planned) for settings in tried):
        tried.insert(0, {})
    return tried, left_out
