"""manage.py, the command line of Django. `millrace` has its own: importer/management/command_line/."""

import os
import sys

from django.core.management import BaseCommand, ManagementUtility

from config import garbage
from config.frames import in_one_piece
from config.streams import guard_streams


class _Commands(ManagementUtility):
    """Django's commands, which look for garbage once the one to run is imported."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """The command of this name."""
        command = super().fetch_command(subcommand)
        garbage.resume()
        return command


@in_one_piece
def main() -> None:
    """Run the management command in sys.argv."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    guard_streams()
    garbage.pause()
    _Commands(sys.argv).execute()
