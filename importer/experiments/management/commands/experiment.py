"""`millrace experiment`: repeats published measurements on a server of the user's."""

from argparse import ArgumentParser
from typing import Any

from importer.experiments.management import arguments, command
from importer.management.base_command import PreparedCommand


class Command(PreparedCommand):
    help = "Repeat the published measurements behind this project on a server of yours (docs/lab.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|run")
        verbs.add_parser("list", help="the published measurements, with rows and times")
        arguments.add_run_arguments(verbs.add_parser("run", help="repeat one of them"))

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        {"list": command.show_list, "run": command.run_and_show}[verb](self, **options)
