"""The files of an import: those of this machine are uploaded, addresses and files of a connection are named."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import filterfalse
from pathlib import Path
from typing import Any

from importer.engine.errors import Cancelled, Problem
from importer.management.command_line.remote.problems import PROBLEMS
from importer.management.import_options import check_named
from importer.management.terminal.follow.progress import Amounts, Progress
from importer.sources.local_files import local_files
from millrace_client.api import Millrace
from millrace_client.problems import ServerProblem

CONTINUED = "The same command continues it; the server removes what has arrived if nothing more of it does."
IN_USE = 409  # the status of a file that an import reads
STANDARD_INPUT = "-"
DATABASE_SCHEMES = ("mysql://", "mariadb://")


def named_files(names: Sequence[str], connection: str, server_file: str = "") -> dict[str, Any]:
    """The files that the server fetches itself, as a request names them; {} for those of this machine.

    `server_file`: the path of one on the target's host. Raises Problem for a database that is named by an address, for
    two kinds of files, and for none.
    """
    check_named(names, connection, server_file)
    if server_file:
        return {"server_file": server_file}
    if databases := [each for each in names if each.startswith(DATABASE_SCHEMES)]:
        raise Problem(
            "A server loads into its own targets, not into a database that is named by an address.",
            databases[0].partition("://")[0] + "://",
            "Add --to TARGET and --table TABLE; `target list` has the targets.",
        )
    if connection:
        return {"connection": connection, "paths": list(names)}
    addresses = [each for each in names if "://" in each]
    if not addresses:
        return {}
    if len(names) > 1:
        raise Problem("An address stands with other files.", addresses[0], "Import the file at the address by itself.")
    return {"address": addresses[0]}


class Uploads:
    """The files of this machine that a command has uploaded."""

    def __init__(self, millrace: Millrace, quiet: bool) -> None:
        """`quiet`: without a progress line."""
        self._millrace, self._quiet = millrace, quiet
        self._keys: list[str] = []

    @property
    def own(self) -> bool:
        """Whether there are any, and no other command or page may use one of them."""
        return bool(self._keys) and not any(map(self._millrace.is_shared, self._keys))

    def send(self, names: Sequence[str]) -> dict[str, Any]:
        """Upload them, as a request names them. Raises Problem; what has arrived is removed then."""
        try:
            for name in names:
                if name == STANDARD_INPUT:
                    self._keys.append(self._send_standard_input())
                else:
                    self._keys += [self._send(path) for path in local_files(name)]
        except KeyboardInterrupt as interrupt:
            self.remove()
            raise Cancelled("Ctrl-C ended the upload before an import began.", advice=CONTINUED) from interrupt
        except BaseException:
            self.remove()
            raise
        return {"file": self._keys[0]} if len(self._keys) == 1 else {"files": self._keys}

    def remove(self) -> None:
        """Delete them on the server, where no import reads them; those that others may use stay."""
        for key in filterfalse(self._millrace.is_shared, self._keys):
            try:
                self._millrace.remove_upload(key)
            except PROBLEMS as problem:
                sys.stderr.write(f"An upload stays on the server until it expires: {problem}\n")
        self._keys.clear()

    def take_back(self) -> list[int]:
        """Delete them, which are `own`, on the server, unless imports read them; the numbers of these, in order."""
        imports: set[int] = set()
        for key in self._keys:
            try:
                self._millrace.remove_upload(key)
            except ServerProblem as problem:
                if problem.status != IN_USE:
                    raise
                imports |= set(self._millrace.call("show_file", file=key)["imports"])
        self._keys.clear()
        return sorted(imports)

    def _send(self, path: Path) -> str:
        progress = Progress(self._quiet)
        try:
            return self._millrace.upload(path, self._look(progress, path.name, path))
        finally:
            progress.close()

    def _send_standard_input(self) -> str:
        """Upload standard input, whose size is only known when all of it is here."""
        with tempfile.NamedTemporaryFile() as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
            return self._millrace.upload_from(file.file, "stdin")

    def _look(self, progress: Progress, name: str, path: Path) -> Callable[[int], None]:
        size = path.stat().st_size if path.is_file() else 0
        return lambda arrived: progress.show_amounts(name, Amounts(arrived, size, 0), "uploading")
