"""The command line, as manage.py in a checkout and as `millrace` where Millrace is installed with pip."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the command that the arguments name."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    execute_from_command_line(sys.argv)
