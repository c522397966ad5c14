"""Files on an SFTP server, fetched in one stream.

The server's key must have the fingerprint that a person has compared and confirmed (host_key.py). The address is
checked before it is connected to, as for web servers.
"""

import base64
import hashlib
import io
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import paramiko

from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile, findings_of_names
from importer.connections.protocols import host_key
from importer.connections.protocols.file_server import SILENCE, FileServer
from importer.connections.protocols.folder import is_left_out
from importer.connections.protocols.sftp_client import SftpClient
from importer.engine.errors import NoConnection, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection
from importer.security import outbound_waits
from importer.security.outbound_addresses import connect_checked
from importer.sources.parts import Stream

PORT = 22
KEYS = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)


def open_location(connection: SourceConnection) -> "SftpServer":
    return SftpServer(connection)


class SftpServer(FileServer):
    """The files below sftp://HOST:PORT/PATH."""

    def _walk(self, sftp: Any, folders: tuple[str, ...], pattern: Pattern) -> Iterator[ListedFile]:
        below = []
        with suppress(FileNotFoundError):
            for entry in sftp.listdir_iter(self._path("/".join(folders))):
                name = "/".join((*folders, entry.filename))
                if is_left_out(entry.filename):
                    continue
                if stat.S_ISDIR(entry.st_mode or 0):
                    below.append(entry.filename)
                elif stat.S_ISREG(entry.st_mode or 0) and pattern.matches(name):
                    yield _listed_file(name, entry)
        for each in below:
            if pattern.may_lie_below((*folders, each)):
                yield from self._walk(sftp, (*folders, each), pattern)

    def _require_base(self, session: Any) -> None:
        session.stat(self._path(""))

    def _seen(self, session: Any, name: str) -> ListedFile | None:
        with suppress(FileNotFoundError):
            entry = session.lstat(self._path(name))
            if stat.S_ISREG(entry.st_mode or 0):
                return _listed_file(name, entry)
        return None

    @contextmanager
    def _opened(self, session: Any, file: ListedFile) -> Iterator[Stream]:
        with session.open(self._path(file.name), "rb") as stream:
            stream.prefetch(file.size)
            yield stream

    def _folders(self, session: Any, folder: tuple[str, ...]) -> list[str]:
        entries = session.listdir_iter(self._path("/".join(folder)))
        return [each.filename for each in entries if stat.S_ISDIR(each.st_mode or 0)]

    def _head(self, session: Any, file: ListedFile, size: int) -> bytes:
        with session.open(self._path(file.name), "rb") as stream:
            return bytes(stream.read(size))

    def _make_folder(self, session: Any, name: str) -> None:
        try:
            session.lstat(self._path(name))
        except FileNotFoundError:
            session.mkdir(self._path(name))

    def _rename(self, session: Any, name: str, to: str) -> None:
        # Not posix_rename(), which replaces an existing file.
        session.rename(self._path(name), self._path(to))

    def _remove(self, session: Any, name: str) -> None:
        session.remove(self._path(name))

    def check(self) -> Iterator[Finding]:
        with self._translated_errors(""), self._transport() as transport:
            shown = fingerprint(transport.get_remote_server_key())
            if shown != self._connection.settings.get("host_key", ""):
                yield self._unknown_key(shown)
                return
            yield Finding(host_key.NAME, "ok", f"The server has the key that was confirmed: {shown}.")
            with self._session(transport) as sftp:
                names = [each.filename for each in islice(sftp.listdir_iter(self._path("")), 10_000)]
            yield Finding("connection", "ok", f"{self._connection.base} can be listed: {len(names):,} entries.")
            yield from findings_of_names(names)

    def _unknown_key(self, shown: str) -> Finding:
        return host_key.unconfirmed_key_finding(shown, self._connection.settings.get("host_key", ""))

    def _path(self, name: str) -> str:
        """The path of a name below the base. A base without a path is the account's home folder."""
        return f"{self._base or '.'}/{name}".rstrip("/") or "/"

    @contextmanager
    def _signed_in(self) -> Iterator[Any]:
        with self._transport() as transport:
            self._require_known(transport)
            with self._session(transport) as sftp:
                yield sftp

    def _require_known(self, transport: paramiko.Transport) -> None:
        """Raise SourceProblem unless a person has confirmed the key that the server shows."""
        shown = fingerprint(transport.get_remote_server_key())
        if shown != self._connection.settings.get("host_key", ""):
            finding = self._unknown_key(shown)
            raise SourceProblem(finding.message, self._connection.base, finding.fix)

    def _prepare(self, transport: paramiko.Transport) -> None:
        """Set up the connection before the server is spoken to."""

    @contextmanager
    def _transport(self) -> Iterator[paramiko.Transport]:
        """An encrypted connection to the server, before the host key is checked and without signing in."""
        with ExitStack() as opened:
            raw = opened.enter_context(
                connect_checked(
                    self._host, self._port or PORT, private_allowed=self._connection.private_allowed, seconds=SILENCE
                )
            )
            transport = paramiko.Transport(raw)
            opened.callback(transport.close)
            self._prepare(transport)
            transport.start_client(timeout=SILENCE)
            yield transport

    @contextmanager
    def _session(self, transport: paramiko.Transport) -> Iterator[Any]:
        self._sign_in(transport)
        sftp = SftpClient.from_transport(transport)
        assert sftp
        with sftp:
            channel = sftp.get_channel()
            assert channel
            channel.settimeout(SILENCE)
            outbound_waits.answered()
            yield sftp

    def _sign_in(self, transport: paramiko.Transport) -> None:
        user, secrets = self._connection.settings.get("user", ""), self._connection.secrets
        if secrets.get("private_key"):
            transport.auth_publickey(user, self._private_key(secrets))
        else:
            transport.auth_password(user, secrets.get("password", ""))

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
    def _errors_of_library(self, name: str) -> Iterator[None]:
        where = self._where(name)
        try:
            yield
        except paramiko.AuthenticationException as error:
            raise NoConnection("The server refuses the account.", where, "Enter its credentials again.") from error
        except FileNotFoundError as error:
            raise SourceProblem("This is not there.", where, "Put it back, or correct the name.") from error
        except PermissionError as error:
            raise SourceProblem("The account may not do that.", where, "Let it read and change the folder.") from error
        except (OSError, EOFError, UnicodeError, paramiko.SSHException) as error:
            raise self._broken(error, name) from error


def fingerprint(key: paramiko.PKey) -> str:
    """The key's fingerprint in the format of ssh-keygen -l."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def _listed_file(name: str, entry: Any) -> ListedFile:
    """The entry as a ListedFile. Its etag is size and time: SFTP has no other version."""
    modified = datetime.fromtimestamp(entry.st_mtime, UTC) if entry.st_mtime is not None else None
    return ListedFile(name, entry.st_size, modified, f"{entry.st_size}-{entry.st_mtime}")
