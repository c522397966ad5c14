"""The common part of SFTP and FTP: servers that list folders and send each file in one stream."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User

from importer.connections import download
from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile, as_text, refuse_too_many, sorted_by_name
from importer.connections.protocols.folder import is_left_out
from importer.engine.errors import NoConnection, SourceChanged, SourceProblem
from importer.models import SourceConnection, SourceFile
from importer.security.outbound_waits import awaiting_file, own_work, talking
from importer.sources import uploads
from importer.sources.parts import Stream

SILENCE = 30.0  # seconds without a byte


class FileServer(ABC):
    """The files below SCHEME://HOST:PORT/PATH. A session is the library's object for a signed-in connection."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        parts = urlsplit(connection.base)
        self._host, self._port = parts.hostname or "", parts.port
        self._scheme, self._base = parts.scheme, parts.path

    @abstractmethod
    def _signed_in(self) -> AbstractContextManager[Any]:
        """A session, on a connection to a checked address."""

    @abstractmethod
    def _errors_of_library(self, name: str) -> AbstractContextManager[None]:
        """Raises the library's errors about the file as SourceProblem."""

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        """Bounds what the place may take, and raises errors about the file as SourceProblem."""
        with talking(self._where(name)), self._errors_of_library(name):
            yield

    @abstractmethod
    def _walk(self, session: Any, folders: tuple[str, ...], pattern: Pattern) -> Iterator[ListedFile]:
        """The matching files of a folder and of those folders below it that can contain some.

        A folder that does not exist, such as one for a later date, is taken for empty.
        """

    @abstractmethod
    def _require_base(self, session: Any) -> None:
        """Raises the library's error if the base does not exist."""

    @abstractmethod
    def _seen(self, session: Any, name: str) -> ListedFile | None:
        """The file as it is now; None if it does not exist or is not a regular file."""

    @abstractmethod
    def _opened(self, session: Any, file: ListedFile) -> AbstractContextManager[Stream]:
        """The file's bytes. Leaving the context raises an error if the transfer was incomplete."""

    @abstractmethod
    def _folders(self, session: Any, folder: tuple[str, ...]) -> list[str]:
        """The names of the folders in a folder."""

    @abstractmethod
    def _head(self, session: Any, file: ListedFile, size: int) -> bytes:
        """The first `size` bytes of the file. The session is not used afterwards."""

    @abstractmethod
    def _make_folder(self, session: Any, name: str) -> None:
        """Create a folder whose parent exists. Does nothing if the folder exists."""

    @abstractmethod
    def _rename(self, session: Any, name: str, to: str) -> None: ...

    @abstractmethod
    def _remove(self, session: Any, name: str) -> None: ...

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """The matching regular files, without hidden files, links and names of unfinished files."""
        files: list[ListedFile] = []
        with self._translated_errors(pattern.text), self._signed_in() as session:
            for each in self._walk(session, pattern.folders, pattern):
                files.append(each)
                refuse_too_many(len(files), self._connection.base)
            if not files:
                with self._translated_errors(""):
                    self._require_base(session)
        return sorted_by_name(files, self._connection.base)

    def folders(self, folder: tuple[str, ...]) -> list[str]:
        """The names of the folders in a folder, without hidden ones and links."""
        with self._translated_errors("/".join(folder)), self._signed_in() as session:
            return sorted(each for each in self._folders(session, folder) if not is_left_out(each))

    def seen(self, name: str) -> ListedFile | None:
        with self._translated_errors(name), self._signed_in() as session:
            return self._seen(session, name)

    def head(self, file: ListedFile, size: int) -> bytes:
        with self._translated_errors(file.name), self._signed_in() as session:
            self._require_same(session, file)
            return self._head(session, file, size)

    def fetch(self, file: ListedFile, user: User | None) -> SourceFile:
        """A copy of the file; the user's latest copy if size and time have not changed since."""
        before = download.latest_copy(self._connection, file, user)
        if before and file.etag and before.found_etag == file.etag:
            return before
        source = None
        with self._translated_errors(file.name), self._signed_in() as session:
            self._require_same(session, file)
            try:
                with self._opened(session, file) as stream, own_work():
                    translated = _TranslatedStream(self, file.name, stream)
                    source = download.copy_stream(self._connection, file, translated, file.size, user)
                self._require_same(session, file)
            except BaseException:
                if source:
                    uploads.remove(source)
                raise
            return source

    def move(self, file: ListedFile, folder: str) -> str:
        to = f"{folder}/{file.name.rpartition('/')[2]}"
        with self._translated_errors(file.name), self._signed_in() as session:
            there = self._seen(session, to)
            if there and there.etag == file.etag and not self._seen(session, file.name):
                return file.etag
            if there:
                raise SourceProblem(f"There is a {to} already.", self._connection.base, "Rename or remove one of them.")
            self._require_same(session, file)
            path = ""
            for part in folder.split("/"):
                path = f"{path}/{part}".lstrip("/")
                self._make_folder(session, path)
            self._rename(session, file.name, to)
        return file.etag

    def delete(self, file: ListedFile) -> None:
        with self._translated_errors(file.name), self._signed_in() as session:
            if self._seen(session, file.name):
                self._require_same(session, file)
                self._remove(session, file.name)

    def _require_same(self, session: Any, file: ListedFile) -> None:
        seen = self._seen(session, file.name)
        if not seen:
            raise SourceProblem("This is not there.", self._where(file.name), "Put it back, or correct the name.")
        if (seen.size, seen.etag) != (file.size, file.etag):
            raise SourceChanged(
                "The file is no longer the one that was found.",
                self._where(file.name),
                "Its writer should use another name until the file is complete. The file stays as it is.",
                retryable=True,
            )

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}".rstrip("/") or "/"

    def _where(self, name: str) -> str:
        return f"{self._connection.base}/{name}".rstrip("/")

    def _broken(self, error: Exception, name: str) -> NoConnection:
        """The problem of an error that a later attempt may not meet."""
        reason = as_text(str(error)) or type(error).__name__
        what = f"The server does not answer as it should: {reason}."
        return NoConnection(what, self._where(name), "Try again later.", retryable=True)


def read_up_to(stream: Stream, size: int) -> bytes:
    """The next `size` bytes of a stream, or all up to its end."""
    data = bytearray()
    while len(data) < size and (piece := stream.read(size - len(data))):
        data += piece
    return bytes(data)


class _TranslatedStream:
    """A stream whose errors are raised as SourceProblem: as OSError they would look like its end."""

    def __init__(self, server: FileServer, name: str, stream: Stream) -> None:
        self._server, self._name, self._stream = server, name, stream

    def read(self, size: int, /) -> bytes:
        with awaiting_file(), self._server._errors_of_library(self._name):
            return self._stream.read(size)
