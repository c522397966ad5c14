"""`millrace experiment`: repeats published measurements on a server of the user's. `bench/` does it, in a clone."""

import argparse
from typing import Any

from importer.engine.errors import Problem
from importer.lab.published import harness
from importer.management.base_command import PreparedCommand


class Command(PreparedCommand):
    help = "Repeat the published measurements behind this project on a server of yours, from a clone (docs/lab.md)."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        try:
            harness("arguments").add_arguments(parser)
        except Problem:
            parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run one verb. Raises Problem if this installation has no harness."""
        harness("command").run_verb(self, **options)
