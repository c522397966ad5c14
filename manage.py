#!/usr/bin/env python
"""Millrace's command line: `manage.py help` lists the commands."""

from config.command_line import main

if __name__ == "__main__":
    main()
