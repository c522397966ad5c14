"""A whole import by Millrace through Celery: scan, ledger, checks, verification; with defaults or given options."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import MySQLdb

from bench.application import saved_target
from bench.client import peak_mb
from bench.files import Files
from bench.meter import process_tree, processor_seconds, reset_peak
from bench.servers import Server
from bench.ways.way import AFTER, BEFORE, LoadTiming, Way
from bench.workloads.table import WorkloadTable, dialect_of
from importer.engine.load.ledger import FIRST_SEAL
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.option_specs import BY_NAME, named
from importer.engine.plan.options import Options

# Polling must not disturb the measurement, and the raw ways are not polled: so the pause grows with the time that has
# passed. The end loses no precision, since it is read from the job; the first row loses 1 %.
POLL_EVERY, POLL_AFTER_SHARE, LONGEST_POLL = 0.25, 0.2, 5  # seconds, share of the time so far, seconds
POLL_FIRST_ROW_EVERY, POLL_FIRST_ROW_AFTER_SHARE = 0.01, 0.01
NO_SUCH_TABLE = 1146
# The role of a process, by a part of its command line.
ROLES = {
    "--hostname=load@": "load workers",
    "--hostname=control@": "scan and control workers",
    "gunicorn": "web",
    "beat": "beat",
    "redis": "redis",
    "supervisord": "supervisord",
}

FIRST_CHUNK = "SELECT 1 FROM millrace_ledger WHERE job = %s AND chunk < %s LIMIT 1"


class Millrace(Way):
    """Jobs from their start to their verified end, one table after another.

    `options` are Options by name, as text; `name` replaces the name made from them. `at_once`: the jobs of all tables
    run at the same time.
    """

    def __init__(self, options: dict[str, str] | None = None, *, name: str = "", at_once: bool = False) -> None:
        self.options = options or {}
        self.at_once = at_once
        text = ",".join(f"{name}={value}" for name, value in self.options.items())
        self.name = name or (f"millrace:{text}" if text else "millrace")
        # The supervisor of Millrace's processes; set once they run.
        self.supervisor_pid: int | None = None

    def load(self, server: Server, files: Files) -> LoadTiming:
        assert self.supervisor_pid, "Millrace's processes do not run"
        target = saved_target(server)
        prepared = [self._prepared(target, files, table) for table in files.workload.tables]
        for pid in process_tree(self.supervisor_pid):
            reset_peak(pid)
        cpu_before = processor_by_role(process_tree(self.supervisor_pid))
        first_row = _FirstRow(server.address, str(prepared[0].key))
        jobs, seconds = self._run(prepared)
        processes = process_tree(self.supervisor_pid)
        cpus = {role: round(used - cpu_before.get(role, 0), 2) for role, used in processor_by_role(processes).items()}
        seen = first_row.seconds()
        return LoadTiming(
            seconds=seconds,
            # On a busy machine it may be seen only after the end.
            first_row=seen and min(seen, seconds),
            cpu=sum(cpus.values()),
            cpus=cpus,
            peaks=peaks(processes),
            keys=AFTER if any(job.plan.temporary_changes for job in jobs) else BEFORE,
            parts=_parts(jobs),
            choices=tuple(reason.choice for reason in jobs[-1].plan.reasons),
        )

    def _prepared(self, target: Any, files: Files, table: WorkloadTable) -> Any:
        from importer.preparation.prepare import prepare
        from importer.preparation.request import ImportRequest
        from importer.sources import uploads

        return prepare(
            uploads.register(files.whole(table)),
            target,
            table.name,
            ImportRequest(dialect=dialect_of(files.separator), mapping=table.mapping, options=options_of(self.options)),
        )

    def _run(self, prepared: Sequence[Any]) -> tuple[list[Any], float]:
        """Run the jobs; return them and the seconds until the last one ended, without the delay of polling."""
        from importer.jobs.actions import commands

        done, seconds = [], 0.0
        for together in [prepared] if self.at_once else [[each] for each in prepared]:
            began = datetime.now(UTC)
            created = [commands.create(each) for each in together]
            for job in created:
                commands.start(job.pk)
            done += [_balanced(job.pk) for job in created]
            seconds += (max(job.finished_at for job in done) - began).total_seconds()
        return done, seconds


def options_of(words: dict[str, str]) -> Options:
    """Options from words: numbers, true and false, sizes such as 512K; `session.NAME` for one session variable."""
    values: dict[str, Any] = {}
    for name, text in words.items():
        field, _, variable = name.partition(".")
        assert field in BY_NAME, f"Millrace has no option {field}"
        kind = named(field).kind
        try:
            read = kind.read(f"{variable}={text}" if kind.is_list else {"true": "on", "false": "off"}.get(text, text))
        except ValueError:
            raise AssertionError(f"{name} is {text!r}, which is not {kind.texts}") from None
        values[field] = {**values.get(field, {}), **dict([read])} if kind.is_list else read
    return Options(**values)


def ended(pk: int) -> Any:
    """Wait for the end of the job, successful or not, and return it."""
    from importer.models import ImportJob

    begun = time.perf_counter()
    while ImportJob.objects.values_list("status", flat=True).get(pk=pk) not in ImportJob.ENDED:
        passed = time.perf_counter() - begun
        time.sleep(min(max(POLL_EVERY, passed * POLL_AFTER_SHARE), LONGEST_POLL))
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
    """The peak memory (MB) of a single process of each role."""
    return {role: max(map(peak_mb, members)) for role, members in roles(pids).items()}


def processor_by_role(pids: Sequence[int]) -> dict[str, float]:
    """Processor seconds of each role's processes so far."""
    return {role: processor_seconds(members) for role, members in roles(pids).items()}


def roles(pids: Sequence[int]) -> dict[str, list[int]]:
    """The pids by role."""
    roles: dict[str, list[int]] = {}
    for pid in pids:
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_text()
            role = next((role for word, role in ROLES.items() if word in command), "other")
            roles.setdefault(role, []).append(pid)
    return roles


class _FirstRow:
    """Polls on its own connection for the first ledger row of a job, which commits with the chunk's rows."""

    def __init__(self, address: Address, job: str) -> None:
        self._address, self._job = address, job
        self._begun = time.perf_counter()
        self._seconds: float | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll)
        self._thread.start()

    def seconds(self) -> float | None:
        """Stop polling; return the seconds until the row was seen, None if it was not."""
        self._ended.set()
        self._thread.join()
        return self._seconds

    def _pause(self) -> float:
        passed = time.perf_counter() - self._begun
        return max(POLL_FIRST_ROW_EVERY, passed * POLL_FIRST_ROW_AFTER_SHARE)

    def _poll(self) -> None:
        with connect(self._address) as connection:
            while not self._ended.wait(self._pause()):
                try:
                    rows = fetch_all(connection, FIRST_CHUNK, (self._job, FIRST_SEAL))
                except MySQLdb.ProgrammingError as error:
                    if error.args[0] != NO_SUCH_TABLE:
                        raise
                    rows = []
                if rows:
                    self._seconds = time.perf_counter() - self._begun
                    return
