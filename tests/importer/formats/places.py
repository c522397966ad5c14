"""The same flights in files of this machine, and on servers: where an import finds them, and how a door names them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from importer.models import SourceConnection
from tests.file_servers.s3 import S3Files
from tests.file_servers.sftp import SftpFiles
from tests.file_servers.web import WebFiles
from tests.importer.formats.flights import WRITERS, Flight, write_months

CSV = "flights.csv"
MONTHS = "flights-*.csv"
# Files of a connection, by the kind of that.
OF_CONNECTIONS = {"glob": "folder", "https": "http", "s3": "s3", "sftp": "sftp"}
# Files of this machine.
OF_THIS_MACHINE = tuple(WRITERS)
STDIN = "stdin"
ORIGINS = (*OF_THIS_MACHINE, STDIN, *OF_CONNECTIONS)
TEXTS = ("csv", STDIN, *OF_CONNECTIONS)


@dataclass
class Places:
    """The flights `rows`, in `folder` and on the servers."""

    rows: Sequence[Flight]
    folder: Path
    web: WebFiles
    certificate: Path
    s3: S3Files
    sftp: SftpFiles
    _written: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.months.mkdir()
        write_months(self.months, self.rows)
        data = self.file("csv").read_bytes()
        self.web.files[f"/{CSV}"] = data
        self.s3.client.put_object(Bucket="files", Key=f"doors/{CSV}", Body=data)
        (self.sftp.root / "doors").mkdir()
        (self.sftp.root / "doors" / CSV).write_bytes(data)
        hosts = self.folder / "home/.ssh"
        hosts.mkdir(parents=True)
        host, port = self.sftp.url.removeprefix("sftp://").split(":")
        (hosts / "known_hosts").write_text(f"[{host}]:{port} {self.sftp.public_key}\n")
        (hosts / "id_ed25519").write_text(self.sftp.private_key)

    @property
    def months(self) -> Path:
        """The folder with a file for each month."""
        return self.folder / "months"

    @property
    def web_url(self) -> str:
        return f"https://localhost:{self.web.server_port}/"

    def file(self, format_: str) -> Path:
        """The flights in a file of this format, which is written once."""
        if format_ not in self._written:
            path = self.folder / f"flights.{format_}"
            WRITERS[format_](path, self.rows)
            self._written[format_] = path
        return self._written[format_]

    def words(self, origin: str) -> list[str]:
        """How the command names the flights."""
        sftp = self.sftp.url.replace("sftp://", "sftp://me@")
        named = {
            STDIN: ["-"],
            "glob": [f"{self.months}/{MONTHS}"],
            "https": [f"{self.web_url}{CSV}", "--allow-private"],
            "s3": [f"s3://files/doors/{CSV}"],
            "sftp": [f"{sftp}/doors/{CSV}", "--allow-private"],
        }
        return named.get(origin) or [str(self.file(origin))]

    @property
    def environment(self) -> dict[str, str]:
        """What the command needs to sign in: the account's home folder, its keys, and the web server's certificate."""
        return {
            "HOME": str(self.folder / "home"),
            "SSL_CERT_FILE": str(self.certificate),
            "AWS_ENDPOINT_URL_S3": self.s3.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": self.s3.key,
            "AWS_SECRET_ACCESS_KEY": self.s3.secret,
        }

    def connection(self, origin: str) -> SourceConnection:
        """The saved connection to where the flights lie."""
        base, stated, secrets = self._connections[origin]
        connection = SourceConnection(name=origin, kind=OF_CONNECTIONS[origin], base=base, private_allowed=True)
        connection.settings = stated
        connection.set_secrets(secrets)
        connection.save()
        return connection

    @property
    def _connections(self) -> dict[str, tuple[str, dict[str, Any], dict[str, str]]]:
        s3 = {"endpoint": self.s3.url, "region": "us-east-1", "access_key": self.s3.key}
        return {
            "glob": (str(self.months), {}, {}),
            "https": (self.web_url, {"tls_ca": str(self.certificate)}, {}),
            "s3": ("s3://files/doors", s3, {"secret_key": self.s3.secret}),
            "sftp": (
                f"{self.sftp.url}/doors",
                {"user": "me", "host_key": self.sftp.host_key},
                {"password": "secret"},
            ),
        }

    def pattern(self, origin: str) -> str:
        """The pattern of the names of the files at a connection."""
        return MONTHS if origin == "glob" else CSV
