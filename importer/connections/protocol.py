"""What each kind of place can do."""

from collections.abc import Iterator
from typing import Protocol

from django.contrib.auth.models import User

from importer.connections.file_pattern import Pattern
from importer.connections.listing import Found
from importer.engine.preflight.finding import Finding
from importer.models import SourceFile


class Place(Protocol):
    """A connection's place. All raise SourceProblem, `retryable` where a later try may well do."""

    def find(self, pattern: Pattern) -> list[Found]:
        """The files that match, sorted by name."""

    def fetch(self, found: Found, user: User | None) -> SourceFile:
        """The file, READY to be imported. Raises SourceChanged if it is no longer what was found."""

    def move(self, found: Found, folder: str) -> None:
        """Put it into a folder below the base, which is made; never over another file. Moved already is fine."""

    def delete(self, found: Found) -> None:
        """Remove it. Gone already is fine. Raises SourceChanged if another one has taken its place."""

    def check(self) -> Iterator[Finding]:
        """What can be said of the place; raises what stops it."""
