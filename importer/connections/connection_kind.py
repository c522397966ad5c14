"""Declares a kind of connection: its addresses, its fields, and what can be done with its files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from importer.models import SourceConnection


@dataclass(frozen=True)
class ParsedAddress:
    """The text of a place, taken apart. A folder has only the text; `path` has no percent signs to decode.

    `netloc` is the host and port as they were typed, `host` the host in small letters.
    """

    text: str
    scheme: str = ""
    netloc: str = ""
    host: str = ""
    port: int | None = None
    path: str = ""
    user: str = ""


@dataclass(frozen=True)
class ParsedBase:
    """A place taken apart: the kind of its connection, its base as it is stored, and settings from its text."""

    kind: str
    base: str
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ConnectionField:
    """One field of a connection besides its place: a setting, which pages show, or a secret, which they do not.

    `choices` are all values that it may have. `in_place` is a setting that stands in the place's text, so forms leave
    it out. `account` is a setting that names who or what the secrets are sent to: they stay stored only while it stays.
    `lines` is a text of several lines. `check` raises Problem for a value that the field refuses.
    """

    name: str
    label: str
    secret: bool = False
    choices: tuple[str, ...] = ()
    in_place: bool = False
    account: bool = False
    lines: bool = False
    check: Callable[[str], None] | None = None


USER = ConnectionField("user", "user", account=True)
USER_IN_PLACE = replace(USER, in_place=True)
PASSWORD = ConnectionField("password", "password", secret=True)
TLS_CA = ConnectionField("tls_ca", "CA file, where the server's certificate is not a public one")


def _stored_base(connection: SourceConnection) -> str:
    return connection.base


def _always(_settings: Mapping[str, str]) -> bool:
    return True


def _never(_settings: Mapping[str, str]) -> bool:
    return False


@dataclass(frozen=True)
class ConnectionKind:
    """A kind of connection. Forms, the command and the reading of places are made from this declaration.

    `name` is stored with each connection. `schemes` are those of its addresses; a folder's is "". `example` shows how
    a place is written; forms show it with `place_label` and `place_help`. `module` has the function open_place() and
    is imported with its first use, since large libraries are behind it.

    `parse` returns the base, or None for an address that is none of this kind; it raises Problem for one that is not
    allowed. `write` returns the place's text, as `parse` reads it. `check_place`, of forms, returns the problem of a
    text or "". `signs_in` and `needs_secret` say for settings whether secrets are sent and whether one is required.

    `lists` says whether the place lists its files; `moves` and `deletes` whether files can be moved and deleted
    there. `local` is a folder on this server: it has no private addresses. `files_note` explains its list.
    """

    name: str
    label: str
    schemes: tuple[str, ...]
    example: str
    place_label: str
    place_help: str
    module: str
    parse: Callable[[ParsedAddress], ParsedBase | None]
    fields: tuple[ConnectionField, ...] = ()
    write: Callable[[SourceConnection], str] = _stored_base
    check_place: Callable[[str], str] = lambda _text: ""
    signs_in: Callable[[Mapping[str, str]], bool] = _always
    needs_secret: Callable[[Mapping[str, str]], bool] = _never
    lists: bool = True
    moves: bool = True
    deletes: bool = True
    local: bool = False
    files_note: str = ""

    @property
    def settings(self) -> dict[str, ConnectionField]:
        """The fields that pages show, by name."""
        return {each.name: each for each in self.fields if not each.secret}

    @property
    def secrets(self) -> dict[str, ConnectionField]:
        """The fields that are stored encrypted, by name."""
        return {each.name: each for each in self.fields if each.secret}


def parse_server(kind: str, address: ParsedAddress, default_port: int) -> ParsedBase | None:
    """The base of a server that somebody signs in to; None without a user."""
    if not address.user:
        return None
    host = f"[{address.host}]" if ":" in address.host else address.host
    base = f"{address.scheme}://{host}:{address.port or default_port}{address.path.rstrip('/')}"
    return ParsedBase(kind, base, {"user": address.user})


def write_with_user(connection: SourceConnection) -> str:
    """The place's text with its user, and with the percent signs, ? and # of its path escaped."""
    scheme, _, rest = connection.base.partition("://")
    server, slash, path = rest.partition("/")
    user = connection.settings.get("user", "")
    account = f"{quote(user, safe='')}@" if user else ""
    return f"{scheme}://{account}{server}{slash}{path.replace('%', '%25').replace('?', '%3F').replace('#', '%23')}"
