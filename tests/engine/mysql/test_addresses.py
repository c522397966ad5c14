"""A target's addresses are checked at connecting, and the checked address is the one connected to."""

import socket
from dataclasses import replace

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import connect, connect_loader
from importer.engine.mysql.sign_in import reasons
from importer.engine.mysql.sign_in.reasons import REASON_HIDDEN, SignInRefused, show_reasons_if
from tests.engine.loads import rows_of
from tests.file_servers.certificates import certificate_of_localhost

NEVER = "metadata"


@pytest.fixture
def names(monkeypatch):
    """Answers of the name server by name, one for each look-up; a look-up without one fails."""
    answers: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def look_up(host, *args, **kwargs):
        return real(answers[host].pop(0) if host in answers else host, *args, **kwargs)

    monkeypatch.setattr("importer.engine.mysql.addresses.socket.getaddrinfo", look_up)
    return answers


@pytest.mark.parametrize("open_connection", [connect, connect_loader])
def test_a_network_that_is_not_allowed_is_not_connected_to(mariadb, open_connection):
    outside = replace(mariadb, networks=("10.0.0.0/8",))
    with pytest.raises(SignInRefused, match="inside a network"), open_connection(outside):
        pass
    with open_connection(replace(mariadb, networks=("10.0.0.0/8", "127.0.0.0/8"))):
        pass


@pytest.mark.parametrize("tls", ["off", "encrypt", "verify"])
@pytest.mark.parametrize(
    ("found", "said"), [("169.254.169.254", NEVER), ("64:ff9b::a9fe:a9fe", NEVER), ("10.1.2.3", "inside a network")]
)
def test_a_name_that_has_come_to_mean_another_address_is_not_connected_to(mariadb, names, found, said, tls):
    names["moving.example"] = [found]
    moved = replace(mariadb, host="moving.example", tls=tls, networks=("127.0.0.0/8",))
    with pytest.raises(TargetProblem, match=said), connect(moved):
        pass


def test_a_name_is_looked_up_once_so_that_it_cannot_change_after_the_check(mariadb, names):
    names["moving.example"] = ["127.0.0.1"]  # a second look-up would end the test
    assert rows_of(replace(mariadb, host="moving.example"), "SELECT 1") == [(1,)]


@pytest.mark.parametrize("content", [None, "no certificate"])
@pytest.mark.parametrize("tls", ["encrypt", "verify"])
def test_a_file_of_authorities_is_read_again_at_connecting(mariadb, tmp_path, tls, content):
    path = certificate_of_localhost(tmp_path)
    path.unlink() if content is None else path.write_text(content)
    address = replace(mariadb, tls=tls, tls_ca=str(path))
    with pytest.raises(SignInRefused, match="No certificate authorities"), connect(address):
        pass


@pytest.fixture
def without_reason(monkeypatch):
    monkeypatch.setattr(reasons, "_conditions", [])
    show_reasons_if(lambda: False)


def test_where_reasons_are_not_told_a_closed_port_looks_like_any_other(mariadb, without_reason, closed_port):
    said = set()
    for changes in (
        {"port": closed_port},
        {"user": "nobody", "password": "wrong"},
        {"tls": "encrypt"},
        {"tls": "verify"},
        {"host": "169.254.169.254"},
        {"host": "no-such-host.invalid"},
        {"networks": ()},
    ):
        with pytest.raises(TargetProblem) as caught, connect(replace(mariadb, **changes)):
            pass
        assert caught.value.__cause__ is None
        said.add((type(caught.value), str(caught.value)))
    assert len(said) == 1
    assert REASON_HIDDEN in said.pop()[1]


def test_a_missing_database_is_told_to_whoever_could_sign_in(mariadb, without_reason):
    with pytest.raises(TargetProblem, match="no_such"), connect(replace(mariadb, database="no_such")):
        pass
