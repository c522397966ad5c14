"""A copy of a file in a folder that the server may load files from."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.methods import FROM_FILE

PREFIX = "millrace-experiment-"


@contextmanager
def server_copy(address: Address, path: Path) -> Iterator[Path]:
    """Copy the file to where the server reads it, for as long as the `with` block lasts. Raises TargetProblem."""
    with connect(address) as connection:
        server = read_server(connection, address)
    FROM_FILE.require(server)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_folder(server)))
    try:
        copy = folder / path.name
        shutil.copyfile(path, copy)
        # MariaDB takes only files that everybody may read (manual, LOAD DATA INFILE).
        copy.chmod(0o644)
        folder.chmod(0o755)
        yield copy
    finally:
        shutil.rmtree(folder)


def _folder(server: Server) -> str:
    """The folder that server and this process share. Raises TargetProblem if there is none."""
    if shared := settings.SERVER_FILES_DIR or server.shared_folder:
        return shared
    if server.local and server.variables.get("secure_file_priv") == "":
        return tempfile.gettempdir()
    raise TargetProblem(
        "There is no folder that the server may load files from and that this machine can write into.",
        advice="Set SERVER_FILES_DIR to one, inside the server's secure_file_priv"
        f" ({server.variables.get('secure_file_priv', '') or 'any folder'}); both must see it under one path.",
    )
