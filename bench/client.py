"""A plain client in a process of its own: mysqlclient and the standard library, no more, so that its memory is its own.

`python -m bench.client` reads one task as JSON from its standard input, runs it, and prints as JSON what it took:
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

from importer.experiments import plain_inserts


class Clock:
    """Seconds since the load began. `committed` is told after each commit; `part` is around a part to be told apart."""

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
    """A connection as any program has it, but in UTC, which the files' times are in."""
    with closing(MySQLdb.connect(**address, charset="utf8mb4", local_infile=1, autocommit=autocommit)) as connection:
        connection.cursor().execute("SET SESSION time_zone = '+00:00'")
        yield connection


def run(
    clock: Clock, address: dict[str, Any], steps: list[list[str]], sessions: int, settings: dict, last: list[str]
) -> None:
    """One step after the other, the statements of each over so many sessions, each statement a transaction.

    Then the `last` ones, one by one, in a session with those of the `settings` that the server has.
    """
    for statements in steps:
        _share_out(clock, address, statements, sessions)
    if last:
        with clock.part("keys"), connected(address) as connection:
            cursor = connection.cursor()
            for name, value in settings.items():
                if cursor.execute("SHOW SESSION VARIABLES LIKE %s", (name,)):
                    cursor.execute(f"SET SESSION {name} = %s", (value,))
            for each in last:
                cursor.execute(each)


def _share_out(clock: Clock, address: dict[str, Any], statements: list[str], sessions: int) -> None:
    """Run the statements over so many sessions. Raises what the first one that failed has raised."""
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
    """INSERTs into one table after the other, each as inserts.Rows has it; commit_every 0: one commit a table."""
    with connected(address, autocommit=False) as connection:
        for table in tables:
            plain_inserts.insert(
                connection, plain_inserts.CsvRows(**table), rows_per_statement, commit_every, clock.committed
            )


def peak_mb(pid: str | int = "self") -> float:
    """The most memory (MB) that a process has had resident; 0 if it is gone.

    Not getrusage's: that begins with what the parent had when it forked.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = next((line for line in lines if line.startswith("VmHWM:")), "VmHWM: 0")
    return round(int(found.split()[1]) * 1024 / 1e6, 1)


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
