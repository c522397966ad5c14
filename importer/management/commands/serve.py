"""`millrace serve`: the pages, the API and the workers, until Ctrl-C."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from importer.management.argument_types import bounded
from importer.management.base_command import CheckedCommand
from importer.management.processes.serving import alone, serving
from importer.management.processes.supervision import Stopped
from importer.management.processes.web_address import address, use_port


class Command(CheckedCommand):
    help = "Serve the pages and the API, and run the workers and schedules, until Ctrl-C, which stops all of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=bounded(1, 65535), metavar="N", help=f"of the pages (default {settings.PORT}, or PORT)"
        )

    def handle(self, *_args: Any, port: int | None, **_options: Any) -> None:
        """Serve until a stop signal. Raises Problem if it cannot start."""
        if port:
            use_port(port)
        try:
            with alone(), serving(write=self._write) as supervisor:
                self._write(f"\nMillrace serves {address()}   (Ctrl-C stops it; logs: {settings.VAR_DIR / 'log'})\n")
                supervisor.wait_for_stop()
        except Stopped:
            return

    def _write(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()
