"""Addresses that a person gives to a command: what they find, the account they use, and what is refused."""

from pathlib import Path

import asyncssh
import pytest

from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.connections.by_hand.resolve import resolve_sources
from importer.engine.errors import NoConnection, Problem, SourceProblem
from importer.engine.mysql.addresses import AddressRefused
from importer.models import SourceConnection, SourceFile
from importer.sources.store.s3_client import cached_client
from tests.people import operator

pytestmark = pytest.mark.django_db
DATA = b"id,name\n1,one\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings, monkeypatch) -> Path:
    """The home folder of the account that runs the command; nothing is left of what fails."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "SSH_AUTH_SOCK", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def read(*names: str) -> list[tuple[str, bytes]]:
    """Name and bytes of the files; none of them is at a stored connection."""
    files = resolve_sources(names, private_allowed=True).files
    assert not SourceConnection.objects.exists()
    return [(each.name, each.file.read_bytes()) for each in files]


class TestWeb:
    def test_a_file_is_copied(self, web):
        web.files["/in/a.csv?part=1"] = DATA
        assert read(f"{web.url}in/a.csv?part=1") == [("a.csv", DATA)]

    def test_the_account_of_netrc_signs_in(self, web, home):
        web.files["/a.csv"] = DATA
        (home / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
        (home / ".netrc").chmod(0o600)
        read(f"{web.url}a.csv")
        assert all(headers["Authorization"] == "Basic bWU6c2VjcmV0" for _, _, headers in web.sent)

    def test_a_private_address_is_refused_without_the_flag(self, web):
        web.files["/a.csv"] = DATA
        with pytest.raises(AddressRefused):
            resolve_sources([f"{web.url}a.csv"])
        assert web.sent == []

    def test_a_redirect_to_the_cloud_metadata_is_refused(self, web):
        web.redirects["/a.csv"] = "http://169.254.169.254/latest/meta-data"
        with pytest.raises(AddressRefused):
            read(f"{web.url}a.csv")
        assert SourceFile.objects.count() == 0

    def test_a_missing_file_is_refused_with_its_address(self, web):
        with pytest.raises(SourceProblem, match=r"answers 404 Not Found") as refused:
            read(f"{web.url}b.csv")
        assert refused.value.where == f"{web.url}b.csv"

    def test_what_was_copied_goes_if_a_later_name_fails(self, web, settings):
        web.files["/a.csv"] = DATA
        with pytest.raises(SourceProblem):
            read(f"{web.url}a.csv", f"{web.url}b.csv")
        assert (SourceFile.objects.count(), list(settings.UPLOAD_DIR.iterdir())) == (0, [])


class TestS3:
    @pytest.fixture(autouse=True)
    def account(self, s3_server, monkeypatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_server.url)
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret)
        for number in (1, 2):
            s3_server.client.put_object(Bucket="files", Key=f"hand/2026-0{number}.csv", Body=DATA + b"%d" % number)

    def test_a_pattern_finds_the_objects(self):
        assert read("s3://files/hand/2026-0?.csv") == [("2026-01.csv", DATA + b"1"), ("2026-02.csv", DATA + b"2")]
        assert read("s3://files/h*d/*-02.csv") == [("2026-02.csv", DATA + b"2")]

    def test_keys_without_rights_are_refused(self, monkeypatch):
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        cached_client.cache_clear()
        with pytest.raises(NoConnection, match="refuses"):
            read("s3://files/hand/2026-01.csv")
        cached_client.cache_clear()

    def test_without_keys_they_are_named(self, monkeypatch, home):
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        # Else botocore asks for a role at the metadata address of clouds.
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        cached_client.cache_clear()
        with pytest.raises(NoConnection, match="no credentials") as refused:
            read("s3://files/hand/2026-01.csv")
        assert "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in refused.value.advice
        cached_client.cache_clear()


class TestSftp:
    @pytest.fixture(autouse=True)
    def account(self, sftp_server, home) -> None:
        (sftp_server.root / "hand").mkdir(exist_ok=True)
        (sftp_server.root / "hand/a.csv").write_bytes(DATA)
        (home / ".ssh").mkdir()
        (home / ".ssh/id_ed25519").write_text(sftp_server.private_key)

    def test_an_unknown_host_gets_no_key(self, sftp_server):
        with pytest.raises(SourceProblem, match=r"not in ~/\.ssh/known_hosts"):
            read(f"{self.address(sftp_server)}/hand/a.csv")

    def test_a_known_host_is_signed_in_to_by_the_own_key(self, sftp_server, home):
        self.trust(sftp_server, home)
        assert read(f"{self.address(sftp_server)}/hand/*.csv") == [("a.csv", DATA)]

    def test_a_server_that_takes_no_key_is_refused(self, sftp_server, home):
        self.trust(sftp_server, home)
        other = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
        (home / ".ssh/id_ed25519").write_text(other)
        with pytest.raises(SourceProblem, match="no key of your account"):
            read(f"{self.address(sftp_server)}/hand/a.csv")

    def address(self, server) -> str:
        return server.url.replace("sftp://", "sftp://me@")

    def trust(self, server, home: Path) -> None:
        host, port = server.url.removeprefix("sftp://").split(":")
        (home / ".ssh/known_hosts").write_text(f"[{host}]:{port} {server.public_key}\n")


@pytest.mark.parametrize(
    "name", ["htps://example.org/a.csv", "https:///a.csv", "https://example.org/in/", "s3://bucket", "ftp://h/a.csv"]
)
def test_a_mistyped_address_is_refused(name):
    with pytest.raises(Problem, match="address"):
        resolve_sources([name])


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(SourceProblem) as refused:
        resolve_sources(["sftp://me:secret@example.org/a.csv"])
    assert "secret" not in str(refused.value)


def test_people_use_connections_instead():
    with acting_as(operator("ann")), pytest.raises(Forbidden, match="connection"):
        resolve_sources(["https://example.org/a.csv"])
