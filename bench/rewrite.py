"""Measures the speed of rewriting records in the feed, in MB/s on one core: python -m bench.rewrite [MEGABYTES]"""

import sys
import time

from bench.scan import PLAIN, QUOTED
from importer.engine.feed.feed import BLOCK
from importer.engine.feed.rewriter import rewritten
from importer.engine.source.dialect import Dialect

ROUNDS = 5

WORKLOADS: dict[str, tuple[bytes, Dialect]] = {
    "mixed line ends, no quotes": (PLAIN + PLAIN.replace(b"\n", b"\r\n"), Dialect(line_end="any")),
    "mixed line ends, every field quoted": (QUOTED + QUOTED.replace(b"\n", b"\r\n"), Dialect(line_end="any")),
    "empty is NULL, no quotes": (PLAIN, Dialect(unquoted_empty_is_null=True)),
    "empty is NULL, every field quoted": (QUOTED, Dialect(unquoted_empty_is_null=True)),
    "quotes escaped, every field quoted": (QUOTED.replace(b"text", b'te\\"xt'), Dialect(escape="quote")),
    "delimiter not ASCII, no quotes": (PLAIN.replace(b",", "§".encode()), Dialect(delimiter="§")),
}


def megabytes_per_second(row: bytes, dialect: Dialect, megabytes: int) -> float:
    """The best of ROUNDS rounds."""
    data = row * (megabytes * 1_000_000 // len(row))
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        pieces = (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))
        for _piece in rewritten(dialect)(pieces):
            pass
        times.append(time.process_time() - begun)
    return len(data) / min(times) / 1e6


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    for name, (row, dialect) in WORKLOADS.items():
        print(f"{name:36} {megabytes_per_second(row, dialect, megabytes):7,.0f} MB/s", flush=True)


if __name__ == "__main__":
    main()
