"""`millrace experiment`: repeats published measurements on a server of the user's. `bench/` does it, in a clone."""

import argparse
from importlib import import_module
from types import ModuleType
from typing import Any

from importer.engine.errors import Problem
from importer.management.base_command import PreparedCommand

# Not imported by name: the product does not need it, and an installation from a wheel does not have it.
HARNESS = "bench.experiments"


class Command(PreparedCommand):
    help = "Repeat the published measurements behind this project on a server of yours, from a clone (docs/lab.md)."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        try:
            _harness("arguments").add_arguments(parser)
        except Problem:
            parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run one verb. Raises Problem if this installation has no harness."""
        _harness("command").run_verb(self, **options)


def _harness(module: str) -> ModuleType:
    try:
        return import_module(f"{HARNESS}.{module}")
    except ModuleNotFoundError as error:
        if error.name not in ("bench", HARNESS):
            raise
        raise Problem(
            "The published measurements are not installed: they belong to the benchmark, which only a clone has.",
            advice="In a clone of Millrace's source, run `make setup`, then `scripts/millrace experiment list`.",
        ) from error
