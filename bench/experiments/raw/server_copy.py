"""A copy of a file in a folder that the server may load files from."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.plan.methods import FROM_FILE, METHODS

PREFIX = "millrace-experiment-"
# A pipe needs such a folder, too.
FROM_PIPE = next(method for method in METHODS.values() if method.from_pipe)


@contextmanager
def server_copy(address: Address, path: Path) -> Iterator[Path]:
    """Copy the file to where the server reads it, for as long as the `with` block lasts. Raises TargetProblem.

    A link next to the file leads to the copy: if this process is killed, the lab's clean-up removes both.
    """
    with connect(address) as connection:
        server = replace(read_server(connection, address), files_dir=settings.SERVER_FILES_DIR)
    FROM_FILE.require(server)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_folder(server)))
    link = path.with_name(f"{path.name}.copy")
    try:
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
        copy = folder / path.name
        shutil.copyfile(path, copy)
        # MariaDB takes only files that everybody may read (manual, LOAD DATA INFILE).
        copy.chmod(0o644)
        folder.chmod(0o755)
        yield copy
    finally:
        shutil.rmtree(folder)
        link.unlink(missing_ok=True)


def _folder(server: Server) -> str:
    """The folder that server and this process share. Raises TargetProblem if there is none."""
    if server.local and not server.shared_folder and server.variables.get("secure_file_priv") == "":
        return tempfile.gettempdir()
    FROM_PIPE.require(server)
    return server.shared_folder
