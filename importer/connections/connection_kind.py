"""Declares a kind of connection: its addresses, its fields, and the operations on its files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import quote

from importer.models import SourceConnection
from importer.security.ca_files import check_ca_file


@dataclass(frozen=True)
class ParsedAddress:
    """A location's address, split into parts. A folder has only `text`. `path` is decoded.

    `netloc` is the host and port as typed, `host` the host in lower case.
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
    """A parsed address: the kind of the connection, its base as stored, and the settings that the address contains."""

    kind: str
    base: str
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ConnectionField:
    """One field of a connection, in addition to its address: a setting, which pages show, or a secret, which they hide.

    `label` begins with a small letter, unless it is a name; `about` says in a sentence what the label does not.
    `choices` are the allowed values, each with its words for pages. `in_place` marks a setting that is part of the
    address, so forms leave it out. `confirmed` marks one that a person accepts after a check. `lines` marks a text of
    several lines. `check` raises Problem for an invalid value.
    """

    name: str
    label: str
    about: str = ""
    secret: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)
    in_place: bool = False
    confirmed: bool = False
    lines: bool = False
    check: Callable[[str], None] | None = None


USER = ConnectionField("user", "user")
USER_IN_PLACE = replace(USER, in_place=True)
PASSWORD = ConnectionField("password", "password", secret=True)
TLS_CA = ConnectionField(
    "tls_ca", "CA file", "Where the server's certificate is not a public one.", check=check_ca_file
)


def _stored_base(connection: SourceConnection) -> str:
    return connection.base


def _always(_settings: Mapping[str, str]) -> bool:
    return True


def _never(_settings: Mapping[str, str]) -> bool:
    return False


@dataclass(frozen=True)
class ConnectionKind:
    """A kind of connection. Forms, the command and the address parser are made from this declaration.

    `name` is stored with each connection. `schemes` are those of its addresses; a folder's is "". `example` is an
    example address; forms show it with `place_label` and `place_help`. `module` has the function open_location() and
    is imported at its first use, since it needs large libraries.

    `parse` returns the base, or None for an address of another kind; it raises Problem for a forbidden one. `write`
    returns the address, as `parse` reads it. `check_place`, for forms, returns the problem of an address or "".
    `signs_in` and `needs_secret` say for settings whether secrets are sent and whether one is required.

    `lists` says whether the server can list files; `moves` and `deletes` whether files can be moved and deleted.
    `lists_unfinished`: a server lists files while they are uploaded, with times of its own clock.
    `in_place`: files are read where they are, without a copy. `local` is a folder on this server: private addresses do
    not apply to it. `files_note` explains its file list.
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
    lists_unfinished: bool = False
    in_place: bool = False
    local: bool = False
    files_note: str = ""

    @property
    def complete_after(self) -> timedelta:
        """How old a listed file is that is complete without a second look. A server's clock may be wrong by hours."""
        return timedelta(days=1) if self.lists_unfinished else timedelta(seconds=10)

    @property
    def settings(self) -> dict[str, ConnectionField]:
        """The fields that pages show, by name."""
        return {each.name: each for each in self.fields if not each.secret}

    @property
    def secrets(self) -> dict[str, ConnectionField]:
        """The fields that are stored encrypted, by name."""
        return {each.name: each for each in self.fields if each.secret}


def server_parser(kind: str, default_port: int) -> Callable[[ParsedAddress], ParsedBase | None]:
    """A `parse` for servers that require a user: it returns None if the address has no user."""

    def parse(address: ParsedAddress) -> ParsedBase | None:
        if not address.user:
            return None
        host = f"[{address.host}]" if ":" in address.host else address.host
        base = f"{address.scheme}://{host}:{address.port or default_port}{address.path.rstrip('/')}"
        return ParsedBase(kind, base, {"user": address.user})

    return parse


def write_with_user(connection: SourceConnection) -> str:
    """The address with its user; %, ? and # in its path are percent-encoded."""
    scheme, _, rest = connection.base.partition("://")
    server, slash, path = rest.partition("/")
    user = connection.settings.get("user", "")
    account = f"{quote(user, safe='')}@" if user else ""
    return f"{scheme}://{account}{server}{slash}{path.replace('%', '%25').replace('?', '%3F').replace('#', '%23')}"
