"""What is the same of servers whose folders are listed and whose files are fetched in one stream: SFTP and FTP."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User

from importer.connections import download
from importer.connections.file_pattern import Pattern
from importer.connections.listing import ListedFile, refuse_too_many, sorted_by_name
from importer.engine.errors import SourceChanged, SourceProblem
from importer.models import SourceConnection, SourceFile
from importer.sources import uploads
from importer.sources.uploads import Stream

SILENCE = 30.0  # seconds without a byte


class FileServer(ABC):
    """What lies below SCHEME://HOST:PORT/PATH. A session is what the library signs in with."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        parts = urlsplit(connection.base)
        self._host, self._port = parts.hostname or "", parts.port
        self._scheme, self._base = parts.scheme, parts.path

    @abstractmethod
    def _signed_in(self) -> AbstractContextManager[Any]:
        """A session, at an address that was checked."""

    @abstractmethod
    def _translated_errors(self, name: str) -> AbstractContextManager[None]:
        """What the library raises over a file, as SourceProblem."""

    @abstractmethod
    def _walk(self, session: Any, folders: tuple[str, ...], pattern: Pattern) -> Iterator[ListedFile]:
        """The files that match in a folder, and below it as far as they may lie there."""

    @abstractmethod
    def _seen(self, session: Any, name: str) -> ListedFile | None:
        """The file as it is now; None if there is none, or if it is something else."""

    @abstractmethod
    def _opened(self, session: Any, found: ListedFile) -> AbstractContextManager[Stream]:
        """The file's bytes; leaving raises if they were not all."""

    @abstractmethod
    def _make_folder(self, session: Any, name: str) -> None:
        """Make a folder in one that is there. That it is there itself is fine."""

    @abstractmethod
    def _rename(self, session: Any, name: str, to: str) -> None: ...

    @abstractmethod
    def _remove(self, session: Any, name: str) -> None: ...

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """Files; links, hidden ones and those with the name of an unfinished one are left out."""
        found: list[ListedFile] = []
        with self._translated_errors(pattern.text), self._signed_in() as session:
            for each in self._walk(session, pattern.folders, pattern):
                found.append(each)
                refuse_too_many(len(found), self._connection.base)
        return sorted_by_name(found, self._connection.base)

    def fetch(self, found: ListedFile, user: User | None) -> SourceFile:
        """A copy; the last one again if size and time are those of that."""
        before = download.latest_copy(self._connection, found)
        if before and found.etag and before.found_etag == found.etag:
            return before
        source = None
        with self._translated_errors(found.name), self._signed_in() as session:
            self._require_same(session, found)
            try:
                with self._opened(session, found) as stream:
                    told = _TranslatedStream(self, found.name, stream)
                    source = download.copy_stream(self._connection, found, told, found.size, user)
                self._require_same(session, found)
            except BaseException:
                if source:
                    uploads.remove(source)
                raise
            return source

    def move(self, found: ListedFile, folder: str) -> None:
        to = f"{folder}/{found.name.rpartition('/')[2]}"
        with self._translated_errors(found.name), self._signed_in() as session:
            there = self._seen(session, to)
            if there and there.etag == found.etag and not self._seen(session, found.name):
                return
            if there:
                raise SourceProblem(f"There is a {to} already.", self._connection.base, "Rename or remove one of them.")
            self._require_same(session, found)
            made = ""
            for part in folder.split("/"):
                made = f"{made}/{part}".lstrip("/")
                self._make_folder(session, made)
            self._rename(session, found.name, to)

    def delete(self, found: ListedFile) -> None:
        with self._translated_errors(found.name), self._signed_in() as session:
            if self._seen(session, found.name):
                self._require_same(session, found)
                self._remove(session, found.name)

    def _require_same(self, session: Any, found: ListedFile) -> None:
        seen = self._seen(session, found.name)
        if not seen:
            raise SourceProblem("This is not there.", self._where(found.name), "Put it back, or correct the name.")
        if (seen.size, seen.etag) != (found.size, found.etag):
            raise SourceChanged(
                "The file is no longer the one that was found.",
                self._where(found.name),
                "Whatever writes it should use another name until it is complete. It stays as it is.",
                retryable=True,
            )

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}".rstrip("/") or "/"

    def _where(self, name: str) -> str:
        return f"{self._connection.base}/{name}".rstrip("/")

    def _broken(self, error: Exception, name: str) -> SourceProblem:
        """What may well be mended by a later try."""
        said = str(error) or type(error).__name__
        what = f"The server does not answer as it should: {said}."
        return SourceProblem(what, self._where(name), "Try again later.", retryable=True)


class _TranslatedStream:
    """A stream that tells what goes wrong, instead of taking it for the end."""

    def __init__(self, server: FileServer, name: str, stream: Stream) -> None:
        self._server, self._name, self._stream = server, name, stream

    def read(self, size: int, /) -> bytes:
        with self._server._translated_errors(self._name):
            return self._stream.read(size)
