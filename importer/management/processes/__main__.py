"""`python -m importer.management.processes NAME` becomes that process: supervision.py and the containers start so."""

import os
import sys

from importer.management.processes.command_lines import COMMANDS, become

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
    sys.exit(f"usage: python -m importer.management.processes {'|'.join(COMMANDS)}")
become(COMMANDS[sys.argv[1]]())
