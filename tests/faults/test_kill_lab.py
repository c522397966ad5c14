"""Kill the workers of a lab, or cancel it: no scratch table is left, nor anything else (random_moments.py: more)."""

from collections.abc import Callable

import pytest

from importer import lab
from tests.faults.trying import Trying
from tests.stack import Stack, wait_until

DONE, CANCELLED = "done", "cancelled"

# A moment of a lab's life, which is waited for.
MOMENTS: dict[str, Callable[[Trying], bool]] = {
    "a table is made": Trying.scratch_is_there,
    "rows are loaded": Trying.loads,
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_all_workers_are_killed(trying: Trying, stack: Stack, moment: str):
    trying.start()
    wait_until(lambda: MOMENTS[moment](trying), what=moment)
    for worker in (stack.load_worker, stack.control_worker):
        worker.kill()
        worker.start()
    assert trying.ends(DONE).trials.filter(status="done").count() == trying.lab.trials.count()


def test_cancelled_with_its_workers_dead(trying: Trying, stack: Stack):
    trying.start()
    wait_until(trying.loads, what="rows that are loaded")
    for worker in (stack.load_worker, stack.control_worker):
        worker.kill()
    lab.cancel(trying.lab.pk)
    for worker in (stack.load_worker, stack.control_worker):
        worker.start()
    trying.ends(CANCELLED)
