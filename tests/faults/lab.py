"""Disturb labs again and again, at random moments: `python -m tests.faults.lab 50`.

On every server there is (TEST_MYSQL_COMMAND for MySQL). Each time the lab must come to its end and leave nothing.
RANDOM_FAULTS_WITHIN=SECONDS says how long such a lab takes here, undisturbed.
"""

import os
import sys
from pathlib import Path

import pytest


def main() -> int:
    """Try this many times on each server."""
    os.environ["RANDOM_FAULTS"] = sys.argv[1] if len(sys.argv) > 1 else "10"
    os.environ.setdefault("RANDOM_FAULTS_WITHIN", "5")
    return pytest.main(["-q", "--every-case", "-rP", "--timeout=300", str(Path(__file__).with_name("lab_moments.py"))])


if __name__ == "__main__":
    sys.exit(main())
