"""Files on an FTP server, fetched in one stream; over TLS if the address begins with ftps.

The address is checked before it is connected to, as for web servers. Data connections go to that address, too: an
address that the server names in its answer to PASV is ignored.
"""

import ftplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from typing import TextIO

from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile, findings_of_names
from importer.connections.protocols.file_server import SILENCE, FileServer, read_up_to
from importer.connections.protocols.folder import is_left_out
from importer.engine.errors import NoConnection, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection
from importer.security import outbound_waits
from importer.security.outbound_addresses import connect_checked, tls_context
from importer.sources.parts import Stream

PORT, TLS_FROM_THE_START = 21, 990
# RFC 959, 4.2: not signed in; not there, or not allowed; a command that the server does not know.
NOT_SIGNED_IN, UNAVAILABLE, UNKNOWN = "530", "550", ("500", "501", "502", "504")
# The facts that are requested for each file (RFC 3659, 7.5): `modify` is in UTC, `unique` that of what a link leads to.
FACTS = ("type", "size", "modify", "unique")
OPTIONS = f"OPTS MLST {';'.join(FACTS)};"
Facts = dict[str, str]
MOST_LINES = 200  # of an answer
ERRORS: tuple[type[Exception], ...] = (*ftplib.all_errors, UnicodeError)


def open_location(connection: SourceConnection) -> "FtpServer":
    return FtpServer(connection)


class FtpServer(FileServer):
    """The files below ftp://HOST:PORT/PATH, or ftps://."""

    def _walk(self, ftp: ftplib.FTP, folders: tuple[str, ...], pattern: Pattern) -> Iterator[ListedFile]:
        facts = self._facts(ftp, self._path("/".join(folders))) or {}
        return self._walk_below(ftp, folders, pattern, facts.get("unique"))

    def _walk_below(
        self, ftp: ftplib.FTP, folders: tuple[str, ...], pattern: Pattern, *above: str | None
    ) -> Iterator[ListedFile]:
        """The files of a folder and of those below it. `above`: the facts `unique` of the folder and those above it.

        Servers show a link to a folder as a folder. One to a folder above would lead round without end.
        """
        below = []
        for entry, facts in self._listed(ftp, folders):
            name = "/".join((*folders, entry))
            if is_left_out(entry):
                continue
            if facts.get("type") == "dir":
                below.append((entry, facts.get("unique")))
            elif pattern.matches(name) and (file := _listed_file(name, facts) if facts else self._seen(ftp, name)):
                yield file
        for each, unique in below:
            if pattern.may_lie_below((*folders, each)) and (unique is None or unique not in above):
                yield from self._walk_below(ftp, (*folders, each), pattern, *above, unique)

    def _require_base(self, session: ftplib.FTP) -> None:
        session.cwd(self._path(""))

    def _listed(self, ftp: ftplib.FTP, folders: tuple[str, ...]) -> list[tuple[str, Facts]]:
        """The names in a folder, each with its facts: none on a server without MLSD (RFC 3659, 7)."""
        path = self._path("/".join(folders))
        try:
            ftp.sendcmd(OPTIONS)
            return [_entry(line) for line in _lines(ftp, f"MLSD {path}")]
        except ftplib.error_perm as error:
            if folders and _code(error) == UNAVAILABLE:
                return []
            if _code(error) not in UNKNOWN:
                raise
        try:
            return [(name.rpartition("/")[2], {}) for name in _lines(ftp, f"NLST {path}")]
        except ftplib.error_perm as error:
            if _code(error) == UNAVAILABLE:  # The answer of some servers for an empty folder.
                return []
            raise

    def _seen(self, ftp: ftplib.FTP, name: str) -> ListedFile | None:
        """The file as it is now; None if it does not exist or is not a regular file."""
        path = self._path(name)
        facts = self._facts(ftp, path)
        return self._measured(ftp, name, path) if facts is None else _listed_file(name, facts)

    def _facts(self, ftp: ftplib.FTP, path: str) -> Facts | None:
        """The facts of a file or folder: none if it does not exist, None on a server without MLST."""
        try:
            ftp.sendcmd(OPTIONS)
            answer = ftp.sendcmd(f"MLST {path}")
        except ftplib.error_perm as error:
            if _code(error) == UNAVAILABLE:
                return {}
            if _code(error) not in UNKNOWN:
                raise
            return None
        entry = next((line.strip() for line in answer.splitlines() if line.startswith(" ")), "")
        return _entry(entry)[1]

    def _measured(self, ftp: ftplib.FTP, name: str, path: str) -> ListedFile | None:
        """As _seen(), for a server without MLST: SIZE fails for a folder, and MDTM gives the time."""
        ftp.voidcmd("TYPE I")  # In text mode the size would differ.
        try:
            facts = {"type": "file", "size": str(ftp.size(path))}
        except ftplib.error_perm as error:
            if _code(error) == UNAVAILABLE:
                return None
            raise
        with suppress(ftplib.error_perm):
            facts["modify"] = ftp.voidcmd(f"MDTM {path}").partition(" ")[2]
        return _listed_file(name, facts)

    @contextmanager
    def _opened(self, session: ftplib.FTP, file: ListedFile) -> Iterator[Stream]:
        session.voidcmd("TYPE I")  # Text mode would change the line ends.
        with session.transfercmd(f"RETR {self._path(file.name)}") as data:
            yield _Received(data)
        session.voidresp()

    def _folders(self, session: ftplib.FTP, folder: tuple[str, ...]) -> list[str]:
        """The folders by their facts: a server without MLSD does not say what an entry is."""
        return [name for name, facts in self._listed(session, folder) if facts.get("type") == "dir"]

    def _head(self, session: ftplib.FTP, file: ListedFile, size: int) -> bytes:
        session.voidcmd("TYPE I")
        with session.transfercmd(f"RETR {self._path(file.name)}") as data:
            return read_up_to(_Received(data), size)

    def _make_folder(self, session: ftplib.FTP, name: str) -> None:
        with suppress(ftplib.error_perm):  # The folder exists. If it does not, the rename fails with the reason.
            session.mkd(self._path(name))

    def _rename(self, session: ftplib.FTP, name: str, to: str) -> None:
        session.rename(self._path(name), self._path(to))

    def _remove(self, session: ftplib.FTP, name: str) -> None:
        session.delete(self._path(name))

    def check(self) -> Iterator[Finding]:
        with self._translated_errors(""), self._signed_in() as ftp:
            names = [name for name, _ in self._listed(ftp, ())]
        yield Finding("connection", "ok", f"{self._connection.base} can be listed: {len(names):,} entries.")
        yield from findings_of_names(names)
        if self._scheme != "ftps":
            yield Finding(
                "encryption", "warn", "Nothing is encrypted on the way, the password included.",
                "Write ftps:// if the server can.",
            )  # fmt: skip

    @contextmanager
    def _signed_in(self) -> Iterator[ftplib.FTP]:
        settings, secrets = self._connection.settings, self._connection.secrets
        with ExitStack() as opened:
            raw = opened.enter_context(
                connect_checked(
                    self._host, self._port or PORT, private_allowed=self._connection.private_allowed, seconds=SILENCE
                )
            )
            ftp: ftplib.FTP = _Brief()
            if self._scheme == "ftps":
                ftp = _OverTls(context=tls_context(settings.get("tls_ca", "")))
                if self._port == TLS_FROM_THE_START:
                    raw = opened.enter_context(ftp.context.wrap_socket(raw, server_hostname=self._host))
            opened.callback(ftp.close)
            _greet(ftp, raw, self._host)
            ftp.login(settings.get("user", ""), secrets.get("password", ""))
            if isinstance(ftp, _OverTls):
                ftp.prot_p()
            outbound_waits.answered()
            yield ftp

    @contextmanager
    def _errors_of_library(self, name: str) -> Iterator[None]:
        where = self._where(name)
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise NoConnection(
                f"The server's certificate is not trusted: {error.verify_message}.",
                where,
                "Name the authority that signed it as the connection's CA file.",
            ) from error
        except ftplib.error_perm as error:
            if _code(error) == NOT_SIGNED_IN:
                raise NoConnection("The server refuses the account.", where, "Enter its credentials again.") from error
            raise SourceProblem(f"The server refuses: {error}.", where, "Look at the name and the rights.") from error
        except ERRORS as error:
            raise self._broken(error, name) from error


class _Brief(ftplib.FTP):
    """Reads answers of at most MOST_LINES: ftplib joins all lines of an answer again for each further one.

    The bounds of its connections hold for those of data as well.
    """

    _read = 0

    def getmultiline(self) -> str:
        self._read = 0
        return super().getmultiline()

    def getline(self) -> str:
        self._read += 1
        if self._read > MOST_LINES:
            raise OSError(f"an answer has more than {MOST_LINES} lines")
        return super().getline()

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        data, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321 - encrypted by _OverTls
        outbound_waits.bound(data)
        return data, size


class _OverTls(_Brief, ftplib.FTP_TLS):
    """Reuses the TLS session of the control connection for data connections, which many servers require."""

    def auth(self) -> str:
        answer = super().auth()
        assert self.sock
        self.file = _answers(self.sock)
        return answer

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        data, size = _Brief.ntransfercmd(self, cmd, rest)
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        return self.context.wrap_socket(data, server_hostname=self.host, session=session), size


class _Received:
    """A socket's bytes as a Stream."""

    def __init__(self, data: socket.socket) -> None:
        self._data = data

    def read(self, size: int, /) -> bytes:
        return self._data.recv(size)


def _greet(ftp: ftplib.FTP, raw: socket.socket, host: str) -> None:
    """Do what ftplib's connect() does, on a connection to a checked address."""
    ftp.host, ftp.sock, ftp.af = host, raw, raw.family
    ftp.timeout = SILENCE
    ftp.file = _answers(raw)
    ftp.welcome = ftp.getresp()


def _answers(control: socket.socket) -> TextIO:
    """The server's answers. Their words may be in any encoding; ftplib refuses those that are not UTF-8."""
    return control.makefile("r", encoding="utf-8", errors="backslashreplace")


def _lines(ftp: ftplib.FTP, command: str) -> Iterator[str]:
    """The lines of a listing, as ftplib's retrlines() gives them, with surrogates for bytes that are not UTF-8."""
    ftp.sendcmd("TYPE A")
    with (
        ftp.transfercmd(command) as data,
        data.makefile("r", encoding="utf-8", errors="surrogateescape") as lines,
    ):
        while line := lines.readline(ftp.maxline + 1):
            if len(line) > ftp.maxline:
                raise OSError(f"a line has more than {ftp.maxline:,} characters")
            yield line.rstrip("\r\n")
        if isinstance(data, ssl.SSLSocket):
            data.unwrap()
    ftp.voidresp()


def _entry(line: str) -> tuple[str, Facts]:
    """A name and its facts, which come before it (RFC 3659, 7.2): `type=file;size=12; name`."""
    facts, _, name = line.partition(" ")
    return name, dict(fact.partition("=")[::2] for fact in facts.lower().split(";") if fact)


def _listed_file(name: str, facts: Facts) -> ListedFile | None:
    """The file with these facts; None if it is not a file. Its etag is size and time: FTP has no other version."""
    if facts.get("type") != "file" or not facts.get("size", "").isdecimal():
        return None
    size, modified = facts["size"], facts.get("modify", "")[:14]
    return ListedFile(name, int(size), _moment(modified), f"{size}-{modified}" if modified else "")


def _moment(modified: str) -> datetime | None:
    """The time of a fact; None if the server gives none, or one that is no date."""
    with suppress(ValueError):
        return datetime.strptime(modified, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return None


def _code(error: ftplib.Error) -> str:
    return str(error)[:3]
