"""Let years of due times pass, with all that can happen to them: `python -m tests.faults.due_times 2`.

A schedule runs for some years in every zone whose clocks are moved (of those that are always moved alike, in one),
from a year on in which they are. Each due time must have run exactly once, or be on record as left out. A second word,
such as 1/2, takes the first of two halves of the zones: for two processes at once.
"""

import os
import sys
from pathlib import Path

import pytest


def main() -> int:
    """Let schedules run for this many years, in one part of the zones or in all."""
    os.environ["DUE_YEARS"], os.environ["DUE_PART"] = (*sys.argv[1:], *("1", "1/1")[len(sys.argv) - 1 :])[:2]
    return pytest.main(["-q", "-rP", "--timeout=0", str(Path(__file__).with_name("simulated_years.py"))])


if __name__ == "__main__":
    sys.exit(main())
