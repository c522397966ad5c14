"""The published experiments, as labs: `bench/` has them, in a clone of the source only."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from django.contrib.auth.models import User

from importer.engine.errors import Problem
from importer.models import Lab, Target

# Not imported by name: the product does not need it, and an installation from a wheel does not have it.
HARNESS = "bench.experiments"


def harness(module: str) -> ModuleType:
    """A module of the harness. Raises Problem if this installation has none."""
    try:
        return import_module(f"{HARNESS}.{module}")
    except ModuleNotFoundError as error:
        if error.name not in ("bench", HARNESS):
            raise
        raise Problem(
            "The published measurements are not installed: they belong to the benchmark, which only a clone has.",
            advice="In a clone of Millrace's source, run `make setup`, then `scripts/millrace experiment list`.",
        ) from error


def experiments() -> list[dict[str, Any]]:
    """What `experiment list --json` prints. Raises Problem as harness() does."""
    listed: list[dict[str, Any]] = harness("command").listed()
    return listed


def order(name: str, target: Target, user: User | None, *, size: str, ways: Sequence[str] = (), **others: Any) -> Lab:
    """Create the lab of an experiment, for the workers. It waits until start().

    `ways`: patterns of the names of those to run, none for all; `others`: fields of the harness's ExperimentRequest.
    Raises Problem as harness() does, and as the command does where an experiment cannot begin.
    """
    made: Lab = harness("command").order(name, target, user, size, ways, **others)
    return made


def run(lab: Lab) -> bool:
    """Run the lab of an experiment to its end, in a process of its own as that of the command. Returns False."""
    harness("in_worker").run(lab)
    return False
