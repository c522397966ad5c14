"""Measures the cost of each check: whole imports with one setting changed, compared with the defaults.

    python -m bench.checks --server mysql://root@127.0.0.1:3306/ --rows 2000000 --rounds 5

Two cannot be switched off: the digest of the sent bytes, whose cost is noted, and that of values (see bench.scan).
"""

import hashlib
import time

import xxhash

from bench import settings
from bench.comparison import comparison
from bench.files import Files
from bench.rounds import Case
from bench.ways import way
from bench.workloads import WORKLOADS

SETTINGS = ("verify=full", "on_error=reject", "rounding=reject")
USUAL = ("nodes", "mixed", "indexed")


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=USUAL, metavar="NAME")
    parser.add_argument("--settings", nargs="+", default=SETTINGS, metavar="NAME=VALUE", help="the settings to compare")
    arguments = parser.parse_args()
    with comparison("checks", arguments, baseline={"way": "millrace"}) as compared:
        for name in arguments.workloads:
            files = compared.files(name, WORKLOADS[name], settings.rows_of(WORKLOADS[name], arguments))
            compared.results.made["notes"].append(_digest_note(name, files))
            ways = [way(each) for each in ("millrace", *(f"millrace:{setting}" for setting in arguments.settings))]
            compared.measure([Case(name, files, each) for each in ways], parts=len(arguments.workloads))
    print(compared.report())


def _digest_note(name: str, files: Files) -> str:
    begun = time.process_time()
    for table in files.workload.tables:
        with files.whole(table).open("rb") as file:
            hashlib.file_digest(file, xxhash.xxh3_64)
    seconds = time.process_time() - begun
    return f"{name}: reading the file and its digest (xxh3-64) take {seconds:.2f} s of processor time."


if __name__ == "__main__":
    main()
