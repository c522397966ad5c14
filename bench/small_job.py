"""Traces one small import through warm workers: where the time goes in which no statement loads.

    python -m bench.small_job [--rounds 5] [--server NAME=mysql://...] [--sizes 12700 1000000]

Each round submits a file of the workload nodes and waits for its end as `millrace load --workers` does. The last round
is printed step by step: its begin and end in seconds after the import was accepted, and the processor seconds of the
workers in that time (/proc/PID/task/TID/schedstat). Steps overlap. Then the medians of all rounds: *idle* is the time
from accepted to seen in which no statement loaded rows on any session. The time stamps are those of the import and its
chunks.
"""

import statistics
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench import application, settings
from bench.files import Files, files_of
from bench.meter import process_tree
from bench.servers import Server, servers_to_measure
from bench.ways.millrace import processor_by_role, roles
from bench.ways.way import empty_tables
from bench.workloads import WORKLOADS
from bench.workloads.table import dialect_of

SIZES = (12_700, 1_000_000)  # about 1 MB and 80 MB
SAMPLE_EVERY = 0.005  # seconds
WORKERS = {"load": "load workers", "control": "scan and control workers"}
NANOSECONDS = 1e9


@dataclass(frozen=True)
class Step:
    """A part of an import: when it began and ended, in seconds after the import was accepted, and who worked on it."""

    name: str
    began: float
    ended: float
    role: str


@dataclass(frozen=True)
class Trace:
    """One import: its steps, the spans in which a statement loaded rows, and when its end was seen, in seconds."""

    steps: tuple[Step, ...]
    loads: tuple[tuple[float, float], ...]
    seen: float
    cpu: float

    @property
    def idle(self) -> float:
        """The seconds from accepted to seen in which no statement loaded rows."""
        return self.seen - sum(ended - began for began, ended in merged(self.loads))


def merged(spans: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The spans in their order, those that overlap as one."""
    begin = end = float("-inf")
    for low, high in sorted(spans):
        if low > end:
            if end > begin:
                yield begin, end
            begin, end = low, high
        else:
            end = max(end, high)
    if end > begin:
        yield begin, end


class ProcessorSamples:
    """Samples the processor seconds of each role's processes, in a thread of its own, until stop()."""

    def __init__(self, supervisor: int) -> None:
        self._pids = roles(process_tree(supervisor))
        self._threads: dict[str, dict[Path, float]] = {role: {} for role in self._pids}
        self._samples: list[tuple[float, dict[str, float]]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def between(self, began: float, ended: float, role: str) -> float:
        """The processor seconds of a role between two times of the clock."""
        return self._at(ended, role) - self._at(began, role)

    def _at(self, moment: float, role: str) -> float:
        for (low, before), (high, after) in pairwise(self._samples):
            if low <= moment <= high:
                share = (moment - low) / (high - low)
                return before.get(role, 0) + share * (after.get(role, 0) - before.get(role, 0))
        return self._samples[-1 if moment > self._samples[-1][0] else 0][1].get(role, 0)

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_EVERY):
            for role, pids in self._pids.items():
                self._threads[role].update(_seconds_of_threads(pids))
            # Threads that have ended count as they were last seen.
            self._samples.append((time.time(), {role: sum(each.values()) for role, each in self._threads.items()}))


def _seconds_of_threads(pids: Iterable[int]) -> Iterator[tuple[Path, float]]:
    """Seconds on a processor of each thread of the processes (Documentation/scheduler/sched-stats)."""
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                yield task, int(task.read_text().split()[0]) / NANOSECONDS


def trace_of(job: Any, accepted: float, seen: float, cpu: float) -> Trace:
    """The trace of an import that has ended. `accepted` and `seen` by the clock, `cpu` in processor seconds."""

    def after(moment: datetime) -> float:
        return moment.timestamp() - accepted

    steps = [Step("first step taken", 0, after(job.taken_at), "control")]
    steps.append(Step("scan", after(job.taken_at), after(job.scanned_at), "control"))
    loads = []
    for name, began, ended, timings in _transactions(job):
        load_ended = after(ended) - timings.get("commit", 0) - timings.get("verify", 0)
        loads.append((load_ended - timings.get("load", 0), load_ended))
        steps.append(Step(name, after(began), after(ended), "load"))
        steps.append(Step("  its LOAD", *loads[-1], "load"))
    last = max(step.ended for step in steps)
    steps.append(Step("chunks recorded", last, after(job.loaded_at), "load"))
    steps.append(Step("verified", after(job.loaded_at), after(job.finished_at), "control"))
    steps.append(Step("end seen", after(job.finished_at), seen - accepted, "control"))
    return Trace(tuple(steps), tuple(loads), seen - accepted, cpu)


def _transactions(job: Any) -> Iterator[tuple[str, datetime, datetime, dict[str, float]]]:
    """Name, begin, end and timings of each transaction. Chunks that shared one have divided its time."""
    together: list[Any] = []
    for chunk in job.chunks.order_by("number"):
        if together and (chunk.run, chunk.started_at) != (together[-1].run, together[-1].finished_at):
            yield _transaction(together)
            together = []
        together.append(chunk)
    if together:
        yield _transaction(together)


def _transaction(chunks: Sequence[Any]) -> tuple[str, datetime, datetime, dict[str, float]]:
    timings: dict[str, float] = {}
    for chunk in chunks:
        for phase, seconds in chunk.timings.items():
            timings[phase] = timings.get(phase, 0) + seconds
    first, last = chunks[0], chunks[-1]
    name = f"chunk {first.number}" if first is last else f"chunks {first.number} to {last.number}"
    phases = ", ".join(f"{phase} {seconds * 1000:.0f}" for phase, seconds in timings.items())
    return f"{name} ({phases} ms)", first.started_at, last.finished_at, timings


def import_once(server: Server, files: Files, supervisor: int) -> tuple[Trace, list[str]]:
    """Import the file into an empty table; its trace, and the trace's lines."""
    from importer.jobs.actions import commands
    from importer.management.terminal.follow.following import wait
    from importer.preparation.prepare import prepare
    from importer.preparation.request import ImportRequest
    from importer.sources import uploads

    empty_tables(server, files.workload, keys=True)
    (table,) = files.workload.tables
    request = ImportRequest(dialect=dialect_of(files.separator), mapping=table.mapping)
    job = commands.create(
        prepare(uploads.register(files.whole(table)), application.saved_target(server), table.name, request)
    )
    samples = ProcessorSamples(supervisor)
    before = processor_by_role(process_tree(supervisor))
    accepted = time.time()
    commands.start(job.pk)
    ended = wait(job, quiet=True)
    seen = time.time()
    used = processor_by_role(process_tree(supervisor))
    samples.stop()
    assert ended.balanced, ended.problem
    cpu = sum(used.get(role, 0) - before.get(role, 0) for role in WORKERS.values())
    trace = trace_of(ended, accepted, seen, cpu)
    return trace, list(_lines(trace, accepted, samples))


def _lines(trace: Trace, accepted: float, samples: ProcessorSamples) -> Iterator[str]:
    yield f"    {'begin':>7} {'end':>7} {'wall':>7} {'cpu':>7}"
    for each in trace.steps:
        cpu = samples.between(accepted + each.began, accepted + each.ended, WORKERS[each.role])
        yield f"    {each.began:7.3f} {each.ended:7.3f} {each.ended - each.began:7.3f} {cpu:7.3f}  {each.name}"


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="ROWS", help="rows of each file")
    arguments = parser.parse_args()
    sizes = [files_of(WORKLOADS["nodes"], rows, arguments.folder / "files") for rows in arguments.sizes]
    application.set_up(arguments.folder / "small-job")
    options = settings.server_options(arguments)
    with (
        servers_to_measure(arguments.server, arguments.folder / "servers", options) as servers,
        application.serving() as supervisor,
    ):
        for server in servers:
            for files in sizes:
                _measure(server, files, supervisor, arguments)


def _measure(server: Server, files: Files, supervisor: int, arguments: Any) -> None:
    measured = [import_once(server, files, supervisor) for _ in range(arguments.warm_up + arguments.rounds)]
    traces = [trace for trace, _ in measured[arguments.warm_up :]]
    print(f"{files.rows:,} rows, {files.bytes / 1e6:.1f} MB, {server.name}; the last round:")
    print("\n".join(measured[-1][1]))
    figures = {name: [getattr(each, name) for each in traces] for name in ("seen", "idle", "cpu")}
    medians = ", ".join(f"{name} {statistics.median(each):.3f} s" for name, each in figures.items())
    print(f"  medians of {len(traces)}: {medians}; idle {min(figures['idle']):.3f} to {max(figures['idle']):.3f} s")


if __name__ == "__main__":
    main()
