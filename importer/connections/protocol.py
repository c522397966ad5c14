"""The interface of each connection's protocol."""

from collections.abc import Iterator
from typing import Protocol

from django.contrib.auth.models import User

from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile
from importer.engine.preflight.finding import Finding
from importer.models import SourceFile


class RemoteLocation(Protocol):
    """The files below a connection's base. All methods raise SourceProblem, `retryable` if a later attempt may succeed.

    A kind whose declaration (connection_kind.py) has `moves` or `deletes` off does not have that method.
    """

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """The files that match, sorted by name."""

    def folders(self, folder: tuple[str, ...]) -> list[str]:
        """The names of the folders in a folder below the base, sorted; none where the server gives no list."""

    def seen(self, name: str) -> ListedFile | None:
        """The file of this name as it is now; None if there is none."""

    def head(self, file: ListedFile, size: int) -> bytes:
        """The first `size` bytes of the file, or all if it has fewer. Makes no copy."""

    def fetch(self, file: ListedFile, user: User | None) -> SourceFile:
        """The file as a READY source. Raises SourceChanged if it has changed since it was listed."""

    def move(self, file: ListedFile, folder: str) -> str:
        """Move the file into a folder below the base, which is created. Never replaces another file. Idempotent.

        Returns its etag there.
        """

    def delete(self, file: ListedFile) -> None:
        """Remove the file. Idempotent. Raises SourceChanged if another file has its name."""

    def check(self) -> Iterator[Finding]:
        """The findings of a check of the connection. Raises SourceProblem for one that ends the check."""
