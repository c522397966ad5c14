"""`millrace connection`: stored and shown values, and secrets that are never shown."""

import pytest
from django.core.management import CommandError, call_command

from importer.models import SourceConnection
from tests.documents import read

pytestmark = pytest.mark.django_db


def command(capsys, *args):
    call_command("connection", *args)
    return capsys.readouterr().out


def test_connection_command_adds_checks_lists_and_removes_a_folder(capsys, settings, tmp_path):
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    assert "connection check in" in command(capsys, "add", "in", f"{tmp_path}/")
    checked = read(command(capsys, "check", "in", "--json"))
    assert (checked["ok"], checked["findings"][0]["name"]) == (True, "folder")
    (listed,) = read(command(capsys, "list", "--json"))["connections"]
    assert (listed["base"], listed["ok"]) == (str(tmp_path), True)
    command(capsys, "remove", "in")
    assert not SourceConnection.objects.exists()


def test_secrets_come_from_the_environment_and_go_to_the_same_account_only(capsys, monkeypatch):
    monkeypatch.setenv("SHOP", "secret")
    monkeypatch.setattr("importer.management.commands.connection.getpass", lambda _: "words")
    printed = command(
        capsys, "add", "shop", "sftp://me@example.org/in", "--secret-env", "password=SHOP", "--ask", "passphrase"
    )
    printed += command(capsys, "list", "--json")
    stored = SourceConnection.objects.get()
    assert stored.secrets == {"password": "secret", "passphrase": "words"}
    assert (stored.base, stored.settings) == ("sftp://example.org:22/in", {"user": "me"})
    assert "secret" not in printed + stored.secrets_ciphertext
    command(capsys, "add", "shop", "sftp://me@example.org/in", "--set", "host_key=SHA256:x", "--replace")
    assert SourceConnection.objects.get().secrets == stored.secrets
    elsewhere = ("add", "shop", "sftp://me@example.com/in", "--replace")
    with pytest.raises(CommandError, match=r"Enter it again\. Use --ask NAME or --secret-env"):
        command(capsys, *elsewhere)
    assert SourceConnection.objects.get().secrets == stored.secrets
    command(capsys, *elsewhere, "--secret-env", "password=SHOP")
    assert SourceConnection.objects.get().secrets == {"password": "secret"}


def test_settings_can_be_given_from_a_shell(shell, transactional_db):
    """call_command() passes no arguments to Django's own --settings; a process of its own does."""
    shell.manage("connection", "add", "bucket", "s3://bucket/in", "--set", "region=eu-west-1")
    assert SourceConnection.objects.get().settings == {"region": "eu-west-1"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("/etc",), "IMPORT_FOLDERS"),
        (("https://me:secret@example.org/",), "names no host, or more than a place"),
        (("ftp://example.org/",), "no place of a kind that is known"),
        (("s3://bucket/../other",), "path"),
        (("sftp://example.org/in",), "no place of a kind"),
        (("s3://bucket", "--set", "user=me"), "has no setting user"),
        (("https://example.org/", "--set", "auth=maybe"), "cannot be maybe"),
        (("s3://bucket", "--set", "region"), "NAME=VALUE"),
        (("s3://bucket", "--secret-env", "secret_key=NOWHERE_TO_BE_SEEN"), "no environment variable"),
    ],
)
def test_a_wrong_connection_is_refused_without_showing_the_secret(capsys, args, message):
    with pytest.raises(CommandError, match=message) as caught:
        command(capsys, "add", "x", *args)
    assert "secret@" not in str(caught.value)
    assert not SourceConnection.objects.exists()
