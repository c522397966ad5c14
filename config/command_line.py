"""manage.py, the command line of Django. `millrace` has its own: importer/management/command_line/."""

import os
import sys

from django.core.management import execute_from_command_line

from config.streams import guard_streams


def main() -> None:
    """Run the management command in sys.argv."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    guard_streams()
    execute_from_command_line(sys.argv)
