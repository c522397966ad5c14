"""Parses and formats a connection's address: /folder, https://host/path/, s3://bucket/prefix, sftp://user@host/path."""

from urllib.parse import unquote, urlsplit

from importer.connections.connection_kind import ParsedAddress, ParsedBase
from importer.connections.connection_kinds import BY_SCHEME, examples, kind_of
from importer.engine.errors import SourceProblem
from importer.models import SourceConnection

ADVICE = f"Write {examples()}, without a password."


def parse_base(text: str) -> ParsedBase:
    """Parse an address. Raises Problem, whose text never contains parts that may be a password."""
    address = ParsedAddress(text) if text.startswith("/") else _parse_address(text)
    kind = BY_SCHEME.get(address.scheme)
    base = kind.parse(address) if kind else None
    if base is None:
        raise SourceProblem("That is no place of a kind that is known.", advice=ADVICE)
    return base


def _parse_address(text: str) -> ParsedAddress:
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
    return ParsedAddress(text, parts.scheme, parts.netloc, host, port, path, unquote(parts.username or ""))


def format_base(connection: SourceConnection) -> str:
    """The connection's address, as parse_base() reads it."""
    return kind_of(connection).write(connection)
