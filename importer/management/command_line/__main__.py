"""`python -m importer.management.command_line` is `millrace` (scripts/millrace, in a checkout)."""

from importer.management.command_line.main import main

main()
