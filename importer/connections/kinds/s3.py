"""Declares buckets of S3 and of compatible stores."""

from importer.connections.connection_kind import (
    TLS_CA,
    ConnectionField,
    ConnectionKind,
    ParsedAddress,
    ParsedBase,
    write_with_user,
)


def _parse(address: ParsedAddress) -> ParsedBase:
    # The bucket's name as typed: `host` is in lower case.
    return ParsedBase(KIND.name, "/".join(["s3:/", address.netloc, *filter(None, address.path.split("/"))]))


KIND = ConnectionKind(
    name="s3",
    label="S3 or compatible",
    schemes=("s3",),
    example="s3://BUCKET/PREFIX",
    place_label="Bucket",
    place_help="s3://BUCKET/PREFIX; without a prefix, the whole bucket.",
    module="importer.connections.protocols.s3",
    parse=_parse,
    write=write_with_user,
    in_place=True,
    fields=(
        ConnectionField(
            "endpoint",
            "endpoint",
            "The address of a compatible store, such as https://HOST:9000. Empty: Amazon.",
        ),
        ConnectionField("region", "region", "Such as eu-central-1. Empty: that of the environment."),
        ConnectionField("access_key", "access key ID", "Empty: what the environment or the role of this server gives."),
        ConnectionField("secret_key", "secret access key", secret=True),
        TLS_CA,
    ),
)
