"""The methods of each kind of place."""

from collections.abc import Iterator
from typing import Protocol

from django.contrib.auth.models import User

from importer.connections.file_pattern import Pattern
from importer.connections.listing import ListedFile
from importer.engine.preflight.finding import Finding
from importer.models import SourceFile


class RemoteLocation(Protocol):
    """A connection's place. All methods raise SourceProblem, `retryable` where a later attempt may succeed.

    A kind that does not declare `moves` or `deletes` (connection_kind.py) has no such method.
    """

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """The files that match, sorted by name."""

    def fetch(self, found: ListedFile, user: User | None) -> SourceFile:
        """The file, READY to be imported. Raises SourceChanged if it has changed since it was found."""

    def move(self, found: ListedFile, folder: str) -> None:
        """Move it into a folder below the base; the folder is made. Never replaces another file. May be repeated."""

    def delete(self, found: ListedFile) -> None:
        """Remove it; may be repeated. Raises SourceChanged if another file has taken its place."""

    def check(self) -> Iterator[Finding]:
        """The findings about the place. Raises SourceProblem for one that ends the check."""
