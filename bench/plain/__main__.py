"""Counts plain files that are read otherwise than they were written, or asked about: python -m bench.plain [FILES]

It stops after the reading: no server is needed.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.plain.files import PlainFile, plain_files
from bench.plain.reading import fault
from bench.plain.writers import missing

FILES, SEED, SHOWN = 20_000, 51, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=int, nargs="?", default=FILES)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    faults: Counter[str] = Counter()
    first: dict[str, list[PlainFile]] = {}
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.csv"
        for each in plain_files(arguments.files, arguments.seed):
            if found := fault(each, path):
                faults[found] += 1
                first.setdefault(found, []).append(each)
    seconds = time.process_time() - begun
    if missing():
        print(f"Not installed, so that csv.writer stands in: {', '.join(missing())}")
    print(f"{arguments.files:,} files, {faults.total():,} not read rightly and unasked, {seconds:.1f} s")
    for name, count in faults.most_common():
        print(f"{count:6,}  {name}")
        for each in first[name][:SHOWN]:
            print(f"        {each.writer}: {each.content[:200]!r}")


if __name__ == "__main__":
    main()
