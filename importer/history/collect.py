"""Collects the facts of a job from its row, its plan and its chunks, as flat values by name.

Plans that other versions have stored are read, too; facts that they lack are left out.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import xxhash
from django.conf import settings

from importer.engine.mysql.connection import USUAL_ISOLATION
from importer.engine.native import loader
from importer.engine.plan import option_specs
from importer.engine.plan.options import Options
from importer.engine.source import encodings
from importer.engine.source.dialect import escape_mark
from importer.history.facts import CHOSEN, FACTS, PHASES, REQUESTED, SERVER, Fact, Kind, Value
from importer.models import Chunk, ImportJob
from importer.models.outcomes import PREVIEWED
from importer.models.outcomes.attempts import rounded, rounded_or_none, speed_of, step_seconds
from importer.models.outcomes.phases import idle_seconds

Pairs = Iterator[tuple[str, Any]]
YES = ("1", "on", "yes", "true")


@dataclass(frozen=True)
class ChunkTotals:
    """The chunks of a job: counts, the `seconds` of each loaded chunk, and the seconds of all chunks by phase."""

    count: int = 0
    retries: int = 0
    deaths: int = 0
    seconds: list[float] = field(default_factory=list)
    phases: dict[str, float] = field(default_factory=dict)


def chunks_of(job: ImportJob) -> ChunkTotals:
    """Add up the job's chunks."""
    rows = job.chunks.order_by().values_list("status", "attempt", "deaths", "timings").iterator(chunk_size=5000)
    loaded = Chunk.Status.LOADED
    return add_up((attempt, deaths, timings if status == loaded else {}) for status, attempt, deaths, timings in rows)


def add_up(chunks: Iterable[tuple[int, int, dict[str, float]]]) -> ChunkTotals:
    """Add up chunks, each given as attempts, deaths and timings."""
    count = retries = dead = 0
    seconds: list[float] = []
    phases: Counter[str] = Counter()
    for attempt, deaths, timings in chunks:
        count, retries, dead = count + 1, retries + max(0, attempt - 1), dead + deaths
        if timings:
            seconds.append(sum(timings.values()))
            for phase, took in timings.items():
                phases[phase] += took  # type: ignore[assignment]
    return ChunkTotals(count, retries, dead, seconds, dict(phases))


def facts_of(job: ImportJob, chunks: ChunkTotals) -> dict[str, Value]:
    """All facts that are known of the job. Reads its source and target."""
    facts: dict[str, Any] = {}
    for about in (_job, _file, _requested, chosen_settings, _before, _result, _timing):
        facts |= dict(about(job))
    facts |= dict(_of_chunks(job, chunks))
    known = _known(facts.items())
    return known | {"settings_digest": _digest(known, CHOSEN), "server_digest": _digest(known, SERVER)}


@cache
def default_values() -> dict[str, Value]:
    """The facts of REQUESTED for an import with default options."""
    defaults = Options()
    return _known((fact.name, _in_words(fact, defaults)) for fact in REQUESTED)


def _known(pairs: Iterable[tuple[str, Any]]) -> dict[str, Value]:
    facts = {name: _read(FACTS[name], value) for name, value in pairs if name in FACTS}
    return {name: value for name, value in facts.items() if value is not None}


def _read(fact: Fact, value: Any) -> Value | None:
    """The value as the fact's kind has it, None if it has none. Server variables come as texts."""
    if value in (None, ""):
        return None
    match fact.kind:
        case Kind.SWITCH:
            return value.lower() in YES if isinstance(value, str) else bool(value)
        case Kind.WORD | Kind.TEXT:
            return str(value)
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def _digest(facts: dict[str, Value], of: Iterable[Fact]) -> str:
    """A digest of facts that are set, not measured: measured ones differ a little each time."""
    measured = (Kind.MILLISECONDS, Kind.BYTES_PER_SECOND)
    pairs = [(each.name, facts[each.name]) for each in of if each.name in facts and each.kind not in measured]
    return xxhash.xxh3_64(repr(sorted(pairs)).encode()).hexdigest()


def _job(job: ImportJob) -> Pairs:
    yield "job", job.pk
    yield "ended", _moment(job.finished_at)
    yield "started", _moment(job.started_at)
    yield "status", PREVIEWED.words if job.previewed_at else job.status
    yield "problem", job.problem.get("kind", "")
    yield "attempts", job.attempts
    yield "pauses", job.pauses
    yield "followed_upload", job.followed_upload
    yield "idle_seconds", idle_seconds(job)
    yield "target", job.target.name
    yield "table", job.table
    yield "table_name", job.table_name
    yield "schedule", _schedule(job)
    yield "tls", job.target.tls
    yield "software", settings.VERSION
    yield "native", loader.build_in_use() or "none"


def _schedule(job: ImportJob) -> str | None:
    """The name of the schedule that picked the job's file up; None for an import that a person started."""
    return job.picked.values_list("schedule__name", flat=True).first() if job.pk else None


def _moment(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None


def _file(job: ImportJob) -> Pairs:
    dialect = job.dialect_json
    yield "file", job.source.name
    yield "file_bytes", job.source.size
    yield "data_bytes", job.data_bytes
    if job.scan_finished:
        yield "rows", job.scanned_rows
        yield "row_bytes", round(job.data_bytes / job.scanned_rows, 2) if job.scanned_rows else None
    yield "fields", len(job.mapping_json)
    yield "loaded_columns", sum(bool(each.get("column")) for each in job.mapping_json) + len(job.fillings_json)
    yield "packing", job.packing or "none"
    yield "encoding", dialect.get("encoding")
    yield "delimiter", escape_mark(dialect.get("delimiter", ","))
    yield "line_end", {"\n": "lf", "\r\n": "crlf", "\r": "cr"}.get(dialect.get("line_end", ""), "any")


def _requested(job: ImportJob) -> Pairs:
    options = job.options
    for fact in REQUESTED:
        yield fact.name, _in_words(fact, options)


def _in_words(fact: Fact, options: Options) -> Any:
    """The option's value as requested; variables as a text."""
    value = getattr(options, fact.option)
    return option_specs.named(fact.option).shown(value) if isinstance(value, dict) else value


def chosen_settings(job: ImportJob) -> Pairs:
    """The settings that the import ran with: those of the options, replaced by the decisions of its plan."""
    plan, options = job.plan_json, job.options
    for option in option_specs.SPEED:
        yield option.name, _in_words(FACTS[option.name], options)
    yield "isolation", options.isolation or USUAL_ISOLATION
    yield "method", plan.get("method")
    yield "rows_per_statement", plan.get("rows_per_statement")
    yield "chunk_bytes", plan.get("chunk_bytes")
    yield "first_chunk_bytes", plan.get("first_chunk_bytes")
    yield "last_chunks", plan.get("last_chunks")
    yield "transaction_bytes", plan.get("transaction_bytes")
    yield "commit_rows", plan.get("chunk_rows")
    yield "parallelism", job.parallelism
    yield "planned_parallelism", plan.get("parallelism")
    yield from _deferred_keys(job)
    yield "sort", "key" if plan.get("sorted_by") else "keep"
    yield "sorted_by", ", ".join((plan.get("sorted_by") or {}).get("columns", ()))
    yield "ordered", plan.get("ordered")
    yield "rolls_back", plan.get("rolls_back")
    yield "staged", bool(plan.get("staged"))
    yield "as_bytes", bool(plan.get("bytes_statement"))
    yield "unhexed", bool(plan.get("unhexed"))
    yield "rewritten", bool(job.file_dialect.rewriting)
    yield "transcoded", job.file_dialect.encoding_kind is encodings.EncodingKind.SINGLE
    yield "copied", job.needs_copy
    yield "held_back", sum(bool(each.get("holds_back")) for each in plan.get("reasons", ()))
    for name, value in plan.get("session", {}).items():
        yield f"session_{name}", value
    for name, value in (plan.get("arrangement") or {}).get("variables", {}).items():
        yield f"set_{name}", value


def _deferred_keys(job: ImportJob) -> Pairs:
    """Deferred keys: of the table, or of the staging table that replaces it."""
    plan = job.plan_json
    changed = plan.get("arrangement") or {}
    keys, foreign_keys = len(changed.get("keys", ())), len(changed.get("foreign_keys", ()))
    staged = plan.get("staged") or {}
    if staged.get("mode") == "replace":
        keys += sum(each.count("DROP KEY ") for each in staged["make"])
    yield "indexes", "defer" if keys else "keep"
    yield "deferred_indexes", keys
    yield "foreign_keys", "defer" if foreign_keys else "keep"
    yield "deferred_foreign_keys", foreign_keys


def _before(job: ImportJob) -> Pairs:
    yield from job.plan_json.get("seen", {}).items()


def _result(job: ImportJob) -> Pairs:
    counts = (
        *("loaded_rows", "replaced_rows", "unchanged_rows", "skipped_rows", "rejected_rows"),
        *("deleted_rows", "marked_rows"),
    )
    for name in (*counts, "balanced"):
        yield name, getattr(job, name)
    yield "restored", job.restored_at is not None
    yield "skipped_lines", job.skipped_lines.total
    yield "notices", sum(each["values"] for each in job.notices)
    yield "reject_reasons", len(job.reject_reasons)


def _timing(job: ImportJob) -> Pairs:
    for step, took in step_seconds(job).items():
        yield f"{step}_seconds", took
    speed = speed_of(job)
    if speed is None:
        return
    yield "waiting_seconds", round(speed.seconds.waiting, 3) if job.started_at else None
    yield "lock_seconds", job.lock_seconds if job.started_at else None
    if job.rows_per_second:
        yield "rows_per_second", rounded(job.rows_per_second)
        yield "bytes_per_second", rounded_or_none(speed.bytes_per_second)
        yield "overall_rows_per_second", rounded_or_none(speed.overall_rows_per_second)


def _of_chunks(job: ImportJob, chunks: ChunkTotals) -> Pairs:
    yield "chunks", chunks.count
    yield "retries", chunks.retries
    yield "deaths", chunks.deaths
    if not chunks.seconds:
        return
    yield "chunk_median_seconds", round(statistics.median(chunks.seconds), 6)
    yield "chunk_longest_seconds", round(max(chunks.seconds), 6)
    for phase in PHASES:
        yield phase.name, round(chunks.phases.get(phase.name.removeprefix("phase_"), 0), 6)
    yield "phase_wait", _seconds_without_chunk(job, sum(chunks.seconds))


def _seconds_without_chunk(job: ImportJob, spent: float) -> float | None:
    """The time of the sessions without a chunk; None if it is unknown how many there were."""
    load = step_seconds(job)["load"]
    if load is None or job.parallelism != job.plan_json.get("parallelism", job.parallelism):
        return None
    return round(max(0.0, job.parallelism * load - spent), 6)
