"""The command line: manage.py in a checkout, `millrace` in an installation by pip."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the management command in sys.argv."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    execute_from_command_line(sys.argv)
