"""Files at an address that a person gives: https://, s3:// and sftp://, with the credentials of the person's account.

Each address is read as a connection would be, by the same protocols, which check where they connect to. The connection
is not stored, so the file is copied like an upload. Credentials: those of AWS_* or the role for S3, ~/.netrc for web
servers, and for SFTP the SSH agent and ~/.ssh/known_hosts.
"""

import glob
import netrc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

from django.conf import settings

from importer.access.acting import acting_user
from importer.access.policy import Forbidden, require_admin
from importer.connections import operations
from importer.connections.by_hand.schemes import ADVICE, check_scheme, without_password
from importer.connections.connection_address import parse_base
from importer.connections.connection_kinds import open_location
from importer.connections.download import copy_stream
from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile
from importer.engine.errors import SourceProblem
from importer.engine.source.byte_source import as_file
from importer.models import SourceConnection, SourceFile
from importer.sources.limits import refuse_none, refuse_too_many, require_short_wait

OWN_SFTP = "importer.connections.by_hand.own_sftp"
WEB_ADVICE = "Write https://HOST/PATH/FILE, without a password."

Account = tuple[Mapping[str, str], Mapping[str, str]]


def fetch_address(address: str, *, private_allowed: bool = False) -> Iterator[SourceFile]:
    """Copies of the file at an address, or of the files that a pattern in its last part matches.

    `private_allowed`: the host may have a private address. Raises Forbidden if a person acts who is no admin: others
    choose files of connections. Raises SourceProblem for an address that is none, that finds nothing, or that must not
    be reached, and as uploads do.
    """
    require_admin("load from an address; choose a file of a connection")
    scheme, connection, name = _connection(address)
    connection.private_allowed = private_allowed or bool(connection.settings.get("endpoint"))
    location = scheme.open(connection)
    found = location.find(Pattern(name))
    if not found and scheme.one_file:
        location.require(name)
    refuse_none(len(found), address, "Check the address; * and ? stand for characters of the last part.")
    refuse_too_many(len(found), address)
    for each in found:
        yield scheme.fetch(location, each)


def choose_address(address: str) -> SourceFile:
    """A copy of the file at an https address, for a request that somebody waits for; nothing signs in.

    An admin must have allowed that (WEB_ADDRESSES). Raises Forbidden, and SourceProblem as fetch_address() does, for
    another scheme, a pattern, and a file that is too large to wait for.
    """
    if not settings.WEB_ADDRESSES:
        raise Forbidden("Addresses are not allowed here.", advice="Choose a file of a connection, or ask an admin.")
    if not address.startswith("https://"):
        raise SourceProblem("Only https:// addresses can be given here.", without_password(address), WEB_ADVICE)
    _, connection, name = _connection(address, signs_in=False)
    location = open_location(connection)
    with operations.reasons_hidden():
        (file,) = location.find(Pattern(name)) or [None]
        if file is None:
            location.require(name)
        refuse_none(file is not None, address, "Check the address.")
        require_short_wait(file.size, address)
        return _fetch(location, file)


def _fetch(location: Any, file: ListedFile) -> SourceFile:
    copy: SourceFile = location.fetch(file, acting_user())
    return copy


def _copy_ranges(location: Any, file: ListedFile) -> SourceFile:
    """A copy of a file that a stored connection would read in ranges."""
    with location.opened(file.name, file.etag) as ranges, as_file(ranges) as stream:
        return copy_stream(None, file, stream, file.size, acting_user())


def _own_sftp(connection: SourceConnection) -> Any:
    """SFTP as the account that runs the command. Imports large libraries."""
    return import_module(OWN_SFTP).open_location(connection)


@dataclass(frozen=True)
class _Scheme:
    """How the addresses of a scheme are read.

    `account`: settings and secrets for a host; `one_file`: an address names one file, what follows a ? included, and
    the server says why it has none; `open`: the files of a connection (protocol.py); `fetch`: a copy of one of them.
    """

    account: Callable[[str], Account]
    one_file: bool = False
    open: Callable[[SourceConnection], Any] = open_location
    fetch: Callable[[Any, ListedFile], SourceFile] = _fetch


def _connection(address: str, *, signs_in: bool = True) -> tuple[_Scheme, SourceConnection, str]:
    """A connection to the folder of the address, which is not stored, and the name or pattern of the file below it.

    `signs_in`: with the credentials of the account that runs the command.
    """
    check_scheme(address)
    scheme, _, rest = address.partition("://")
    place, _, path = rest.partition("/")
    known = ACCOUNTS[scheme]
    advice = ADVICE if signs_in else WEB_ADVICE
    if not place or ":" in place.rpartition("@")[0]:
        raise SourceProblem("That is no address that can be read.", without_password(address), advice)
    folder, name = _split(path, query=known.one_file)
    if not name:
        raise SourceProblem("The address names a folder, and no file.", address, advice)
    base = parse_base(f"{scheme}://{place}/{folder}")
    connection = SourceConnection(name="by hand", kind=base.kind, base=base.base)
    if not signs_in:
        return known, connection, name
    stated, secrets = known.account(place.rpartition("@")[2].partition(":")[0])
    connection.settings = {**base.settings, **stated}
    connection.set_secrets(dict(secrets))
    return known, connection, name


def _split(path: str, *, query: bool) -> tuple[str, str]:
    """The folders of a path without wildcards, and what is below them.

    `query`: a ? begins a query, which belongs to the name.
    """
    before, mark, rest = path.partition("?") if query else (path, "", "")
    *folders, name = before.split("/")
    fixed = list(takewhile(lambda part: not glob.has_magic(part), folders))
    return "/".join(fixed), "/".join((*folders[len(fixed) :], f"{name}{mark}{rest}"))


def _web_account(host: str) -> Account:
    """Settings and secrets from ~/.netrc (or NETRC), as curl --netrc reads it."""
    path = Path(os.environ.get("NETRC", "~/.netrc")).expanduser()
    with suppress(FileNotFoundError):
        try:
            found = netrc.netrc(str(path)).authenticators(host)
        except netrc.NetrcParseError as error:
            raise SourceProblem(
                f"It cannot be read: {error.msg}.", str(path), f"Correct line {error.lineno}."
            ) from error
        if found:
            return {"auth": "basic", "user": found[0]}, {"password": found[2]}
    return {}, {}


def _s3_account(_host: str) -> Account:
    """The store and the region of the environment; botocore finds the keys itself."""
    wanted = {
        "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
        "tls_ca": ("AWS_CA_BUNDLE",),
    }
    found = {name: next(filter(None, map(os.environ.get, names)), "") for name, names in wanted.items()}
    return {name: value for name, value in found.items() if value}, {}


def _no_account(_host: str) -> Account:
    """Nothing to store: own_sftp.py reads the known hosts, and signs in by the account's keys."""
    return {}, {}


_WEB = _Scheme(_web_account, one_file=True)
ACCOUNTS = {
    "https": _WEB,
    "http": _WEB,
    "s3": _Scheme(_s3_account, fetch=_copy_ranges),
    "sftp": _Scheme(_no_account, open=_own_sftp),
}
