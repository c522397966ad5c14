"""Files on an FTP server, fetched in one stream; over TLS where the address begins with ftps.

An address is checked before it is connected to, as for the web, and files come from that same address, whatever another
one the server names for them.
"""

import ftplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.contrib.auth.models import User

from importer import sources
from importer.addresses import certificates, connected
from importer.connections import kept
from importer.connections.folder import unfinished
from importer.connections.found import Found, by_name, require_few
from importer.connections.pattern import Pattern
from importer.engine.check.finding import Finding
from importer.engine.errors import SourceChanged, SourceProblem
from importer.models import SourceConnection, SourceFile

PORT, TLS_FROM_THE_START = 21, 990
SILENCE = 30.0  # seconds without a byte
# RFC 959, 4.2: not signed in; not there, or not allowed; a command that the server does not know.
NOT_SIGNED_IN, UNAVAILABLE, UNKNOWN = "530", "550", ("500", "501", "502", "504")
# What a server tells of a file, by these names (RFC 3659, 7.5); the time of its last change in UTC.
FACTS = ("type", "size", "modify")
Facts = dict[str, str]


def open_place(connection: SourceConnection) -> "FtpServer":
    return FtpServer(connection)


class FtpServer:
    """What lies below ftp://HOST:PORT/PATH, or ftps://."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        parts = urlsplit(connection.base)
        self._host, self._port = parts.hostname or "", parts.port or PORT
        self._encrypted, self._base = parts.scheme == "ftps", parts.path

    def find(self, pattern: Pattern) -> list[Found]:
        """Files; links, hidden ones and those with the name of an unfinished one are left out."""
        found: list[Found] = []
        with self._explained(pattern.text), self._signed_in() as ftp:
            for each in self._walk(ftp, pattern.folders, pattern):
                found.append(each)
                require_few(len(found), self._connection.base)
        return by_name(found, self._connection.base)

    def _walk(self, ftp: ftplib.FTP, folders: tuple[str, ...], pattern: Pattern) -> Iterator[Found]:
        below = []
        for entry, facts in self._listed(ftp, folders):
            name = "/".join((*folders, entry))
            if unfinished(entry):
                continue
            if facts.get("type") == "dir":
                below.append(entry)
            elif pattern.matches(name) and (found := _as_found(name, facts) if facts else self._seen(ftp, name)):
                yield found
        for each in below:
            if pattern.may_lie_below((*folders, each)):
                yield from self._walk(ftp, (*folders, each), pattern)

    def _listed(self, ftp: ftplib.FTP, folders: tuple[str, ...]) -> list[tuple[str, Facts]]:
        """Names in a folder with what is known of each: nothing, where a server is older than MLSD (RFC 3659, 7).

        A folder below the base that is not there, as that of a date that has not come, has none.
        """
        path = self._path("/".join(folders))
        try:
            return list(ftp.mlsd(path, list(FACTS)))
        except ftplib.error_perm as error:
            if folders and _code(error) == UNAVAILABLE:
                return []
            if _code(error) not in UNKNOWN:
                raise
        try:
            return [(name.rpartition("/")[2], {}) for name in ftp.nlst(path)]
        except ftplib.error_perm as error:
            if _code(error) == UNAVAILABLE:  # Servers say so of an empty folder, too.
                return []
            raise

    def _seen(self, ftp: ftplib.FTP, name: str) -> Found | None:
        """The file as it is now; None if there is none, or if it is something else."""
        path = self._path(name)
        try:
            answer = ftp.sendcmd(f"MLST {path}")
        except ftplib.error_perm as error:
            if _code(error) == UNAVAILABLE:
                return None
            if _code(error) not in UNKNOWN:
                raise
            return self._measured(ftp, name, path)
        entry = next((line.strip() for line in answer.splitlines() if line.startswith(" ")), "")
        return _as_found(name, dict(fact.partition("=")[::2] for fact in entry.partition("; ")[0].lower().split(";")))

    def _measured(self, ftp: ftplib.FTP, name: str, path: str) -> Found | None:
        """The same of a server without MLST, which tells the size of files only."""
        ftp.voidcmd("TYPE I")  # As a text it would have another one.
        try:
            facts = {"type": "file", "size": str(ftp.size(path))}
        except ftplib.error_perm as error:
            if _code(error) == UNAVAILABLE:
                return None
            raise
        with suppress(ftplib.error_perm):
            facts["modify"] = ftp.voidcmd(f"MDTM {path}").partition(" ")[2]
        return _as_found(name, facts)

    def fetch(self, found: Found, user: User | None) -> SourceFile:
        """A copy; the last one again if size and time are those of that."""
        before = kept.fetched_before(self._connection, found)
        if before and found.etag and before.found_etag == found.etag:
            return before
        with self._explained(found.name), self._signed_in() as ftp:
            self._require_same(ftp, found)
            ftp.voidcmd("TYPE I")  # As a text it would come with other line ends.
            with ftp.transfercmd(f"RETR {self._path(found.name)}") as data:
                source = kept.fetched(self._connection, found, _Stream(self, found.name, data), found.size, user)
            try:
                ftp.voidresp()
                self._require_same(ftp, found)
            except BaseException:
                sources.remove(source)
                raise
            return source

    def move(self, found: Found, folder: str) -> None:
        to = f"{folder}/{found.name.rpartition('/')[2]}"
        with self._explained(found.name), self._signed_in() as ftp:
            there = self._seen(ftp, to)
            if there and there.etag == found.etag and not self._seen(ftp, found.name):
                return
            if there:
                raise SourceProblem(f"There is a {to} already.", self._connection.base, "Rename or remove one of them.")
            self._require_same(ftp, found)
            made = ""
            for part in folder.split("/"):
                made = f"{made}/{part}".lstrip("/")
                with suppress(ftplib.error_perm):  # It is there. If not, moving says what is wrong.
                    ftp.mkd(self._path(made))
            ftp.rename(self._path(found.name), self._path(to))

    def delete(self, found: Found) -> None:
        with self._explained(found.name), self._signed_in() as ftp:
            if self._seen(ftp, found.name):
                self._require_same(ftp, found)
                ftp.delete(self._path(found.name))

    def check(self) -> Iterator[Finding]:
        with self._explained(""), self._signed_in() as ftp:
            count = len(self._listed(ftp, ()))
        yield Finding("connection", "ok", f"{self._connection.base} can be listed: {count:,} entries.")
        if not self._encrypted:
            yield Finding(
                "encryption", "warn", "Nothing is encrypted on the way, the password included.",
                "Write ftps:// if the server can.",
            )  # fmt: skip

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}".rstrip("/") or "/"

    def _require_same(self, ftp: ftplib.FTP, found: Found) -> None:
        seen = self._seen(ftp, found.name)
        if not seen:
            raise SourceProblem("This is not there.", self._where(found.name), "Put it back, or correct the name.")
        if (seen.size, seen.etag) != (found.size, found.etag):
            raise SourceChanged(
                "The file is no longer the one that was found.",
                self._where(found.name),
                "Whatever writes it should use another name until it is complete. It stays as it is.",
                retryable=True,
            )

    def _where(self, name: str) -> str:
        return f"{self._connection.base}/{name}".rstrip("/")

    @contextmanager
    def _signed_in(self) -> Iterator[ftplib.FTP]:
        settings, secrets = self._connection.settings, self._connection.secrets
        with ExitStack() as opened:
            raw = opened.enter_context(
                connected(self._host, self._port, private_allowed=self._connection.private_allowed, seconds=SILENCE)
            )
            ftp = ftplib.FTP()  # noqa: S321 - people are told that it is not encrypted
            if self._encrypted:
                ftp = _OverTls(context=certificates(settings.get("tls_ca", "")))
                if self._port == TLS_FROM_THE_START:
                    raw = opened.enter_context(ftp.context.wrap_socket(raw, server_hostname=self._host))
            opened.callback(ftp.close)
            _greet(ftp, raw, self._host)
            ftp.login(settings.get("user", ""), secrets.get("password", ""))
            if isinstance(ftp, _OverTls):
                ftp.prot_p()
            yield ftp

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        where = self._where(name)
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise SourceProblem(
                f"The server's certificate is not trusted: {error.verify_message}.",
                where,
                "Name the authority that signed it as the connection's CA file.",
            ) from error
        except ftplib.error_perm as error:
            if _code(error) == NOT_SIGNED_IN:
                raise SourceProblem("The server refuses the account.", where, "Enter its credentials again.") from error
            raise SourceProblem(f"The server refuses: {error}.", where, "Look at the name and the rights.") from error
        except ftplib.all_errors as error:
            said = str(error) or type(error).__name__
            raise SourceProblem(
                f"The server does not answer as it should: {said}.", where, "Try again later.", True
            ) from error


class _OverTls(ftplib.FTP_TLS):
    """With the session of the first connection for those of the files: many servers want to see that it is the same."""

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        data, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321 - encrypted below
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        return self.context.wrap_socket(data, server_hostname=self.host, session=session), size


class _Stream:
    """A file's bytes; what goes wrong is said, not taken for their end."""

    def __init__(self, server: FtpServer, name: str, data: socket.socket) -> None:
        self._server, self._name, self._data = server, name, data

    def read(self, size: int, /) -> bytes:
        with self._server._explained(self._name):
            return self._data.recv(size)


def _greet(ftp: ftplib.FTP, raw: socket.socket, host: str) -> None:
    """What ftplib's connect() does, on a connection whose address was checked."""
    ftp.host, ftp.sock, ftp.af = host, raw, raw.family
    ftp.timeout = SILENCE
    ftp.file = raw.makefile("r", encoding=ftp.encoding)
    ftp.welcome = ftp.getresp()


def _as_found(name: str, facts: Facts) -> Found | None:
    """None if it is no file. FTP tells no more of a version than size and time."""
    if facts.get("type") != "file" or not facts.get("size", "").isdecimal():
        return None
    size, modified = facts["size"], facts.get("modify", "")[:14]
    when = datetime.strptime(modified, "%Y%m%d%H%M%S").replace(tzinfo=UTC) if modified else None
    return Found(name, int(size), when, f"{size}-{modified}" if modified else "")


def _code(error: ftplib.Error) -> str:
    return str(error)[:3]
