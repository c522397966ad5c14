"""Let years of due times pass, with all that can happen to them: `python -m tests.faults.due_times 100 2`.

So many schedules live for so many years each, in another zone each, from 1998 on. Each due time must have run exactly
once, or be on record as left out.
"""

import os
import sys
from pathlib import Path

import pytest


def main() -> int:
    """Let so many schedules live for so many years."""
    os.environ["DUE_SCHEDULES"], os.environ["DUE_YEARS"] = (*sys.argv[1:], *("10", "1")[len(sys.argv) - 1 :])[:2]
    return pytest.main(["-q", "-rP", "--timeout=0", str(Path(__file__).with_name("simulated_years.py"))])


if __name__ == "__main__":
    sys.exit(main())
