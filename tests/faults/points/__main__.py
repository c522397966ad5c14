"""Try every fault, and other hands, at every point, on all servers: `python -m tests.faults.points [--write]`.

`--write` puts the matrices into docs/faults.md. Further arguments are pytest's.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from tests.faults.points import matrix
from tests.faults.points.hands import ACTIONS
from tests.faults.points.table import FAULTS
from tests.stack import ROOT

# As in tests/conftest.py, which only pytest can import.
FLAVOURS = ["mariadb", "mysql"] if os.environ.get("TEST_MYSQL_COMMAND") else ["mariadb"]
TESTS = ("tests/faults/points/test_points.py", "tests/faults/points/test_hands.py")


def main() -> int:
    """Run the tests, print the matrices, and return 1 if one of them failed."""
    write, arguments = "--write" in sys.argv, [each for each in sys.argv[1:] if each != "--write"]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        reports = {flavour: Path(folder) / f"{flavour}.xml" for flavour in FLAVOURS}
        running = [_start(flavour, report, arguments) for flavour, report in reports.items()]
        statuses = [each.wait() for each in running]
        results = {key: value for report in reports.values() for key, value in _results(report).items()}
    table, of_hands = matrix.written(results, FLAVOURS), matrix.written_hands(results, FLAVOURS)
    counts = {each: list(results.values()).count(each) for each in (matrix.HELD, matrix.SKIPPED, matrix.BROKEN)}
    print(table, of_hands, sep="\n")
    print(f"{len(results)} cases in {(time.monotonic() - began) / 60:.1f} minutes: {counts}")
    if write:
        matrix.show(f"{table}\n{matrix.legend()}")
        matrix.show(f"{of_hands}\n{matrix.legend_of_hands()}", matrix.HANDS_PART)
    return int(any(statuses))


def _start(flavour: str, report: Path, arguments: list[str]) -> "subprocess.Popen[bytes]":
    """The tests on one kind of server, with a folder and a database of their own."""
    env = {name: value for name, value in os.environ.items() if name != "VAR_DIR"} | {"FAULTS": "all"}
    if flavour == "mariadb":  # Otherwise these tests would start and stop the other ones' server.
        env["TEST_MYSQL_COMMAND"] = ""
    command = [sys.executable, "-m", "pytest", "-q", *TESTS, "-k", flavour, f"--junitxml={report}", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=env)


def _results(report: Path) -> dict[tuple[str, str, str], str]:
    if not report.exists():
        return {}
    results = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name", "").partition("[")[2].removesuffix("]")
        flavour, _, rest = name.partition("-")
        point, _, fault = rest.partition("-")
        if fault not in FAULTS and fault not in ACTIONS:
            continue
        broken = case.find("failure") is not None or case.find("error") is not None
        skipped = matrix.SKIPPED if case.find("skipped") is not None else matrix.HELD
        results[flavour, point, fault] = matrix.BROKEN if broken else skipped
    return results


if __name__ == "__main__":
    sys.exit(main())
