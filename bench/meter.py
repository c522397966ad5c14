"""Measures the cost of a load other than its duration: processor time, memory, and the bytes the server wrote."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import psutil

from bench.servers import Server

Result = TypeVar("Result")

TICKS = os.sysconf("SC_CLK_TCK")  # clock ticks of processor time in a second
# Written to clear_refs, it resets VmHWM (proc_pid_clear_refs(5)).
RESET_PEAK = "5"


def processor_seconds(pids: Iterable[int]) -> float:
    """Processor seconds of these processes so far, with their ended children (proc_pid_stat(5))."""
    ticks = 0
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return ticks / TICKS


def reset_peak(pid: int) -> None:
    """Reset the peak memory of a process (client.peak_mb), where the kernel allows it."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text(RESET_PEAK)


def process_tree(pid: int) -> list[int]:
    """The pids of a process and all its descendants."""
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


@dataclass(frozen=True)
class ServerCost:
    """The server's work during a load; None for a counter that is not readable from here.

    `cpu` is processor seconds. `written` are the bytes that its process sent to storage, `data_written` those that
    InnoDB reports for data files, `log_written` for the redo log. `dirty` are the bytes of changed pages that were not
    written yet at the end.
    """

    cpu: float | None
    written: int | None
    data_written: int
    log_written: int
    dirty: int

    def as_json(self) -> dict[str, float | int | None]:
        return {f"server_{name}": value for name, value in vars(self).items()}


class ServerMeter:
    """Reads the server's counters at the start and at the end of a `with`; `cost` is the difference."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pid = server.pid
        self.cost: ServerCost | None = None

    def __enter__(self) -> "ServerMeter":
        self._begin = self._read()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cpu, written, status = self._read()
        begin_cpu, begin_written, begin = self._begin
        page_size = status.get("Innodb_page_size", 16384)

        def grown(name: str) -> int:
            return status.get(name, 0) - begin.get(name, 0)

        self.cost = ServerCost(
            cpu=round(cpu - begin_cpu, 2) if cpu is not None and begin_cpu is not None else None,
            written=written - begin_written if written is not None and begin_written is not None else None,
            data_written=grown("Innodb_data_written"),
            log_written=grown("Innodb_os_log_written"),
            dirty=status.get("Innodb_buffer_pool_pages_dirty", 0) * page_size,
        )

    def _read(self) -> tuple[float | None, int | None, dict[str, int]]:
        status = self._server.status()
        if self._pid is None:
            return None, None, status
        counters = dict(line.split(": ") for line in Path(f"/proc/{self._pid}/io").read_text().splitlines())
        return processor_seconds([self._pid]), int(counters["write_bytes"]), status


def cpu_of(server: Server, work: Callable[[], Result]) -> tuple[float, Result]:
    """Processor seconds of this process, its children and the server for the work, and the work's result."""
    with ServerMeter(server) as meter:
        before = sum(os.times()[:4])
        result = work()
        own = sum(os.times()[:4]) - before
    assert meter.cost
    return round(own + (meter.cost.cpu or 0), 2), result
