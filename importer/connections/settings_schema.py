"""What a connection is told besides its place: settings, which are shown, and secrets, which are not."""

from dataclasses import dataclass

from importer.models import SourceConnection

Kind = SourceConnection.Kind


@dataclass(frozen=True)
class Field:
    """One of them: the kinds of connections that have it, and what it is for. `choices` are all that it may be."""

    name: str
    kinds: tuple[str, ...]
    label: str
    secret: bool = False
    choices: tuple[str, ...] = ()


FIELDS = (
    Field("auth", (Kind.HTTP,), "how one signs in", choices=("none", "basic", "bearer", "header")),
    Field("user", (Kind.HTTP, Kind.SFTP, Kind.FTP), "user"),
    Field("header", (Kind.HTTP,), "header that carries the secret, for auth=header (X-Api-Key)"),
    Field("endpoint", (Kind.S3,), "address of a compatible store, such as https://HOST:9000 (empty: Amazon)"),
    Field("region", (Kind.S3,), "region"),
    Field("access_key", (Kind.S3,), "access key (empty: what this server's environment or role gives)"),
    Field("tls_ca", (Kind.HTTP, Kind.S3, Kind.FTP), "CA file, where the server's certificate is not a public one"),
    Field("host_key", (Kind.SFTP,), "fingerprint of the server's key, as the check shows it (SHA256:...)"),
    Field("password", (Kind.HTTP,), "password, token or header's value", secret=True),
    Field("password", (Kind.SFTP, Kind.FTP), "password", secret=True),
    Field("secret_key", (Kind.S3,), "secret key", secret=True),
    Field("private_key", (Kind.SFTP,), "private key (OpenSSH or PEM)", secret=True),
    Field("passphrase", (Kind.SFTP,), "passphrase of the private key", secret=True),
)


def fields_of(kind: str, *, secret: bool) -> dict[str, Field]:
    """Those of a kind of connection, by name."""
    return {each.name: each for each in FIELDS if kind in each.kinds and each.secret == secret}
