"""Files on an SFTP server, fetched in one stream.

The server's key must be the one whose fingerprint somebody has compared and confirmed; an address is checked before it
is connected to, as for the web.
"""

import base64
import hashlib
import io
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import paramiko
from django.contrib.auth.models import User

from importer import sources
from importer.addresses import connected
from importer.connections import host_key, kept
from importer.connections.folder import unfinished
from importer.connections.found import Found, by_name, require_few
from importer.connections.pattern import Pattern
from importer.engine.check.finding import Finding
from importer.engine.errors import SourceChanged, SourceProblem
from importer.models import SourceConnection, SourceFile

SILENCE = 30.0  # seconds without a byte
KEYS = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)


def open_place(connection: SourceConnection) -> "SftpServer":
    return SftpServer(connection)


class SftpServer:
    """What lies below sftp://HOST:PORT/PATH."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        parts = urlsplit(connection.base)
        self._host, self._port, self._base = parts.hostname or "", parts.port or 22, parts.path or "."

    def find(self, pattern: Pattern) -> list[Found]:
        """Regular files; links, hidden ones and those with the name of an unfinished one are left out."""
        found: list[Found] = []
        with self._explained(pattern.text), self._signed_in() as sftp:
            for each in self._walk(sftp, pattern.folders, pattern):
                found.append(each)
                require_few(len(found), self._connection.base)
        return by_name(found, self._connection.base)

    def _walk(self, sftp: Any, folders: tuple[str, ...], pattern: Pattern) -> Iterator[Found]:
        below = []
        with suppress(FileNotFoundError):  # The folder of a date that has not come.
            for entry in sftp.listdir_iter(self._path("/".join(folders))):
                name = "/".join((*folders, entry.filename))
                if unfinished(entry.filename):
                    continue
                if stat.S_ISDIR(entry.st_mode or 0):
                    below.append(entry.filename)
                elif stat.S_ISREG(entry.st_mode or 0) and pattern.matches(name):
                    yield _as_found(name, entry)
        for each in below:
            if pattern.may_lie_below((*folders, each)):
                yield from self._walk(sftp, (*folders, each), pattern)

    def fetch(self, found: Found, user: User | None) -> SourceFile:
        """A copy; the last one again if size and time are those of that."""
        before = kept.fetched_before(self._connection, found)
        if before and before.found_etag == found.etag:
            return before
        with self._explained(found.name), self._signed_in() as sftp:
            self._require_same(sftp, found)
            with sftp.open(self._path(found.name), "rb") as file:
                file.prefetch(found.size)
                source = kept.fetched(self._connection, found, _Stream(self, found.name, file), found.size, user)
            try:
                self._require_same(sftp, found)
            except SourceProblem:
                sources.remove(source)
                raise
            return source

    def move(self, found: Found, folder: str) -> None:
        to = f"{folder}/{found.name.rpartition('/')[2]}"
        with self._explained(found.name), self._signed_in() as sftp:
            there = self._stat(sftp, to)
            if there and not self._stat(sftp, found.name) and _as_found(to, there).etag == found.etag:
                return
            if there:
                raise SourceProblem(f"There is a {to} already.", self._connection.base, "Rename or remove one of them.")
            self._require_same(sftp, found)
            made = ""
            for part in folder.split("/"):
                made = f"{made}/{part}".lstrip("/")
                if not self._stat(sftp, made):
                    sftp.mkdir(self._path(made))
            # Not posix_rename(), which replaces what is there.
            sftp.rename(self._path(found.name), self._path(to))

    def delete(self, found: Found) -> None:
        with self._explained(found.name), self._signed_in() as sftp:
            if self._stat(sftp, found.name):
                self._require_same(sftp, found)
                sftp.remove(self._path(found.name))

    def check(self) -> Iterator[Finding]:
        with self._explained(""), self._transport() as transport:
            shown = fingerprint(transport.get_remote_server_key())
            if shown != self._connection.settings.get("host_key", ""):
                yield self._unknown_key(shown)
                return
            yield Finding(host_key.NAME, "ok", f"The server has the key that was confirmed: {shown}.")
            with self._session(transport) as sftp:
                count = sum(1 for _ in zip(range(10_000), sftp.listdir_iter(self._base), strict=False))
            yield Finding("connection", "ok", f"{self._connection.base} can be listed: {count:,} entries.")

    def _unknown_key(self, shown: str) -> Finding:
        return host_key.unknown(shown, self._connection.settings.get("host_key", ""))

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}".rstrip("/") or "/"

    def _stat(self, sftp: Any, name: str) -> Any:
        with suppress(FileNotFoundError):
            return sftp.lstat(self._path(name))
        return None

    def _require_same(self, sftp: Any, found: Found) -> None:
        seen = sftp.lstat(self._path(found.name))
        if not stat.S_ISREG(seen.st_mode or 0):
            raise SourceProblem("This is not a regular file.", self._where(found.name), "Only files are loaded.")
        if _as_found(found.name, seen).etag != found.etag:
            raise SourceChanged(
                "The file is no longer the one that was found.",
                self._where(found.name),
                "Whatever writes it should use another name until it is complete. It stays as it is.",
                retryable=True,
            )

    def _where(self, name: str) -> str:
        return f"{self._connection.base}/{name}".rstrip("/")

    @contextmanager
    def _signed_in(self) -> Iterator[Any]:
        with self._transport() as transport:
            shown = fingerprint(transport.get_remote_server_key())
            if shown != self._connection.settings.get("host_key", ""):
                finding = self._unknown_key(shown)
                raise SourceProblem(finding.message, self._connection.base, finding.fix)
            with self._session(transport) as sftp:
                yield sftp

    @contextmanager
    def _transport(self) -> Iterator[paramiko.Transport]:
        """An encrypted connection to the server, whoever that is: nobody has signed in."""
        with ExitStack() as opened:
            raw = opened.enter_context(
                connected(self._host, self._port, private_allowed=self._connection.private_allowed, seconds=SILENCE)
            )
            transport = paramiko.Transport(raw)
            opened.callback(transport.close)
            transport.start_client(timeout=SILENCE)
            yield transport

    @contextmanager
    def _session(self, transport: paramiko.Transport) -> Iterator[Any]:
        user, secrets = self._connection.settings.get("user", ""), self._connection.secrets
        if secrets.get("private_key"):
            transport.auth_publickey(user, self._private_key(secrets))
        else:
            transport.auth_password(user, secrets.get("password", ""))
        sftp = paramiko.SFTPClient.from_transport(transport)
        assert sftp
        with sftp:
            channel = sftp.get_channel()
            assert channel
            channel.settimeout(SILENCE)
            yield sftp

    def _private_key(self, secrets: dict[str, str]) -> paramiko.PKey:
        for kind in KEYS:
            with suppress(paramiko.SSHException, ValueError):
                return kind.from_private_key(io.StringIO(secrets["private_key"]), secrets.get("passphrase") or None)
        raise SourceProblem(
            "The private key cannot be read.",
            self._connection.base,
            "Enter it again, in OpenSSH's form, with its passphrase.",
        )

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        where = self._where(name)
        try:
            yield
        except paramiko.AuthenticationException as error:
            raise SourceProblem("The server refuses the account.", where, "Enter its credentials again.") from error
        except FileNotFoundError as error:
            raise SourceProblem("This is not there.", where, "Put it back, or correct the name.") from error
        except PermissionError as error:
            raise SourceProblem("The account may not do that.", where, "Let it read and change the folder.") from error
        except (OSError, EOFError, paramiko.SSHException) as error:
            said = str(error) or type(error).__name__
            raise SourceProblem(
                f"The server does not answer as it should: {said}.", where, "Try again later.", True
            ) from error


class _Stream:
    """A file's bytes; what goes wrong is said, not taken for their end."""

    def __init__(self, server: SftpServer, name: str, file: Any) -> None:
        self._server, self._name, self._file = server, name, file

    def read(self, size: int, /) -> bytes:
        with self._server._explained(self._name):
            data: bytes = self._file.read(size)
            return data


def fingerprint(key: paramiko.PKey) -> str:
    """As ssh-keygen -l writes it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def _as_found(name: str, entry: Any) -> Found:
    """SFTP tells no more of a version than size and time."""
    modified = datetime.fromtimestamp(entry.st_mtime, UTC) if entry.st_mtime is not None else None
    return Found(name, entry.st_size, modified, f"{entry.st_size}-{entry.st_mtime}")
