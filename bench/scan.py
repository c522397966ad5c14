"""Measures the speed of the scanner, in MB/s of processor time on one core: python -m bench.scan [MEGABYTES]

First records and line ends alone, then with every value checked against its column (exactness).
"""

import csv
import io
import json
import os
import random
import re
import resource
import string
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ScanPolicy, scan
from importer.engine.source.dialect import MYSQL_TSV, RFC4180, TSV, Dialect
from importer.engine.validation import FieldCheck, ValidationRules

CHUNK_BYTES = 32 * 1024 * 1024
ROUNDS = 5
SEED = 20261120

PLAIN = b"12345,some text here,2013-01-01 10:00:00,3.14159,AAA,,foo bar baz,99\n"
QUOTED = b'"12345","some text here","2013-01-01 10:00:00","3.14159","AAA","","foo bar baz","99"\n'
WORKLOADS: dict[str, tuple[bytes, Dialect]] = {
    "no quotes": (PLAIN, RFC4180),
    "no quotes, CR LF": (PLAIN.replace(b"\n", b"\r\n"), Dialect(line_end="\r\n")),
    "every field quoted": (QUOTED, RFC4180),
    "every field quoted, CR LF": (QUOTED.replace(b"\n", b"\r\n"), Dialect(line_end="\r\n")),
    "texts quoted, numbers not": (QUOTED.replace(b'"12345"', b"12345").replace(b'"99"', b"99"), RFC4180),
    "doubled quotes": (QUOTED.replace(b"text", b'""text""'), RFC4180),
    "quoted newlines": (QUOTED.replace(b"foo ", b"foo\n"), RFC4180),
    "UTF-8, not ASCII, no quotes": (PLAIN.replace(b"some text", "Grüße 東京".encode()), RFC4180),
    "UTF-8, not ASCII, quoted": (QUOTED.replace(b"some text", "Grüße, 東京".encode()), RFC4180),
    "tabs": (PLAIN.replace(b",", b"\t"), TSV),
    r"mysql, \N and escapes": (
        PLAIN.replace(b",,", rb",\N,").replace(b"text", rb"\\t").replace(b",", b"\t"),
        MYSQL_TSV,
    ),
    "a literal quote in every row": (PLAIN.replace(b"text", b'5" disk'), RFC4180),
}
NODES = ("bigint", "decimal(9,7)", "decimal(10,7)", "int", "datetime", "bigint", "bigint", "varchar(255)")
DOCUMENTS = ("int", "json", "int")
PRINTED = ("int", "datetime(6)", "timestamp", "double", "int")
INDEXED = (
    "int unsigned",
    "smallint unsigned",
    "varchar(20)",
    "varchar(30)",
    "varchar(40)",
    "varchar(255)",
    "varchar(254)",
)


def nodes(chance: random.Random, number: int) -> list[str]:
    """A row like OpenStreetMap's nodes: numbers, a time, a name."""
    moment = datetime(2007, 1, 1) + timedelta(seconds=chance.randrange(10**9))
    return [
        f"{10**6 + number}",
        f"{chance.uniform(-90, 90):.7f}",
        f"{chance.uniform(-180, 180):.7f}",
        f"{chance.randrange(1, 10)}",
        f"{moment:%Y-%m-%d %H:%M:%S}",
        f"{chance.randrange(10**7)}",
        f"{chance.randrange(10**6)}",
        f"user{chance.randrange(10**6)}",
    ]


def indexed(chance: random.Random, number: int) -> list[str]:
    """A row of random texts."""
    texts = ["".join(chance.choices(string.ascii_letters, k=length)) for length in (18, 25, 30, 40, 20)]
    return [f"{number}", f"{chance.randrange(65536)}", *texts]


def documents(chance: random.Random, number: int) -> list[str]:
    """A row with JSON as applications write it: names, numbers with every digit, an escape."""
    place = [round(chance.uniform(-90, 90), 6), chance.uniform(-180, 180)]
    names = {"id": number, "name": f"user {number}", "tags": ["a", "b", f"{number}"], "open": True, "note": None}
    return [f"{number}", json.dumps({**names, "place": place, "says": "some text, é"}), f"{number % 7}"]


def printed(chance: random.Random, number: int) -> list[str]:
    """A row as programs print it: fractions of a second, a T, every digit of a double, an integer with `.0`."""
    moment = datetime(2007, 1, 1) + timedelta(seconds=chance.randrange(10**9), microseconds=chance.randrange(10**6))
    return [
        f"{number}",
        f"{moment}",
        f"{moment:%Y-%m-%dT%H:%M:%S}",
        f"{chance.uniform(-180, 180)!r}",
        f"{number % 7}.0",
    ]


def sparse(chance: random.Random, number: int) -> list[str | None]:
    """A row of nodes with missing values, and names that contain quotes, backslashes or tabs."""
    *others, version, moment, changeset, uid, user = nodes(chance, number)
    name = chance.choice((user, f'{user}, "the second"', f"{user}\\{number}", f"{user}\tand {user}"))
    return [*others, version, *(None if chance.random() < 0.3 else each for each in (moment, changeset, uid, name))]


CHECKED: dict[str, tuple[Callable[[random.Random, int], list[str]], Sequence[str]]] = {
    "nodes": (nodes, NODES),
    "indexed": (indexed, INDEXED),
    "JSON": (documents, DOCUMENTS),
    "as programs print": (printed, PRINTED),
}


# How databases write rows with missing values.
WRITTEN = {
    "as MySQL exports it": MYSQL_TSV,
    "in quotes, with escapes": Dialect(escape="\\"),
    "as PostgreSQL exports it": Dialect(unquoted_empty_is_null=True),
    "delimiters at line ends": Dialect("|", quote="", trailing_delimiter=True),
}


def written(rows: Sequence[Sequence[str | None]], dialect: Dialect) -> bytes:
    """The rows in the dialect: special characters escaped, or fields quoted and quotes doubled; None as NULL."""

    def cell(value: str | None) -> str:
        if value is None:
            return r"\N" if dialect.escape else ""
        if dialect.escape:
            return dialect.quote + re.sub(r'[\\"\t\n]', r"\\\g<0>", value) + dialect.quote
        needed = dialect.quote and any(special in value for special in (dialect.delimiter, dialect.quote, "\n"))
        return '"' + value.replace('"', '""') + '"' if needed else value

    last = dialect.delimiter if dialect.trailing_delimiter else ""
    return "".join(dialect.delimiter.join(map(cell, row)) + last + dialect.line_end for row in rows).encode()


def megabytes_per_second(
    rows: bytes, dialect: Dialect, megabytes: int, types: Sequence[str] = (), *, markers: tuple[str, ...] | None = None
) -> float:
    """The best of ROUNDS scans of a file of this size, which stays in the page cache.

    `types` are the columns' types to check against; with `markers` (NULL markers) the columns are nullable.
    """
    nullable = markers is not None
    checks = tuple(FieldCheck(f"c{number}", type_, nullable, markers or ()) for number, type_ in enumerate(types))
    exactness = ValidationRules(dialect, checks, mariadb=False) if types else None
    with tempfile.TemporaryFile() as file:
        repeated = max(1, megabytes * 1_000_000 // len(rows))
        for _ in range(repeated):
            file.write(rows)
        file.flush()
        fd, size, times = file.fileno(), file.tell(), []
        for _ in range(ROUNDS):
            begun = time.process_time()
            chunks = list(scan(fd, dialect, ChunkSizes(CHUNK_BYTES), end=size, policy=ScanPolicy(exactness=exactness)))
            times.append(time.process_time() - begun)
            assert sum(chunk.length for chunk in chunks) == size == os.fstat(fd).st_size
            assert not any(chunk.suspect for chunk in chunks)
        return size / min(times) / 1e6


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name, (row, dialect) in WORKLOADS.items():
        speed = megabytes_per_second(row * 10_000, dialect, megabytes)
        print(f"{name:36} {speed:7,.0f} MB/s", flush=True)
    for name, (make, types) in CHECKED.items():
        chance = random.Random(SEED)
        rows = [make(chance, number) for number in range(20_000)]
        for quoted in ("", ", every field quoted"):
            text = io.StringIO(newline="")
            csv.writer(text, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL, lineterminator="\n").writerows(
                rows
            )
            speed = megabytes_per_second(text.getvalue().encode(), RFC4180, megabytes, types)
            print(f"{name + quoted + ', checked':36} {speed:7,.0f} MB/s", flush=True)
    chance = random.Random(SEED)
    missing = [sparse(chance, number) for number in range(20_000)]
    for name, dialect in WRITTEN.items():
        markers = () if dialect.escape or dialect.unquoted_empty_is_null else ("",)
        speed = megabytes_per_second(written(missing, dialect), dialect, megabytes, NODES, markers=markers)
        print(f"{name + ', checked':36} {speed:7,.0f} MB/s", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
