"""Tells the kind of a server from what it says of itself and from how it behaves at sign-in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from importer.engine.mysql.servers import kinds
from importer.engine.mysql.servers.kinds import Kind

# MariaDB before 11.0 adds this to its version at sign-in, for old replicas (MDEV-28910).
REPLICATION_PREFIX = "5.5.5-"
# ProxySQL answers this itself; any other server calls it a syntax error (its source, MySQL_Session.cpp).
PROXYSQL_COMMAND = "PROXYSQL INTERNAL SESSION"
# The folder in which Amazon's hosts have the server's programs (its variable basedir).
RDS_FOLDER = "/rdsdbbin/"


@dataclass(frozen=True)
class Signs:
    """What a server shows to any account.

    `greeting` is the version at sign-in, `version` the one of its variables; a proxy may have its own at sign-in.
    `greeted_id` is the connection's number at sign-in, `connection_id` that of CONNECTION_ID(); 0 if unknown.
    `variables`: its global variables, names in lower case.
    """

    version: str
    variables: Mapping[str, str]
    greeting: str = ""
    greeted_id: int = 0
    connection_id: int = 0
    proxysql: bool = False  # whether PROXYSQL_COMMAND was answered

    @property
    def differ_at_sign_in(self) -> bool:
        """Whether the version or the number at sign-in are those of something else than the server behind it."""
        greeting = self.greeting.removeprefix(REPLICATION_PREFIX)
        other_version = bool(greeting) and greeting != self.version.removeprefix(REPLICATION_PREFIX)
        # The number at sign-in has 32 bits only (manual, Protocol::HandshakeV10).
        numbered = self.greeted_id and self.connection_id
        return other_version or bool(numbered and self.greeted_id != self.connection_id % 2**32)

    @property
    def text(self) -> str:
        """The words that the server has for itself, in lower case."""
        return f"{self.version} {self.variables.get('version_comment', '')}".lower()

    @property
    def has_mysqls_engine(self) -> bool:
        """Whether InnoDB is built in. Builds of MySQL by others may have a comment without its name.

        MySQL's innodb_version is the server's own version (manual, innodb_version). TiDB and others have old constants.
        """
        engine = self.variables.get("innodb_version", "")
        return bool(engine) and self.version.startswith(engine.partition("-")[0])


def recognise(signs: Signs) -> tuple[Kind, ...]:
    """The kind of the server, followed by those of what spans it, stands before it or runs it."""
    return _server(signs), *_in_between(signs)


def _server(signs: Signs) -> Kind:
    if "aurora_version" in signs.variables:
        return kinds.AURORA
    found = next((each for each in kinds.SERVERS if _says(signs.text, each)), None)
    return found or (kinds.MYSQL if signs.has_mysqls_engine else kinds.UNKNOWN)


def _in_between(signs: Signs) -> Iterator[Kind]:
    if signs.variables.get("wsrep_on", "").upper() in ("ON", "1"):
        yield kinds.GALERA
    yield from _proxies(signs)
    if signs.variables.get("basedir", "").startswith(RDS_FOLDER):
        yield kinds.RDS
    yield from (each for each in kinds.IN_BETWEEN if each.role == "host" and _says(signs.text, each))


def _proxies(signs: Signs) -> Iterator[Kind]:
    text = f"{signs.text} {signs.greeting.lower()}"
    named = [each for each in kinds.IN_BETWEEN if each.role == "proxy" and _says(text, each)]
    if signs.proxysql and kinds.PROXYSQL not in named:
        named.append(kinds.PROXYSQL)
    yield from named or ([kinds.OTHER_PROXY] if signs.differ_at_sign_in else [])


def _says(text: str, kind: Kind) -> bool:
    return any(word in text for word in kind.words)
