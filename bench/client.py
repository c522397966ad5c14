"""A plain client in a process of its own. It imports little more than mysqlclient, so its memory is that of the load.

`python -m bench.client` reads one task as JSON from its standard input, runs it, and prints its cost as JSON. A task is
{"call": one of CALLS, "address": MySQLdb.connect's arguments, "arguments": those of the call}.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import MySQLdb
from MySQLdb.connections import Connection

from bench import plain_inserts


class Clock:
    """Measures seconds since the load began. Call `committed` after each commit; `part` times a named part."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self.first_row: float | None = None
        self.parts: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._begun

    def committed(self) -> None:
        if self.first_row is None:
            self.first_row = self.seconds

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        begun = self.seconds
        yield
        self.parts[name] = round(self.parts.get(name, 0) + self.seconds - begun, 4)


@contextmanager
def connected(address: dict[str, Any], *, autocommit: bool = True) -> Iterator[Connection]:
    """An ordinary connection with the session's time zone set to UTC, as the files' times are in UTC."""
    with closing(MySQLdb.connect(**address, charset="utf8mb4", local_infile=1, autocommit=autocommit)) as connection:
        connection.cursor().execute("SET SESSION time_zone = '+00:00'")
        yield connection


def run(
    clock: Clock,
    address: dict[str, Any],
    steps: list[list[str]],
    sessions: int,
    settings: dict[str, int],
    last: list[str],
) -> None:
    """Run the steps one after another; share the statements of each over `sessions`, each statement a transaction.

    Then run the `last` statements one by one, in a session with those of the `settings` that the server has.
    """
    for statements in steps:
        _run_parallel(clock, address, statements, sessions)
    if last:
        with clock.part("keys"), connected(address) as connection:
            cursor = connection.cursor()
            for name, value in settings.items():
                if cursor.execute("SHOW SESSION VARIABLES LIKE %s", (name,)):
                    cursor.execute(f"SET SESSION {name} = %s", (value,))
            for each in last:
                cursor.execute(each)


def _run_parallel(clock: Clock, address: dict[str, Any], statements: list[str], sessions: int) -> None:
    """Run the statements over `sessions` connections. Raises the error of the first statement that failed."""
    waiting: Queue[str] = Queue()
    for each in statements:
        waiting.put(each)
    failures: list[BaseException] = []

    def session() -> None:
        try:
            with connected(address) as connection:
                while not failures:
                    connection.cursor().execute(waiting.get_nowait())
                    clock.committed()
        except Empty:
            return
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=session) for _ in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def insert(
    clock: Clock, address: dict[str, Any], tables: list[dict[str, Any]], rows_per_statement: int, commit_every: int
) -> None:
    """INSERT into one table after another (plain_inserts.CsvRows); commit_every 0: one commit for each table."""
    with connected(address, autocommit=False) as connection:
        for table in tables:
            plain_inserts.insert(
                connection, plain_inserts.CsvRows(**table), rows_per_statement, commit_every, clock.committed
            )


def peak_mb(pid: str | int = "self") -> float:
    """The largest resident memory (MB) of a process so far (VmHWM); 0 if it is gone.

    getrusage is not used, because its value starts with the parent's memory at the fork.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    peak = next((line for line in lines if line.startswith("VmHWM:")), "VmHWM: 0")
    return round(int(peak.split()[1]) * 1024 / 1e6, 1)


CALLS: dict[str, Callable[..., None]] = {"run": run, "insert": insert}


def main() -> None:
    task = json.load(sys.stdin)
    cpu_before = time.process_time()
    clock = Clock()
    CALLS[task["call"]](clock, task["address"], **task["arguments"])
    seconds = clock.seconds
    took = {
        "seconds": seconds,
        "first_row": clock.first_row,
        "cpu": time.process_time() - cpu_before,
        "parts": clock.parts,
        "peak_mb": peak_mb(),
    }
    print(json.dumps(took))


if __name__ == "__main__":
    main()
