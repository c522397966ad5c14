"""Declares FTP servers, with and without TLS."""

from importer.connections.connection_kind import (
    PASSWORD,
    TLS_CA,
    USER_IN_PLACE,
    ConnectionKind,
    ParsedAddress,
    ParsedBase,
    parse_server,
    write_with_user,
)

PORT = 21


def _parse(address: ParsedAddress) -> ParsedBase | None:
    return parse_server(KIND.name, address, PORT)


KIND = ConnectionKind(
    name="ftp",
    label="FTP, also over TLS",
    schemes=("ftp", "ftps"),
    example="ftps://USER@HOST:PORT/PATH",
    place_label="Address",
    place_help="ftps://USER@HOST:PORT/PATH, or ftp:// without TLS; without a password.",
    module="importer.connections.protocols.ftp",
    parse=_parse,
    write=write_with_user,
    fields=(USER_IN_PLACE, TLS_CA, PASSWORD),
)
