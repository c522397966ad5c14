"""What takes too long for every run of the tests.

`python -m tests.faults.hosts` tries 300 MB with every disturbance on every server there is (TEST_MYSQL_COMMAND for
MySQL); MEGABYTES says how many of them. `python -m tests.faults.hosts cost` compares the processor seconds of two hosts
with those of one (cost.py).
"""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def main() -> int:
    """Run what is named; the exit status of pytest."""
    if sys.argv[1:] == ["cost"]:
        return pytest.main(["-q", "--every-case", "-s", "--timeout=3600", str(HERE / "cost.py")])
    os.environ.setdefault("MEGABYTES", "300")
    return pytest.main(["-q", "--every-case", "-rP", "--timeout=1200", str(HERE.parent / "test_hosts.py")])


if __name__ == "__main__":
    sys.exit(main())
