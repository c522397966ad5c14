"""How a place is written: /folder, https://host/path/, s3://bucket/prefix, sftp://user@host/path, ftps://user@host/path."""

import os
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from importer.connections.protocols.folder import root_of
from importer.engine.errors import SourceProblem
from importer.models import SourceConnection
from importer.security.outbound_addresses import web_url

ADVICE = (
    "Write /FOLDER, https://HOST/PATH/, s3://BUCKET/PREFIX, sftp://USER@HOST:PORT/PATH or ftps://USER@HOST:PORT/PATH,"
    " without a password."
)
PORTS = {"sftp": 22, "ftp": 21, "ftps": 21}

Kind = SourceConnection.Kind
# Their places name who signs in.
WITH_USER = (Kind.SFTP, Kind.FTP)


@dataclass(frozen=True)
class Base:
    """A place taken apart: the kind of its connection, its base as it is kept, and settings that stood in it."""

    kind: str
    base: str
    settings: dict[str, str] = field(default_factory=dict)


def parse_base(text: str) -> Base:
    """Take a place apart. Raises Problem, which never repeats what may be a password."""
    if text.startswith("/"):
        folder = os.path.normpath(text)
        root_of(folder)
        return Base(Kind.FOLDER, folder)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SourceProblem("The address has no valid host and port.", advice=ADVICE) from error
    if not host or parts.password or parts.query or parts.fragment:
        raise SourceProblem("The address names no host, or more than a place.", advice=ADVICE)
    path = unquote(parts.path)
    if any(part in (".", "..") for part in path.split("/")):
        raise SourceProblem("The address has . or .. in its path.", advice=ADVICE)
    if parts.scheme in ("http", "https"):
        web_url(text)
        return Base(Kind.HTTP, text.rstrip("/") + "/")
    if parts.scheme == "s3":
        # Not parts.hostname, which is in small letters.
        return Base(Kind.S3, "/".join(["s3:/", parts.netloc, *filter(None, path.split("/"))]))
    if parts.scheme in PORTS and parts.username:
        shown = f"[{host}]" if ":" in host else host
        return Base(
            Kind.SFTP if parts.scheme == "sftp" else Kind.FTP,
            f"{parts.scheme}://{shown}:{port or PORTS[parts.scheme]}{path.rstrip('/')}",
            {"user": unquote(parts.username)},
        )
    raise SourceProblem("That is no place of a kind that is known.", advice=ADVICE)


def written(connection: SourceConnection) -> str:
    """The place as parse_base() reads it."""
    if connection.kind not in (Kind.S3, *WITH_USER):
        return connection.base
    scheme, _, rest = connection.base.partition("://")
    server, slash, path = rest.partition("/")
    account = f"{quote(connection.settings.get('user', ''), safe='')}@" if connection.kind in WITH_USER else ""
    return f"{scheme}://{account}{server}{slash}{path.replace('%', '%25').replace('?', '%3F').replace('#', '%23')}"
