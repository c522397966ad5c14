"""Reads a remote file without a local copy."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from importer.engine.errors import SourceProblem
from importer.engine.source.byte_source import Readable
from importer.models import SourceConnection


@dataclass(frozen=True)
class RemoteFile:
    """Version `etag` of the file at `path`. The connection and its secrets are read when the file is opened."""

    connection_id: int
    path: str
    etag: str

    def __str__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def open(self) -> AbstractContextManager[Readable]:
        """Open the file. Raises SourceProblem if it cannot be read, SourceChanged if another file has replaced it."""
        connection = SourceConnection.objects.get(pk=self.connection_id)
        if not self.path.startswith(f"{connection.base}/"):
            raise SourceProblem(
                f"The connection {connection} leads elsewhere by now: to {connection.base}.",
                self.path,
                "Let it lead there again, or look for the file again.",
            )
        from importer.connections.connection_kinds import open_location  # Few imports read a remote file.

        location = open_location(connection)
        name = self.path.removeprefix(f"{connection.base}/")
        opened: AbstractContextManager[Readable] = location.opened(name, self.etag)
        return opened
