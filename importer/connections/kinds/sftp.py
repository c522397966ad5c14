"""Declares SFTP servers."""

from importer.connections.connection_kind import (
    PASSWORD,
    USER_IN_PLACE,
    ConnectionField,
    ConnectionKind,
    server_parser,
    write_with_user,
)

KIND = ConnectionKind(
    name="sftp",
    label="SFTP",
    schemes=("sftp",),
    example="sftp://USER@HOST:PORT/PATH",
    place_label="Address",
    place_help="sftp://USER@HOST:PORT/PATH, without a password.",
    module="importer.connections.protocols.sftp",
    parse=server_parser("sftp", default_port=22),
    write=write_with_user,
    lists_unfinished=True,
    fields=(
        USER_IN_PLACE,
        ConnectionField(
            "host_key", "fingerprint of the server's key", "SHA256:..., as the check shows it.", confirmed=True
        ),
        PASSWORD,
        ConnectionField("private_key", "private key", "In the format of OpenSSH, or PEM.", secret=True, lines=True),
        ConnectionField("passphrase", "passphrase of the private key", secret=True),
    ),
)
