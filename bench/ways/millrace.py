"""A whole import by Millrace through Celery: scan, ledger, checks, verification; with the defaults, or as asked."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import MySQLdb

from bench.application import saved_target
from bench.client import peak_mb
from bench.files import Files
from bench.meter import family, processor_seconds, reset_peak
from bench.servers import Server
from bench.ways.way import AFTER, BEFORE, Clocked, Way
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.options import Options
from importer.engine.units import parse_size
from importer.experiments.workloads.table import WorkloadTable, dialect_of

# Looking must not cost what is measured, and the raw ways have nobody who looks: so the next look comes the later, the
# longer it has taken so far. For the end that costs no precision, since it is read off the job; for the first row 1 %.
LOOK_EVERY, LOOK_AFTER_SHARE, LONGEST_BETWEEN_LOOKS = 0.25, 0.2, 5  # seconds, of the time so far, seconds
LOOK_FOR_FIRST_ROW_EVERY, LOOK_FOR_FIRST_ROW_AFTER_SHARE = 0.01, 0.01
NO_SUCH_TABLE = 1146
# What a process of ours does, by what stands in its command line.
ROLES = {
    "--hostname=load@": "load workers",
    "--hostname=control@": "scan and control workers",
    "gunicorn": "web",
    "beat": "beat",
    "redis": "redis",
    "supervisord": "supervisord",
}


class Millrace(Way):
    """Jobs from their start to their verified end, one table after the other.

    `asked` are Options by name, as text; `name` is what the way is called if not by them. `at_once`: the jobs of all
    tables run at the same time.
    """

    def __init__(self, asked: dict[str, str] | None = None, *, name: str = "", at_once: bool = False) -> None:
        self.asked = asked or {}
        self.at_once = at_once
        options = ",".join(f"{name}={value}" for name, value in self.asked.items())
        self.name = name or (f"millrace:{options}" if options else "millrace")
        # The id of the process above all of Millrace's; set once they run.
        self.above: int | None = None

    def load(self, server: Server, files: Files) -> Clocked:
        assert self.above, "Millrace's processes do not run"
        target = saved_target(server)
        prepared = [self._prepared(target, files, table) for table in files.workload.tables]
        for pid in family(self.above):
            reset_peak(pid)
        cpu_before = processor_by_role(family(self.above))
        first_row = _FirstRow(server.address, str(prepared[0].key))
        jobs, seconds = self._run(prepared)
        family_now = family(self.above)
        cpus = {role: round(used - cpu_before.get(role, 0), 2) for role, used in processor_by_role(family_now).items()}
        seen = first_row.seconds()
        return Clocked(
            seconds=seconds,
            # On a busy machine it may be looked for when all is over.
            first_row=seen and min(seen, seconds),
            cpu=sum(cpus.values()),
            cpus=cpus,
            peaks=peaks(family_now),
            keys=AFTER if any(job.plan.temporary_changes for job in jobs) else BEFORE,
            parts=_parts(jobs),
            choices=tuple(reason.choice for reason in jobs[-1].plan.reasons),
        )

    def _prepared(self, target: Any, files: Files, table: WorkloadTable) -> Any:
        from importer.preparation.prepare import ImportRequest, prepare
        from importer.sources import uploads

        return prepare(
            uploads.register(files.whole(table)),
            target,
            table.name,
            ImportRequest(dialect=dialect_of(files.separator), mapping=table.mapping, options=options_of(self.asked)),
        )

    def _run(self, prepared: Sequence[Any]) -> tuple[list[Any], float]:
        """The jobs, ended, and the seconds that they took: not those until somebody looked whether one had ended."""
        from importer import jobs

        done, seconds = [], 0.0
        for together in [prepared] if self.at_once else [[each] for each in prepared]:
            began = datetime.now(UTC)
            created = [jobs.create(each) for each in together]
            for job in created:
                jobs.start(job.pk)
            done += [_balanced(job.pk) for job in created]
            seconds += (max(job.finished_at for job in done) - began).total_seconds()
        return done, seconds


def options_of(asked: dict[str, str]) -> Options:
    """Options from words: numbers, true and false, sizes such as 512K; `session.NAME` for one session variable."""
    types = {each.name: str(each.type) for each in fields(Options)}
    values: dict[str, Any] = {}
    for name, text in asked.items():
        field, dot, variable = name.partition(".")
        assert field in types, f"Millrace has no option {field}"
        if dot:
            values.setdefault(field, {})[variable] = text
        elif "bool" in types[field]:
            values[field] = text == "true"
        elif "int" in types[field]:
            values[field] = parse_size(text)
            assert values[field] is not None, f"{name} is {text!r}, which is no number and no size such as 512K"
        else:
            values[field] = text
    return Options(**values)


def ended(pk: int) -> Any:
    """The job, once it has ended; nobody is told how."""
    from importer.models import ImportJob

    begun = time.perf_counter()
    while ImportJob.objects.values_list("status", flat=True).get(pk=pk) not in ImportJob.ENDED:
        passed = time.perf_counter() - begun
        time.sleep(min(max(LOOK_EVERY, passed * LOOK_AFTER_SHARE), LONGEST_BETWEEN_LOOKS))
    return ImportJob.objects.get(pk=pk)


def _balanced(pk: int) -> Any:
    job = ended(pk)
    assert job.balanced, job.problem
    return job


def _parts(jobs: Sequence[Any]) -> dict[str, float]:
    """Seconds of each part, summed over the jobs."""
    from importer.jobs.report import report

    parts: dict[str, float] = {}
    for job in jobs:
        for name, seconds in report(job)["seconds"].items():
            parts[name] = round(parts.get(name, 0) + (seconds or 0), 3)
    return parts


def peaks(pids: Sequence[int]) -> dict[str, float]:
    """The most memory (MB) of a single process of each role."""
    return {role: max(map(peak_mb, found)) for role, found in _roles(pids).items()}


def processor_by_role(pids: Sequence[int]) -> dict[str, float]:
    """What the processes of each role have used so far of the processor, in seconds."""
    return {role: processor_seconds(found) for role, found in _roles(pids).items()}


def _roles(pids: Sequence[int]) -> dict[str, list[int]]:
    """The processes by what they do."""
    found: dict[str, list[int]] = {}
    for pid in pids:
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_text()
            role = next((role for word, role in ROLES.items() if word in command), "other")
            found.setdefault(role, []).append(pid)
    return found


class _FirstRow:
    """Looks on a connection of its own for the first ledger row of a job: it commits with the chunk's rows."""

    def __init__(self, address: Address, job: str) -> None:
        self._address, self._job = address, job
        self._begun = time.perf_counter()
        self._seconds: float | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def seconds(self) -> float | None:
        """Stop looking; seconds until it was there, None if it never was."""
        self._ended.set()
        self._thread.join()
        return self._seconds

    def _pause(self) -> float:
        passed = time.perf_counter() - self._begun
        return max(LOOK_FOR_FIRST_ROW_EVERY, passed * LOOK_FOR_FIRST_ROW_AFTER_SHARE)

    def _look(self) -> None:
        with connect(self._address) as connection:
            while not self._ended.wait(self._pause()):
                try:
                    found = fetch_all(connection, "SELECT 1 FROM millrace_ledger WHERE job = %s LIMIT 1", (self._job,))
                except MySQLdb.ProgrammingError as error:
                    if error.args[0] != NO_SUCH_TABLE:
                        raise
                    found = []
                if found:
                    self._seconds = time.perf_counter() - self._begun
                    return
