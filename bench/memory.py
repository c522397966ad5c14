"""Measures the peak memory of Millrace's processes: a large file, 1 GB of rejected rows, cells of 60 MB.

    python -m bench.memory                                              private servers, everything: an hour
    python -m bench.memory --size 50M --cases large "cell, rejected"    some of it

Each case is a whole import through Celery, as `make run` does it, in the same processes as the cases before. The result
is the largest resident memory in MB of a process of each kind (VmHWM). A load, scan or control worker may take MOST
plus the case's largest cell once. Prints one JSON document to stdout and each figure to stderr as soon as it is known;
ends with an error if a worker took more.
"""

import gzip
import json
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle, repeat
from pathlib import Path
from typing import Any

from bench import application, settings
from bench.meter import process_tree, reset_peak
from bench.servers import Server, servers_to_measure
from bench.ways.millrace import ended, peaks
from bench.workloads.table import SEED
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from importer.engine.units import MIB

MOST = 120  # MB of a process, for any file
SAMPLE_EVERY = 0.05  # seconds
WORKERS = ("load workers", "scan and control workers")
TABLE = "memory"
CELL = 60_000_000
# For private servers: they refuse a cell larger than this (manual, max_allowed_packet).
SERVER_OPTIONS = ("--max-allowed-packet=256M",)

REJECT = Options(on_error="reject")
UPSERT = Options(mode="upsert")
NOTE = "id BIGINT, value INT, note "

# Makes the records of a file of about this number of bytes.
Records = Callable[[int], Iterator[bytes]]


@dataclass(frozen=True)
class Case:
    """A file and the columns of its table. `largest` limits the file's size (bytes); `cell` is the size of one cell."""

    records: Records
    columns: str
    options: Options = field(default_factory=Options)
    dialect: Dialect = field(default_factory=Dialect)
    cell: int = 0
    largest: int | None = None
    packed: bool = False


def again(record: bytes) -> Records:
    """Repeat one record."""
    many = record * (MIB // len(record))
    return lambda size: repeat(many, max(1, size // len(many)))


def of_many_counts(size: int) -> Iterator[bytes]:
    """Records of 4 to 2,000 fields."""
    for count in cycle(range(4, 2001)):
        if size <= 0:
            return
        size -= 2 * count
        yield b",".join(repeat(b"1", count)) + b"\n"


def shuffled(size: int) -> Iterator[bytes]:
    """Records with random keys."""
    keys = random.Random(SEED)
    while size > 0:
        lines = [b"%d,2,an ordinary note that is as long as most\n" % keys.getrandbits(60) for _ in range(10_000)]
        yield (block := b"".join(lines))
        size -= len(block)


def with_cells(*cells: bytes, note: bytes = b"an ordinary note that is as long as most") -> Records:
    """Each of these cells, written as in the file, in a record between many ordinary ones."""

    def records(_: int) -> Iterator[bytes]:
        for number, cell in enumerate((*cells, note)):
            lines = [b"%d,2,%b\n" % (key, note) for key in range(number, 10**6, 50)]
            yield from lines
            yield from (b"%d,2," % (-number - 1), cell, b"\n")

    return records


def alone(cell: bytes) -> Records:
    return lambda _: iter((b"1,2,", cell, b"\n"))


PLAIN = b"The quick brown fox jumps over the lazy dog. " * (CELL // 45)
QUOTED = b'"' + b'The quick ""brown"" fox,\njumps over the lazy dog.\n' * (CELL // 50) + b'"'
DOCUMENT = b'"[' + b'{""fox"": ""quick\\nand brown"", ""dogs"": [1.5, null]}, ' * (CELL // 55) + b'0]"'
ACCENTED = PLAIN.replace(b"q", b"\xe9")
CELLS = with_cells(PLAIN, QUOTED)
ORDINARY = again(b"1234567,2,a note that is as long as those of most other rows are or about so\n")
WRONG = again(b"1234567,three,a note that is as long as those of most other rows are or about so\n")
NEGATIVE = again(b"1234567,-2,a note that is as long as those of most other rows are or about so\n")
KEYED = "id BIGINT PRIMARY KEY, value INT, note LONGTEXT"
KEYED_JSON = KEYED.replace("LONGTEXT", "JSON")
SHORT = NOTE + "LONGTEXT, CHECK (LENGTH(note) < 100)"
INSERTED, PREPARED = Options(method="insert"), Options(method="insert_prepared")
VERIFIED = Options(verify="full")
SORTED, CP1252, UTF16 = Options(sort="key"), Dialect(encoding="cp1252"), Dialect(encoding="utf-16")
SOME, FEW = 400 * MIB, 10 * MIB

CASES = {
    "large": Case(ORDINARY, NOTE + "TEXT"),
    "large, packed": Case(ORDINARY, NOTE + "TEXT", packed=True, largest=SOME),
    "large, UTF-16": Case(ORDINARY, NOTE + "TEXT", dialect=UTF16, largest=SOME),
    "large, cp1252": Case(again(b"1234567,2,a n\xf6te\n"), NOTE + "TEXT", dialect=CP1252, largest=SOME),
    "large, sorted": Case(shuffled, KEYED, SORTED, largest=SOME),
    "large, inserted": Case(ORDINARY, NOTE + "TEXT", INSERTED, largest=SOME),
    "large, prepared": Case(ORDINARY, NOTE + "TEXT", PREPARED, largest=SOME),
    "large, verified": Case(shuffled, KEYED, VERIFIED, largest=SOME),
    "short rows": Case(again(b"1\n"), "value INT", largest=2 * FEW),
    "rejects": Case(WRONG, NOTE + "TEXT", REJECT),
    "rejects of many kinds": Case(of_many_counts, NOTE + "TEXT", REJECT),
    "rejects by the server": Case(NEGATIVE, NOTE + "TEXT, CHECK (value > 0)", REJECT, largest=SOME),
    "rejects, short rows": Case(again(b"x\n"), "value INT", REJECT, largest=FEW),
    "cell": Case(alone(PLAIN), NOTE + "LONGTEXT", cell=CELL),
    "cell, quoted": Case(alone(QUOTED), NOTE + "LONGTEXT", cell=CELL),
    "cells": Case(CELLS, NOTE + "LONGTEXT", cell=CELL),
    "cells, blobs": Case(CELLS, NOTE + "LONGBLOB", cell=CELL),
    "cells, packed": Case(CELLS, NOTE + "LONGTEXT", cell=CELL, packed=True),
    "cells, cp1252": Case(with_cells(ACCENTED, QUOTED), NOTE + "LONGTEXT", dialect=CP1252, cell=CELL),
    "cells, JSON": Case(with_cells(DOCUMENT, note=b"[1]"), NOTE + "JSON", cell=CELL),
    "cells, inserted": Case(CELLS, NOTE + "LONGTEXT", INSERTED, cell=CELL),
    "cells, prepared": Case(CELLS, NOTE + "LONGTEXT", PREPARED, cell=CELL),
    "cells, verified": Case(CELLS, KEYED, VERIFIED, cell=CELL),
    "cells, JSON, verified": Case(with_cells(DOCUMENT, note=b"[1]"), KEYED_JSON, VERIFIED, cell=CELL),
    "cells, rejected": Case(CELLS, NOTE + "TEXT", REJECT, cell=CELL),
    "cells, rejected by the server": Case(CELLS, SHORT, REJECT, cell=CELL),
    "cells, sorted": Case(CELLS, KEYED, SORTED, cell=CELL),
    "cells, upserted": Case(CELLS, KEYED, UPSERT, cell=CELL),
    "cells, any line end": Case(CELLS, NOTE + "LONGTEXT", dialect=Dialect(line_end="any"), cell=CELL),
}  # fmt: skip


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help="; ".join(CASES))
    parser.set_defaults(size=1536 * MIB)
    arguments = parser.parse_args()
    state = application.set_up(arguments.folder)
    options = [*settings.server_options(arguments), *SERVER_OPTIONS]
    with ExitStack() as stack:
        servers = stack.enter_context(servers_to_measure(arguments.server, arguments.folder / "servers", options))
        supervisor = stack.enter_context(application.serving())
        results = [
            each for name in arguments.cases for each in _of_case(name, servers, supervisor, state, arguments.size)
        ]
    shutil.rmtree(state)
    print(json.dumps(results, indent=1))
    if any(not each["within"] for each in results):
        sys.exit(f"A worker took more than {MOST} MB and the largest cell.")


def _of_case(name: str, servers: list[Server], supervisor: int, state: Path, size: int) -> Iterator[dict[str, Any]]:
    case = CASES[name]
    path = state / "memory.csv"
    _write(path, case, min(size, case.largest or size))
    for server in servers:
        begun = time.perf_counter()
        job, taken = _import(server, path, case, supervisor)
        seconds = round(time.perf_counter() - begun, 1)
        most = MOST + case.cell / 1e6
        within = job.balanced and all(taken[role] <= most for role in WORKERS)
        result = {"server": server.name, "case": name, "bytes": path.stat().st_size, "loaded": job.loaded_rows,
                 "rejected": job.rejected_rows, "seconds": seconds, "peaks": taken, "most": most, "within": within,
                 "problem": str(job.problem.get("what", ""))[:200]}  # fmt: skip
        print(result, file=sys.stderr, flush=True)
        yield result
    path.unlink()


def _write(path: Path, case: Case, size: int) -> None:
    names = b"value\n" if case.columns.startswith("value") else b"id,value,note\n"
    with gzip.open(path, "wb", compresslevel=1) if case.packed else path.open("wb") as out:
        for record in (names, *case.records(size)):
            out.write(record.decode().encode("utf-16-le") if case.dialect.encoding.startswith("utf-16") else record)


def _import(server: Server, path: Path, case: Case, supervisor: int) -> tuple[Any, dict[str, float]]:
    """Import the file; return the ended job and the peaks (MB) of Millrace's processes by role."""
    from importer.jobs.actions import commands
    from importer.preparation.prepare import prepare
    from importer.preparation.request import ImportRequest
    from importer.sources import uploads

    with connect(server.address) as connection:
        execute(connection, f"DROP TABLE IF EXISTS {TABLE}")
        execute(connection, f"CREATE TABLE {TABLE} ({case.columns}) CHARACTER SET utf8mb4")
    target = application.saved_target(server)
    prepared = prepare(uploads.register(path), target, TABLE, ImportRequest(dialect=case.dialect, options=case.options))
    with _PeakMonitor(supervisor) as monitor:
        job = commands.create(prepared)
        commands.start(job.pk)
        job = ended(job.pk)
    return job, monitor.peaks


class _PeakMonitor:
    """Records during a `with` the peaks of a process and all below it, including those that Celery ends."""

    def __init__(self, supervisor: int) -> None:
        self._supervisor = supervisor
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.peaks: dict[str, float] = {}

    def __enter__(self) -> "_PeakMonitor":
        for pid in process_tree(self._supervisor):
            reset_peak(pid)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        over = False
        while not over:
            over = self._ended.wait(SAMPLE_EVERY)
            now = peaks(process_tree(self._supervisor))
            self.peaks = {role: max(self.peaks.get(role, 0), now.get(role, 0)) for role in self.peaks | now}


if __name__ == "__main__":
    main()
