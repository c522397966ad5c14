"""Where the token of `millrace --server` comes from. It is never an argument: others see those."""

import getpass
import os
import sys
from pathlib import Path

from importer.engine.errors import Problem

VARIABLE = "MILLRACE_TOKEN"


def token_from(file: Path | None) -> str:
    """The token in the file, in MILLRACE_TOKEN, or as it is entered on a terminal. Raises Problem without one."""
    if file:
        return _in_file(file)
    if text := os.environ.get(VARIABLE, "").strip():
        return text
    if sys.stdin.isatty() and sys.stderr.isatty() and (text := getpass.getpass("Token: ", sys.stderr).strip()):
        return text
    raise Problem(
        "There is no token.",
        advice=f"Put it into {VARIABLE}, or into a file and add --token-file FILE. Create one under Your account on the"
        " server's pages.",
    )


def _in_file(path: Path) -> str:
    try:
        text = path.read_text().strip()
    except (OSError, UnicodeError) as error:
        raise Problem("The file with the token cannot be read.", str(path), "Name a readable one.") from error
    if path.stat().st_mode & 0o077:
        raise Problem("Others may read the file with the token.", str(path), f"Forbid it: chmod 600 {path}")
    if not text or len(text.split()) > 1:
        raise Problem("The file has no token, or more than that.", str(path), "Put the token alone into it.")
    return text
