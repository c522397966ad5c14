"""Real workers that stop at armed points."""

from collections.abc import Iterator

import pytest

from tests.faults.points.stopped import Points
from tests.stack import Stack

SWEEP = 0.5


@pytest.fixture(scope="module")
def armed(
    request: pytest.FixtureRequest, processes: Stack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Points]:
    """A stack whose processes stop at armed points, with leases as long as the module says."""
    folder = tmp_path_factory.mktemp("failpoints")
    for name in ("armed", "busy"):
        (folder / name).mkdir()
    env = {
        "DJANGO_SETTINGS_MODULE": "tests.faults.points.settings",
        "FAILPOINTS": str(folder),
        "LEASE_SECONDS": str(request.module.LEASE),
        "SWEEP_SECONDS": str(SWEEP),
    }
    # One more child than can stop at the same time, and one for the sweep.
    with processes.workers_with(5, **env):
        yield Points(folder, processes)
