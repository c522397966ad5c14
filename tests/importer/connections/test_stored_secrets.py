"""Stored secrets and private places: who administers a connection cannot send the first elsewhere, or reach the second.

The fields are those that each kind declares.
"""

from pathlib import Path

import certifi
import pytest

from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.connections import connection_settings
from importer.connections.connection_kinds import KINDS
from importer.engine.errors import Problem
from importer.models import SourceConnection, Target
from importer.models.checked_save import save_checked
from tests.people import operator

pytestmark = pytest.mark.django_db

PLACES = {
    "http": "https://files.example/in/",
    "s3": "s3://bucket/in",
    "sftp": "sftp://ann@files.example/in",
    "ftp": "ftps://ann@files.example/in",
}
BEFORE = {"header": "X-Key", "endpoint": "https://store.example", "host_key": f"SHA256:{'a' * 43}"}
OTHERS = {"header": "X-Other", "endpoint": "https://other.example", "host_key": f"SHA256:{'b' * 43}"}
SETTINGS = [(kind.name, each.name) for kind in KINDS if kind.secrets for each in kind.settings.values()]


def stored(kind: str) -> tuple[SourceConnection, dict[str, str]]:
    """A connection with a value of each setting and each secret, and the settings that are not in its place."""
    declared = next(each for each in KINDS if each.name == kind)
    given = {
        name: list(each.choices)[-1] if each.choices else BEFORE.get(name, "before")
        for name, each in declared.settings.items()
        if not each.in_place
    }
    connection = SourceConnection(name=kind)
    secrets = dict.fromkeys(declared.secrets, "sesame")
    connection_settings.save(connection, PLACES[kind], given, secrets, private_allowed=True)
    assert connection.secrets == secrets
    return connection, given


@pytest.mark.parametrize(("kind", "name"), SETTINGS)
def test_a_change_of_any_setting_drops_the_secrets(kind: str, name: str):
    connection, given = stored(kind)
    connection_settings.save(connection, PLACES[kind], given, {}, private_allowed=True)
    assert connection.secrets
    place, declared = PLACES[kind], next(each for each in KINDS if each.name == kind).settings[name]
    if declared.in_place:
        place = place.replace("ann@", "bob@")
    else:
        given = {**given, name: next(iter(declared.choices), "") or OTHERS.get(name, "other")}
    connection_settings.save(connection, place, given, {}, private_allowed=True)
    assert connection.secrets == {}


@pytest.mark.parametrize("kind", PLACES)
def test_a_change_of_the_place_drops_the_secrets(kind: str):
    connection, given = stored(kind)
    connection_settings.save(connection, f"{PLACES[kind]}/more/", given, {})
    assert connection.secrets == {}


def test_the_first_key_that_is_confirmed_keeps_them():
    connection = SourceConnection(name="sftp")
    connection_settings.save(connection, PLACES["sftp"], {}, {"password": "sesame"})
    connection_settings.save(connection, PLACES["sftp"], {"host_key": BEFORE["host_key"]}, {})
    assert connection.secrets == {"password": "sesame"}


@pytest.mark.parametrize("kind", PLACES)
def test_a_command_that_changes_the_place_wants_the_secret(kind: str):
    connection, given = stored(kind)
    with pytest.raises(Problem, match="Enter it again"):
        connection_settings.add_or_replace(kind, f"{PLACES[kind]}/more/", given, {}, replace=True)
    name = next(iter(connection.secrets))
    again = connection_settings.add_or_replace(kind, f"{PLACES[kind]}/more/", given, {name: "other"}, replace=True)
    assert (again.pk, again.secrets) == (connection.pk, {name: "other"})


@pytest.mark.parametrize("kind", PLACES)
def test_private_places_are_an_admins(kind: str):
    connection, given = stored(kind)
    with acting_as(operator("ann")):
        connection_settings.save(connection, PLACES[kind], given, {}, private_allowed=True)
        for place, changed in ((f"{PLACES[kind]}/more/", connection), (PLACES[kind], SourceConnection(name="new"))):
            with pytest.raises(Forbidden, match="Only admins may let a connection reach private addresses"):
                connection_settings.save(changed, place, given, {}, private_allowed=True)
        connection_settings.save(connection, PLACES[kind], given, {})
        with pytest.raises(Forbidden):
            connection_settings.save(connection, PLACES[kind], given, {}, private_allowed=True)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("folder", ["VAR_DIR", "UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR", "IMPORT_FOLDERS"])
def test_a_certificate_that_somebody_may_have_sent_is_not_trusted(folder: str, linked: bool, settings, tmp_path: Path):
    """Each folder may be elsewhere than the others."""
    filled, path = tmp_path / "filled", tmp_path / "link.pem"
    filled.mkdir()
    sent = filled / "ca.pem"
    sent.write_text(Path(certifi.where()).read_text())
    path.symlink_to(sent)
    setattr(settings, folder, [str(filled)] if folder == "IMPORT_FOLDERS" else filled)
    given = {"tls_ca": str(path if linked else sent)}
    with pytest.raises(Problem, match="outside the folders of Millrace"):
        connection_settings.save(SourceConnection(name="web"), PLACES["http"], given, {})
    with pytest.raises(Problem, match="outside the folders of Millrace"):
        save_checked(Target(name="t", host="db.example", user="ann", database="shop", tls="verify", **given))
