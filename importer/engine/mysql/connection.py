"""Opens connections to a target: for queries, and for loads, whose LOAD DATA LOCAL handler serves only the feed."""

import ctypes
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import MySQLdb
from MySQLdb.constants import CLIENT, CR, ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.addresses import EVERY_NETWORK, AddressRefused, Ip, checked_addresses, effective, is_socket
from importer.engine.mysql.answers import Connection, library
from importer.engine.mysql.error_messages import explain
from importer.engine.mysql.infile.buffer import BEGIN, END, ERROR, READ, Feed, InfileBuffer, read_function
from importer.engine.mysql.sign_in.authentication import method_options, withheld
from importer.engine.mysql.sign_in.encryption import MAY_BE_REQUIRED, NotEncrypted, may_require_tls, tls_problem
from importer.engine.mysql.sign_in.own_tables import refuse_database
from importer.engine.mysql.sign_in.reasons import SignInRefused, first_answer_seconds, wait_alike, without_reason
from importer.engine.mysql.waits import until, within

__all__ = [
    "ISOLATION",
    "Address",
    "Connection",
    "Feed",
    "LoaderConnection",
    "NotEncrypted",
    "cipher",
    "connect",
    "connect_loader",
    "execute",
    "fetch_all",
    "kill",
    "telling",
]

# The only file name that the handler serves. No path: Debian 12's client library crashes on a name with "://"
# (server-behaviour.md).
FEED_NAME = "millrace"

UNANSWERED = ((CR.CONNECTION_ERROR,), (CR.CONN_HOST_ERROR,))
CONNECT_TIMEOUT = 10  # seconds
READ_TIMEOUT = 600  # seconds without a byte from the server; a long COMMIT counts
WRITE_TIMEOUT = 60  # seconds
# Seconds that a connection waits for its server beyond what a session variable lets the server wait for a lock.
LOCK_MARGIN = 60
_TELL: ContextVar[Callable[[int], object]] = ContextVar("tell", default=lambda _: None)
_LOCK_WAITS = ("innodb_lock_wait_timeout", "lock_wait_timeout")

# Strict mode: REPLACE and INSERT fail on bad values. LOAD DATA LOCAL without REPLACE only warns (server-behaviour.md).
SQL_MODE = (
    "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"
)
UTC = "+00:00"
LOADER_SESSION: dict[str, int | str] = {
    "sql_mode": SQL_MODE,
    # The warnings are parsed: they have row numbers, columns and keys (load/rejects/server_warnings.py).
    "lc_messages": "en_US",
    # A plan may have another one (planner/decisions/time_zone.py).
    "time_zone": UTC,
    "unique_checks": 1,
    "foreign_key_checks": 1,
    "sql_notes": 1,
    "innodb_lock_wait_timeout": 50,
    "net_read_timeout": 60,
    # Seconds until the server ends a transaction whose client vanished, which releases its ledger row.
    "wait_timeout": 120,
}

# Set by a separate statement. The name is MySQL's; MariaDB has it since 11.1.
ISOLATION = "transaction_isolation"
USUAL_ISOLATION = "READ-COMMITTED"

# The server lists no more warnings than this; at most 65,535 (manual, Server System Variables).
MAX_ERROR_COUNT = 65535


@dataclass(frozen=True)
class Address:
    """A server, an account on it, and the database. `host` may be the path of a Unix socket on this machine.

    `tls` is "off", "encrypt" or "verify". `server_key`: the server's public RSA key as PEM, if it is known.
    `clear_password`: the server may ask for the readable password, through verified TLS. `networks`: those whose inside
    is allowed.
    """

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database: str
    tls: str = "off"
    tls_ca: str = ""
    server_key: str = ""
    clear_password: bool = False
    networks: tuple[str, ...] = EVERY_NETWORK

    def __str__(self) -> str:
        port = "" if is_socket(self.host) else f":{self.port}"
        return f"{self.user}@{self.host}{port}/{self.database}"


class LoaderConnection(Connection):
    """A connection whose LOAD DATA LOCAL sends the pieces of `feed`. It never sends a file that the server requests.

    The handler is installed before the first statement after the handshake, which mysqlclient always sends from
    set_character_set(). From then on a hostile server gets no file (server-behaviour.md, The local-infile callback).
    """

    feed: Feed | None = None
    _buffer: InfileBuffer | None = None

    def set_character_set(self, charset: str, collation: str | None = None) -> None:
        if not hasattr(self, "_handler"):
            self._install_handler()
        super().set_character_set(charset, collation) if collation else super().set_character_set(charset)

    @contextmanager
    def serving(self, feed: Feed) -> Iterator[None]:
        """In this context a load gets the pieces of `feed`. An exception of the feed is raised in place of others."""
        # The buffer of an earlier load has an error of its own, and stays if the server requests no file.
        self.feed, self._buffer = feed, None
        try:
            with self.sending():
                yield
        finally:
            self.feed = None
            if self._buffer and self._buffer.error:
                raise self._buffer.error

    def _brought(self, feed: Feed) -> Iterator[bytes]:
        """The pieces of the feed. The server does not answer for the time that they take."""
        pieces = iter(feed)
        while True:
            with self.ours():
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    def _install_handler(self) -> None:
        # Stored on the connection, because the client library calls them as long as the connection lives.
        self._handler = (BEGIN(self._begin), read_function(), END(self._end), ERROR(self._error))
        library.mysql_set_local_infile_handler(mysql_handle(self), *self._handler, None)

    # The callbacks never raise. An exception that leaves a callback is lost, and the return value is garbage, so that
    # the load would never end (server-behaviour.md).

    def _begin(self, state: Any, name: bytes, _data: Any) -> int:
        if self.feed is None or name != FEED_NAME.encode():
            return 1
        self._buffer = InfileBuffer(self._brought(self.feed))
        state[0] = self._buffer.state
        return 0

    def _end(self, _state: int) -> None:
        """The server has all of the feed, which belongs to its caller."""
        self.sent()

    def _error(self, _state: int, buffer: int, size: int) -> int:
        message = b"Millrace refused to serve this file, or could not read its source"
        ctypes.memmove(buffer, message[: size - 1] + b"\0", min(size, len(message) + 1))
        return 2  # CR_UNKNOWN_ERROR's neighbourhood; serving() raises the real cause


AnyConnection = TypeVar("AnyConnection", bound=Connection)

library.mysql_set_local_infile_handler.argtypes = [ctypes.c_void_p, BEGIN, READ, END, ERROR, ctypes.c_void_p]
library.mysql_set_local_infile_handler.restype = None
library.mysql_get_ssl_cipher.argtypes = [ctypes.c_void_p]
library.mysql_get_ssl_cipher.restype = ctypes.c_char_p
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def mysql_handle(connection: Connection) -> int:
    pointer: int = _capsule_pointer(connection._get_native_connection(), b"_mysql.connection.native_connection")
    return pointer


@contextmanager
def telling(tell: Callable[[int], object]) -> Iterator[None]:
    """In this context tell the server's number of each connection that connect() opens."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


@contextmanager
def connect(address: Address, read_timeout: int = READ_TIMEOUT) -> Iterator[Connection]:
    """Open a connection for queries and changes, with autocommit; closed at the end.

    `read_timeout`: seconds that a statement may take without a byte from the server. Raises TargetProblem if the
    connection fails, and for a MySQL error inside the block; OwnTables for a database with Millrace's own tables.
    """
    options = {**_options(address), "read_timeout": read_timeout}
    connection = _open(Connection, address, **options, local_infile=0, autocommit=True)
    with closing(connection), explain(str(address)):
        refuse_database(connection, address.database)
        _TELL.get()(connection.thread_id())
        yield connection


@contextmanager
def connect_loader(
    address: Address, read_timeout: int = READ_TIMEOUT, session: Mapping[str, int | str] = MappingProxyType({})
) -> Iterator[LoaderConnection]:
    """Open a connection for loading: without autocommit, with LOADER_SESSION; closed at the end, which rolls back.

    `read_timeout`: seconds that a statement may take without a byte from the server. `session`: the import's own
    variables, added to LOADER_SESSION or replacing values there (ImportPlan.session); one by which the server waits
    longer for a lock makes the connection wait longer, too. Raises TargetProblem as connect() does.
    """
    least = max((int(session[each]) + LOCK_MARGIN for each in _LOCK_WAITS if each in session), default=0)
    timeouts = {"read_timeout": max(read_timeout, least), "write_timeout": max(WRITE_TIMEOUT, least)}
    options = {**_options(address), **timeouts}
    connection = _open(LoaderConnection, address, **options, client_flag=CLIENT.LOCAL_FILES, autocommit=True)
    with closing(connection), explain(str(address)):
        _set_session(connection, {**LOADER_SESSION, ISOLATION: USUAL_ISOLATION, **session})
        _see_all_warnings(connection)
        refuse_database(connection, address.database)
        # Later than that: on MySQL a look at information_schema would begin a transaction.
        connection.autocommit(False)
        yield connection


def _open(kind: type[AnyConnection], address: Address, **options: Any) -> AnyConnection:
    """A connection to the server, encrypted if the target asks for it.

    Raises TargetProblem for an address that is not allowed, for a method of authentication that would show the password
    (PasswordWithheld), and for an error of the server; without the reason, and after the same time, where the reason
    may not be told (reasons.py).
    """
    began = time.monotonic()
    try:
        with within(first_answer_seconds()):
            connection = _first_that_answers(kind, address, **options)
        try:
            _require_tls(connection, address)
        except TargetProblem:
            connection.close()
            raise
    except TargetProblem as problem:
        if hidden := without_reason(problem):
            wait_alike(began)
            raise hidden from None
        if may_require_tls(problem.__cause__, address.tls) and not is_socket(address.host):
            problem.advice = f"{problem.advice} {MAY_BE_REQUIRED}"
        raise
    return connection


def _first_that_answers(kind: type[AnyConnection], address: Address, **options: Any) -> AnyConnection:
    """A connection to the first of the host's addresses that answers; all of them are allowed."""
    # For "localhost" the client library would ignore the port and take its default Unix socket.
    host = "127.0.0.1" if address.host == "localhost" else address.host
    with explain(str(address), SignInRefused):
        _check_authorities(address)
        addresses = _checked_addresses(host, address)
        on_this_machine = all(effective(each).is_loopback for each in addresses)
        # An address, so that no second look-up leads elsewhere. A verified certificate proves the host, by its name.
        hosts = [host] if address.tls == "verify" or is_socket(host) else [str(each) for each in addresses]
        with method_options(address, on_this_machine=on_this_machine) as restricted:
            for each in hosts:
                try:
                    place = {"unix_socket": each} if is_socket(each) else {"host": each}
                    seconds = max(1, int(min(CONNECT_TIMEOUT, until() - time.monotonic())))
                    opened: AnyConnection = kind(**place, connect_timeout=seconds, **options, **restricted)
                    return opened
                except MySQLdb.Error as error:
                    if problem := withheld(error, str(address)) or tls_problem(error, str(address), address.tls):
                        raise problem from error
                    if error.args[:1] not in UNANSWERED or each == hosts[-1] or time.monotonic() > until():
                        raise
    raise AssertionError("a resolved host has an address")


def _check_authorities(address: Address) -> None:
    """Raise SignInRefused if the file of certificate authorities, which was checked before, has none now."""
    if address.tls == "off" or not address.tls_ca:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=address.tls_ca)
    except OSError as error:  # ssl.SSLError is one.
        raise SignInRefused(
            f"No certificate authorities can be read from {address.tls_ca}.",
            where=str(address),
            advice="Name a PEM file on this machine as the target's CA file.",
        ) from error


def _checked_addresses(host: str, address: Address) -> list[Ip]:
    try:
        return checked_addresses(host, address.networks)
    except AddressRefused as refused:
        raise SignInRefused(refused.what, where=str(address), advice=refused.advice) from refused
    except (OSError, UnicodeError) as error:
        raise MySQLdb.OperationalError(CR.UNKNOWN_HOST, f"Unknown server host '{host}'") from error


def _set_session(connection: Connection, variables: dict[str, int | str]) -> None:
    level = str(variables.pop(ISOLATION)).replace("-", " ")
    settings = ", ".join(f"SESSION {name} = %s" for name in variables)
    execute(connection, f"SET {settings}", tuple(variables.values()))
    execute(connection, f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")


def cipher(connection: Connection) -> str:
    """The cipher in use according to the client library; "" if the connection is not encrypted."""
    return (library.mysql_get_ssl_cipher(mysql_handle(connection)) or b"").decode()


def _require_tls(connection: Connection, address: Address) -> None:
    # REQUIRED accepts a server without TLS on this client library (server-behaviour.md, The local-infile callback).
    if address.tls == "encrypt" and not cipher(connection):
        raise NotEncrypted(str(address))


def _see_all_warnings(connection: Connection) -> None:
    # MySQL 9.7 lets only privileged accounts change it; other accounts see the first 1,024 warnings. MariaDB lets every
    # account change it.
    try:
        execute(connection, "SET SESSION max_error_count = %s", (MAX_ERROR_COUNT,))
    except MySQLdb.OperationalError as error:
        if error.args[0] != ER.SPECIFIC_ACCESS_DENIED_ERROR:
            raise


def _options(address: Address) -> dict[str, Any]:
    """The keywords for the client library: no init command, no plugin folder, and no option file but _open's own."""
    options: dict[str, Any] = {
        "port": address.port,
        "user": address.user,
        "passwd": address.password,
        "db": address.database,
        "charset": "utf8mb4",
        "read_timeout": READ_TIMEOUT,
        "write_timeout": WRITE_TIMEOUT,
        # `encrypt` is checked again after connecting: _require_tls.
        "ssl_mode": {"off": "DISABLED", "encrypt": "REQUIRED", "verify": "VERIFY_IDENTITY"}[address.tls],
    }
    if address.tls_ca and address.tls != "off":
        options["ssl"] = {"ca": address.tls_ca}
    return options


def execute(connection: Connection, sql: str, args: Sequence[Any] = ()) -> int:
    """Run one statement. Returns the number of affected rows."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, args or None)
        return int(cursor.rowcount)


def fetch_all(connection: Connection, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of one query; for small results."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, args or None)
        return list(cursor.fetchall())


def fetch_row(connection: Connection, sql: str, args: Sequence[Any] = ()) -> tuple[Any, ...]:
    """The row of a query that every server answers with one row. Raises TargetProblem if there is none."""
    rows = fetch_all(connection, sql, args)
    if not rows:
        raise TargetProblem(
            f"The server answers {sql} with nothing.",
            advice="Check that the target's host and port are those of a MySQL or MariaDB server.",
        )
    return rows[0]


def kill(address: Address, connection_id: int) -> None:
    """Kill a connection of this account; its transaction rolls back. No error if the connection is gone already."""
    with connect(address) as connection:
        try:
            execute(connection, "KILL CONNECTION %s", (connection_id,))
        except MySQLdb.OperationalError as error:
            # Denied: after a restart of the server the id belongs to another account.
            if error.args[0] not in (ER.NO_SUCH_THREAD, ER.KILL_DENIED_ERROR):
                raise
