"""How fast the scanner reads, in MB/s on one core: python -m bench.scan [MEGABYTES]"""

import resource
import sys
import tempfile
import time

from importer.engine.dialect import MYSQL_TSV, RFC4180, TSV, Dialect
from importer.engine.scanner import scan

CHUNK_BYTES = 32 * 1024 * 1024
ROUNDS = 5

PLAIN = b"12345,some text here,2013-01-01 10:00:00,3.14159,AAA,,foo bar baz,99\n"
QUOTED = b'"12345","some text here","2013-01-01 10:00:00","3.14159","AAA","","foo bar baz","99"\n'
WORKLOADS: dict[str, tuple[bytes, Dialect]] = {
    "no quotes": (PLAIN, RFC4180),
    "no quotes, CR LF": (PLAIN.replace(b"\n", b"\r\n"), Dialect(line_end="\r\n")),
    "every field quoted": (QUOTED, RFC4180),
    "every field quoted, CR LF": (QUOTED.replace(b"\n", b"\r\n"), Dialect(line_end="\r\n")),
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


def megabytes_per_second(row: bytes, dialect: Dialect, megabytes: int) -> float:
    """The best of some rounds over a file of that size, which stays in the page cache."""
    with tempfile.TemporaryFile() as file:
        rows = megabytes * 1_000_000 // len(row)
        for _ in range(100):
            file.write(row * (rows // 100))
        file.flush()
        size = file.tell()
        times = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            chunks = list(scan(file.fileno(), dialect, start=0, first_line=1, end=size, chunk_bytes=CHUNK_BYTES))
            times.append(time.perf_counter() - begun)
            assert sum(chunk.rows for chunk in chunks) == rows // 100 * 100
            assert sum(chunk.length for chunk in chunks) == size
        return size / min(times) / 1e6


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name, (row, dialect) in WORKLOADS.items():
        print(f"{name:32} {megabytes_per_second(row, dialect, megabytes):7,.0f} MB/s", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
