"""Disturb imports whose keys are off, again and again, at random moments: `python -m tests.faults.indexes 50`.

On every server there is (TEST_MYSQL_COMMAND for MySQL). Each time the table must have exactly the keys that it had.
RANDOM_FAULTS_WITHIN=SECONDS says how long such an import takes here, undisturbed.
"""

import os
import sys
from pathlib import Path

import pytest


def main() -> int:
    """Try this many times on each server."""
    os.environ["RANDOM_FAULTS"] = sys.argv[1] if len(sys.argv) > 1 else "10"
    return pytest.main(
        ["-q", "--every-case", "-rP", "--timeout=300", str(Path(__file__).with_name("random_moments.py"))]
    )


if __name__ == "__main__":
    sys.exit(main())
