"""Lists the kinds of connections. A new kind is a declaration in kinds/, its protocol, and one line here."""

from importlib import import_module
from typing import Any

from importer.connections.connection_kind import ConnectionKind
from importer.connections.kinds import folder, ftp, http, s3, sftp
from importer.engine.errors import SourceProblem
from importer.models import SourceConnection

# In the order of the pages; the first is a form's default.
KINDS: tuple[ConnectionKind, ...] = (
    folder.KIND,
    http.KIND,
    s3.KIND,
    sftp.KIND,
    ftp.KIND,
)
BY_NAME = {kind.name: kind for kind in KINDS}
BY_SCHEME = {scheme: kind for kind in KINDS for scheme in kind.schemes}


def kind_of(connection: SourceConnection) -> ConnectionKind:
    """The connection's kind. Raises SourceProblem if it is not listed."""
    if connection.kind not in BY_NAME:
        names = ", ".join(BY_NAME)
        raise SourceProblem(f"There is no kind of connection {connection.kind}.", advice=f"There are {names}.")
    return BY_NAME[connection.kind]


def open_location(connection: SourceConnection) -> Any:
    """The connection's RemoteLocation (protocol.py). Imports the kind's protocol module at its first use."""
    return import_module(kind_of(connection).module).open_location(connection)


def examples() -> str:
    """An example address for each kind, as a phrase."""
    *others, last = (kind.example for kind in KINDS)
    return f"{', '.join(others)} or {last}"
