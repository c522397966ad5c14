"""Plans the combinations of a lab before anything runs, as their trials will be planned.

Combinations that the planner refuses are left out with its reason, and of those that do the same
(engine/tuning/effective_plan.py) one is kept. That is done twice: for a request, with the chunks expected from the
file's beginning; and with the sample and a scratch table, when both are there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from importer.engine.errors import Cancelled, Problem
from importer.engine.plan.methods import METHODS
from importer.engine.plan.option_specs import REJECT, named
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.previous_imports import NO_PAST
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.target import scratch_tables, write_modes
from importer.engine.tuning.effective_plan import effective_key, expected_chunks
from importer.engine.tuning.grid import Grid, Settings, Value, changes, with_settings, words
from importer.engine.tuning.sampling import SampleSize
from importer.preparation.prepare import PreparedImport

# The settings of the plan for the whole file that trials keep, since the planner might plan a sample differently.
PINNED = ("method", "parallelism", "chunk_bytes", "indexes", "sort")
# Settings that decide how a file is cut into chunks, and how many of them load at the same time.
CUTTING = ("chunk_bytes", "commit_rows", "parallelism")


@dataclass(frozen=True)
class DryPlan:
    """The plan of a combination and its chunks."""

    plan: ImportPlan
    chunks: Sequence[ChunkRange]


@dataclass(frozen=True)
class DistinctCombinations:
    """`tried`: combinations that do different things. `left_out`: the others, as Lab.left_out_json.

    `alike`: sentences about values of a setting that always give the same plan.
    """

    tried: list[Settings]
    left_out: list[dict[str, Any]]
    alike: tuple[str, ...]


def leave_out_alike(
    combinations: Sequence[Settings], planned: Settings, dry_plan: Callable[[Settings], DryPlan], of: str
) -> DistinctCombinations:
    """Leave out what cannot be tried, and what does the same as another combination; `of`: what all of them load,
    the "file" or a "sample".

    The planned combination is always kept. Raises Problem if the target does not answer.
    """
    leaders: dict[str, Settings] = {}
    keys: dict[int, str] = {}
    left_out: list[dict[str, Any]] = []
    for number, settings in sorted(enumerate(combinations), key=lambda each: changes(each[1], planned)):
        why = ""
        try:
            key = _key(settings, dry_plan(settings))
        except Cancelled:
            raise
        except Problem as problem:
            if problem.retryable:
                raise
            why = "" if not changes(settings, planned) else _words_of(problem)
        else:
            keys[number] = key
            leader = leaders.setdefault(key, settings)
            why = "" if leader is settings else why_same(settings, leader, planned)
        if why:
            left_out.append({"settings": settings, "why": why})
    out = [each["settings"] for each in left_out]
    known = [(each, keys[number]) for number, each in enumerate(combinations) if number in keys]
    return DistinctCombinations([each for each in combinations if each not in out], left_out, tuple(_alike(known, of)))


def _key(settings: Settings, dry: DryPlan) -> str:
    require_as_requested(settings, dry.plan, "")
    return effective_key(dry.plan, dry.chunks, settings.get("partitions"))


def _words_of(problem: Problem) -> str:
    return f"{problem.what.rstrip('.')}. {problem.advice}".strip().rstrip(".")


def why_same(settings: Settings, leader: Settings, planned: Settings) -> str:
    """Why the combination is left out: the leader, which is tried, does the same."""
    whole = {**planned, **settings}, {**planned, **leader}
    different = {name for name in whole[0] if whole[0][name] != whole[1].get(name)}
    same = "chunks" if different <= set(CUTTING) else "plan"
    shown = leader or {name: planned[name] for name in settings if name in planned}
    return f"the same {same} as {words(shown)}, so both are one trial"


def _alike(known: Sequence[tuple[Settings, str]], of: str) -> Iterator[str]:
    """A sentence for each group of values of a setting that give the same plan with all values of the others."""
    for name in dict.fromkeys(name for settings, _ in known for name in settings):
        effects: dict[Value, dict[str, str]] = {}
        for settings, key in known:
            if name in settings:
                others = repr(sorted((each, repr(value)) for each, value in settings.items() if each != name))
                effects.setdefault(settings[name], {})[others] = key
        groups: dict[str, list[Value]] = {}
        for value, effect in effects.items():
            groups.setdefault(repr(sorted(effect.items())), []).append(value)
        for values in groups.values():
            if len(values) > 1:
                listed = [words({name: value}) for value in values]
                same = "chunks" if name in CUTTING else "plan"
                yield (
                    f"With this {of} {', '.join(listed[:-1])} and {listed[-1]} give the same {same}: the lab cannot"
                    " tell them apart."
                )


def dry_planner(
    prepared: PreparedImport, grid: Grid, sample: SampleSize, planned: Settings, mode: str
) -> Callable[[Settings], DryPlan]:
    """Plans a combination for the sample and a scratch table that are not there yet.

    The result raises Problem if the planner refuses the combination, or refuses or changes it for the import itself,
    in its `mode`.
    """
    context = _as_scratch(prepared, grid, sample.bytes)
    chunks: dict[ChunkSizes, list[ChunkRange]] = {}
    in_mode = _in_mode(prepared, mode)

    def dry_plan(settings: Settings) -> DryPlan:
        if settings.get("partitions"):
            scratch_tables.check_partitions(context.table, with_parents=bool(context.indexes.foreign_keys))
        if in_mode and changes(settings, planned):
            in_mode(settings)
        plan = make_plan(replace(context, options=trial_options(prepared.options, planned, settings)))
        sizes = plan.chunk_sizes
        if sizes not in chunks:
            chunks[sizes] = expected_chunks(sizes, sample.bytes, prepared.profile.record_bytes)
        return DryPlan(plan, chunks[sizes])

    return dry_plan


def _as_scratch(prepared: PreparedImport, grid: Grid, data_bytes: int) -> PlanningContext:
    """What a trial is planned from: the sample, and a scratch table, which is empty, without triggers and parents."""
    context = prepared.planned_from
    without_triggers = replace(context.table, triggers=(), stored_behind_triggers=(), named_by_triggers=())
    table = replace(without_triggers, rows_estimate=0, data_bytes=0, index_bytes=0)
    parents = context.indexes.foreign_keys if grid.needs_foreign_keys else ()
    indexes = replace(context.indexes, foreign_keys=parents, referenced=(), empty=True)
    return replace(
        context, data_bytes=data_bytes, table=table, indexes=indexes, past=NO_PAST, key_order=None, server_file=None
    )


def _in_mode(prepared: PreparedImport, mode: str) -> Callable[[Settings], None] | None:
    """Raises Problem for settings that the planner refuses or changes in a mode that stages; None in other modes.

    Mode append is the mode of trials. A table of mode create is there already.
    """
    if not write_modes.stages(mode) or mode == "create":
        return None
    context = prepared.planned_from
    context = replace(context, indexes=replace(context.indexes, empty=True), server_file=None)
    usual = replace(prepared.options, mode=mode, partitions=None)

    def require(settings: Settings) -> None:
        try:
            plan = make_plan(replace(context, options=with_settings(usual, settings)))
            require_as_requested(settings, plan, "")
        except Problem as problem:
            what = problem.what if mode in problem.what else f"In mode {mode}: {problem.what}"
            raise Problem(what, advice=problem.advice, option=problem.option) from problem

    try:
        make_plan(replace(context, options=usual))
    except Problem:
        return None  # The import cannot be repeated, with any settings.
    return require


def nothing_to_compare(distinct: DistinctCombinations, of: str, advice: str = "") -> Problem | None:
    """The problem of a lab with nothing to compare: only one combination is left; None with more."""
    if len(distinct.tried) > 1:
        return None
    whys = distinct.alike or tuple(f"{words(each['settings'])}: {each['why']}." for each in distinct.left_out)
    return Problem(
        " ".join((f"With this {of} nothing is left to compare.", *whys[:3])),
        advice=(advice or "Try other values, or a larger sample.") if distinct.alike else "Try other values.",
        option="grid",
    )


def trial_options(options: Options, planned: Mapping[str, Any], settings: Settings) -> Options:
    """The options of a trial: those of the import, with the settings planned for the whole file, then the trial's."""
    options = replace(options.appending(), lookup_missing=REJECT)  # A trial writes into tables of the lab alone.
    options = with_settings(options, {name: planned[name] for name in PINNED})
    options = with_settings(options, settings)
    method = METHODS.get(options.method)
    return options if method and method.inserts else replace(options, rows_per_statement=None)


def require_as_requested(settings: Mapping[str, Any], plan: ImportPlan, where: str) -> None:
    """Raise Problem if the plan differs from the settings: another combination would be measured."""
    for name, value in ran_as(plan).items():
        requested = settings.get(name)
        if requested not in (value, None):
            why = next((reason.why for reason in plan.reasons if reason.option == name), "")
            asked = f"{named(name).label} “{named(name).shown(requested)}”"
            raise Problem(f"{asked} is not possible here: {why or 'the plan differs'}.", where=where, option=name)


def ran_as(plan: ImportPlan) -> dict[str, Any]:
    """The settings of a plan that the planner may change, with the values it has decided on."""
    off = plan.temporary_changes
    deferred = bool((off and off.keys) or (plan.staged and plan.staged.later))
    return {
        "method": plan.statements.method,
        "parallelism": plan.parallelism,
        "chunk_bytes": plan.chunk_bytes,
        "rows_per_statement": plan.statements.rows_per_statement,
        "indexes": "defer" if deferred else "keep",
        "foreign_keys": "defer" if off and off.foreign_keys else "keep",
    }
