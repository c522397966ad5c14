"""Declares FTP servers, with and without TLS."""

from importer.connections.connection_kind import (
    PASSWORD,
    TLS_CA,
    USER_IN_PLACE,
    ConnectionKind,
    server_parser,
    write_with_user,
)

KIND = ConnectionKind(
    name="ftp",
    label="FTP, also over TLS",
    schemes=("ftp", "ftps"),
    example="ftps://USER@HOST:PORT/PATH",
    place_label="Address",
    place_help="ftps://USER@HOST:PORT/PATH, or ftp:// without TLS; without a password.",
    module="importer.connections.protocols.ftp",
    parse=server_parser("ftp", default_port=21),
    write=write_with_user,
    lists_unfinished=True,
    fields=(USER_IN_PLACE, PASSWORD, TLS_CA),
)
