"""The package `millrace` of an installed wheel: it finds Millrace's own packages, and starts the command.

They lie in `millrace/app`, because `config`, `dashboard` and `importer` are names that other packages have, too. The
wheel of a release has mysqlclient in `millrace/mysqlclient`, for some versions of Python.
"""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Run the words in sys.argv. Ends with the exit code of the command, or 2 for wrong usage."""
    places = [str(FOLDER / "app")]
    driver = FOLDER / "mysqlclient"
    # For another Python pip has installed mysqlclient from its sources.
    if (driver / "MySQLdb" / f"_mysql{EXTENSION_SUFFIXES[0]}").is_file():
        places.append(str(driver))
    sys.path[:0] = places
    # For the processes that it starts.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*places, os.environ.get("PYTHONPATH"))))
    from importer.management.command_line.main import main as run

    run()
