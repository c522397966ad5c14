"""The metrics, each declared once. docs/operations.md has the same table, and deploy/ names no other."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter

from config.version import VERSION
from dashboard.system.metrics.figures import Figures
from dashboard.system.metrics.metric import Metric, Sample, Type
from importer.models import Total

_TOTALS = "totals, counted in the transaction of what they count"
_TABLES = "the application's tables"
_REDIS = "Redis"
_STORE = "the store, as this web host reaches it"
_DISKS = "the disks of this web host"
_ROLE = attrgetter("role")


def _by(counts: Mapping[str, float]) -> Iterable[Sample]:
    return [((label,), count) for label, count in counts.items()]


def _total(name: Total.Name, *by: str) -> Callable[[Figures], Iterable[Sample]]:
    return lambda figures: figures.totals(name, *by)


def _one(figure: float) -> Iterable[Sample]:
    return [((), figure)]


METRICS = (
    Metric(
        "millrace_rows_total",
        Type.COUNTER,
        "Rows of committed chunks by outcome: loaded, replaced, unchanged, skipped, rejected",
        ("target", "outcome"),
        _TOTALS,
        _total(Total.Name.ROWS, "target", "kind"),
    ),
    Metric(
        "millrace_bytes_total",
        Type.COUNTER,
        "Bytes of committed chunks, as they lie in the file",
        ("target",),
        _TOTALS,
        _total(Total.Name.BYTES, "target"),
    ),
    Metric(
        "millrace_chunks_total",
        Type.COUNTER,
        "Committed chunks",
        ("target",),
        _TOTALS,
        _total(Total.Name.CHUNKS, "target"),
    ),
    Metric(
        "millrace_chunk_seconds_total",
        Type.COUNTER,
        "Seconds of sessions that loaded committed chunks, by phase",
        ("phase",),
        _TOTALS,
        _total(Total.Name.CHUNK_SECONDS, "kind"),
    ),
    Metric(
        "millrace_imports_ended_total",
        Type.COUNTER,
        "Attempts of imports that have ended, by outcome",
        ("target", "outcome"),
        _TOTALS,
        _total(Total.Name.ENDED, "target", "kind"),
    ),
    Metric(
        "millrace_retries_total",
        Type.COUNTER,
        "What was tried again after a failure: a chunk, a step, or by request an import",
        ("what",),
        _TOTALS,
        _total(Total.Name.RETRIES, "kind"),
    ),
    Metric(
        "millrace_lease_expiries_total",
        Type.COUNTER,
        "Chunks and steps whose worker died or lost its connection to the application's database",
        ("what",),
        _TOTALS,
        _total(Total.Name.EXPIRED, "kind"),
    ),
    Metric(
        "millrace_imports",
        Type.GAUGE,
        "Imports that are kept, by state",
        ("state",),
        _TABLES,
        lambda figures: _by(figures.imports_by_state()),
    ),
    Metric(
        "millrace_chunks_in_flight",
        Type.GAUGE,
        "Chunks that wait for a worker (queued), or that one loads (loading)",
        ("state",),
        _TABLES,
        lambda figures: _by(figures.chunks_in_flight()),
    ),
    Metric(
        "millrace_queue_age_seconds",
        Type.GAUGE,
        "Seconds that the oldest import which could begin has waited for a worker; 0 if none waits",
        (),
        _TABLES,
        lambda figures: _one(figures.queue_age()),
    ),
    Metric(
        "millrace_queue_messages",
        Type.GAUGE,
        "Messages in a queue that no worker has taken",
        ("queue",),
        _REDIS,
        lambda figures: _by(figures.messages),
    ),
    Metric(
        "millrace_workers",
        Type.GAUGE,
        "Live workers, by role",
        ("role",),
        _REDIS,
        lambda figures: _by(figures.of_workers(_ROLE, lambda _worker: 1)),
    ),
    Metric(
        "millrace_worker_slots",
        Type.GAUGE,
        "Tasks that live workers run at once, by role",
        ("role",),
        _REDIS,
        lambda figures: _by(figures.of_workers(_ROLE, lambda worker: worker.slots)),
    ),
    Metric(
        "millrace_worker_tasks",
        Type.GAUGE,
        "Tasks that live workers run now, by role",
        ("role",),
        _REDIS,
        lambda figures: _by(figures.of_workers(_ROLE, lambda worker: worker.busy)),
    ),
    Metric(
        "millrace_worker_versions",
        Type.GAUGE,
        "Live workers, by the version of Millrace that they run",
        ("version",),
        _REDIS,
        lambda figures: _by(figures.of_workers(attrgetter("version"), lambda _worker: 1)),
    ),
    Metric(
        "millrace_redis_up",
        Type.GAUGE,
        "1 if Redis answers, else 0",
        (),
        _REDIS,
        lambda figures: _one(figures.workers is not None),
    ),
    Metric(
        "millrace_store_up",
        Type.GAUGE,
        "1 if the store answers, else 0; nothing without a store",
        (),
        _STORE,
        lambda figures: [] if figures.store is None else _one(figures.store.answers()),
    ),
    Metric(
        "millrace_store_bytes",
        Type.GAUGE,
        "Bytes of the uploads and fetched files that are kept in the store",
        (),
        _TABLES,
        lambda figures: [] if figures.store is None else _one(figures.stored_bytes()),
    ),
    Metric(
        "millrace_outbox_messages",
        Type.GAUGE,
        "Messages of channels that wait, and those that were given up",
        ("state",),
        _TABLES,
        lambda figures: _by(figures.outbox()),
    ),
    Metric(
        "millrace_outbox_lag_seconds",
        Type.GAUGE,
        "Seconds since the event of the oldest message that waits; 0 if none waits",
        (),
        _TABLES,
        lambda figures: _one(figures.outbox_lag()),
    ),
    Metric(
        "millrace_disk_free_bytes",
        Type.GAUGE,
        "Free bytes on the disk of each folder that Millrace writes to, by its setting",
        ("folder",),
        _DISKS,
        lambda figures: _by({name: disk.free for name, disk in figures.disks()}),
    ),
    Metric(
        "millrace_disk_kept_free_bytes",
        Type.GAUGE,
        "Free bytes below which nothing more is written (KEEP_FREE_BYTES)",
        ("folder",),
        _DISKS,
        lambda figures: _by({name: disk.kept_free for name, disk in figures.disks()}),
    ),
    Metric(
        "millrace_build_info",
        Type.GAUGE,
        "Always 1; the version of this web process",
        ("version",),
        "the program",
        lambda _figures: _by({VERSION: 1}),
    ),
)
