"""No server gets the password by a method that shows it, and the real servers still do their own way."""

import itertools
from contextlib import contextmanager, suppress
from dataclasses import replace

import MySQLdb
import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.mysql.connection import Address, connect, connect_loader, execute, fetch_all
from importer.engine.mysql.sign_in.authentication import ALWAYS, CLEAR, EXCHANGE, PasswordWithheld, methods
from tests.file_servers.certificates import certificate_of_localhost
from tests.rogue_server import RoguePasswordServer, RogueServer

PASSWORD = "canary-7f3a"
# Linux connects this address to the machine itself, but it is no loopback address: it stands for another machine.
ELSEWHERE = "0.0.0.0"
TLS = ("off", "encrypt", "verify")
METHODS = (*CLEAR, *EXCHANGE)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Of the rogue server: signed by itself, for the name localhost."""
    return certificate_of_localhost(tmp_path_factory.mktemp("rogue"))


def address_of(rogue, **changes):
    return Address(ELSEWHERE, rogue.port, "somebody", PASSWORD, "anything", **changes)


def stolen_by(rogue, address, open_connection=connect):
    with rogue:
        with suppress(Problem), open_connection(replace(address, port=rogue.port)):
            pass
        return rogue.stolen


class TestRoguePasswordServer:
    @pytest.mark.parametrize("mode", ["DISABLED", "REQUIRED"])
    @pytest.mark.parametrize("demanded", METHODS)
    def test_rogue_server_robs_a_careless_client(self, demanded, mode, certificate):
        """The rogue server works; otherwise the tests below would prove nothing."""
        with RoguePasswordServer(demanded=demanded, certificate=certificate) as rogue:
            with suppress(MySQLdb.Error):
                MySQLdb.connect(host="127.0.0.1", port=rogue.port, user="x", passwd=PASSWORD, ssl_mode=mode).close()
            assert PASSWORD.encode() in rogue.stolen

    @pytest.mark.parametrize("open_connection", [connect, connect_loader])
    @pytest.mark.parametrize("offers_tls", [False, True])
    @pytest.mark.parametrize("tls", TLS)
    @pytest.mark.parametrize("demanded", METHODS)
    def test_rogue_server_gets_no_password(self, demanded, tls, offers_tls, open_connection, certificate):
        for asked_at_once in (False, True):
            rogue = RoguePasswordServer(
                demanded=demanded, certificate=certificate if offers_tls else None, asked_at_once=asked_at_once
            )
            with rogue, pytest.raises(TargetProblem) as caught, open_connection(address_of(rogue, tls=tls)):
                pass
            assert PASSWORD.encode() not in rogue.stolen
            if tls == "off" and not asked_at_once:
                assert isinstance(caught.value, PasswordWithheld)
                assert rogue.logins

    @pytest.mark.parametrize("tls", TLS)
    @pytest.mark.parametrize("demanded", METHODS)
    def test_rogue_server_gets_no_password_where_readable_ones_are_allowed(self, demanded, tls, certificate):
        rogue = RoguePasswordServer(demanded=demanded, certificate=certificate)
        with rogue, pytest.raises(TargetProblem), connect(address_of(rogue, tls=tls, clear_password=True)):
            pass
        assert PASSWORD.encode() not in rogue.stolen

    @pytest.mark.parametrize("tls", TLS)
    @pytest.mark.parametrize("demanded", METHODS)
    def test_rogue_server_gets_no_password_where_the_real_servers_key_is_known(self, demanded, tls, certificate):
        real = RoguePasswordServer(keys=1)
        rogue = RoguePasswordServer(demanded=demanded, certificate=certificate)
        with rogue, suppress(TargetProblem), connect(address_of(rogue, tls=tls, server_key=real.public_key)):
            pass
        assert PASSWORD.encode() not in rogue.stolen

    @pytest.mark.parametrize("demanded", CLEAR)
    @pytest.mark.parametrize("tls", TLS)
    def test_rogue_server_on_this_machine_gets_no_readable_password(self, demanded, tls, certificate):
        rogue = RoguePasswordServer(demanded=demanded, certificate=certificate)
        with rogue:
            address = replace(address_of(rogue, tls=tls), host="127.0.0.1")
            with pytest.raises(TargetProblem), connect(address):
                pass
        assert PASSWORD.encode() not in rogue.stolen

    @pytest.mark.parametrize("demanded", METHODS)
    def test_a_verified_server_gets_it_and_the_readable_one_only_where_that_is_allowed(self, demanded, tmp_path):
        certificate = certificate_of_localhost(tmp_path, "127.0.0.1")
        for clear_password in (False, True):
            rogue = RoguePasswordServer(demanded=demanded, certificate=certificate)
            address = Address("127.0.0.1", 1, "somebody", PASSWORD, "d", "verify", str(certificate))
            stolen = stolen_by(rogue, replace(address, clear_password=clear_password))
            assert (PASSWORD.encode() in stolen) == (clear_password or demanded in EXCHANGE)

    @pytest.mark.parametrize("method", ["client_ed25519", "mysql_native_password"])
    def test_a_method_that_does_not_show_the_password_may_be_asked_for_by_anybody(self, method):
        rogue = RoguePasswordServer(demanded=method)
        with rogue, suppress(TargetProblem), connect(address_of(rogue)):
            pass
        login = rogue.logins[0]
        assert len(rogue.stolen) > len(login), "nothing was sent for the method"
        assert PASSWORD.encode() not in rogue.stolen

    def test_an_error_text_that_is_no_utf_8_ends_no_process(self):
        rogue = RogueServer("", b"SET NAMES", error=b"\xff\xfe no text")
        with rogue, pytest.raises(TargetProblem, match="not readable"), connect(address_of(rogue)):
            pass


def test_the_methods_are_decided_by_the_way_to_the_server():
    here = Address("h", 1, "u", PASSWORD, "d")
    for tls, key, clear, local in itertools.product(TLS, ("", "key"), (False, True), (False, True)):
        address = replace(here, tls=tls, server_key=key, clear_password=clear)
        allowed = set(methods(address, on_this_machine=local))
        assert allowed >= set(ALWAYS)
        assert (set(EXCHANGE) <= allowed) == (tls == "verify" or local or (tls == "off" and key != ""))
        assert (set(CLEAR) <= allowed) == (tls == "verify" and clear)
    assert set(EXCHANGE) <= set(methods(replace(here, password=""), on_this_machine=False))


@contextmanager
def skip_without(what):
    try:
        yield
    except MySQLdb.Error as error:
        pytest.skip(f"no {what}: {error}")


@contextmanager
def account(root, method):
    """The address of a new account with the method, on a server that has not seen its password yet."""
    with connect(root) as connection:
        if method == "client_ed25519":
            with skip_without("auth_ed25519 on this server"):
                execute(connection, "INSTALL PLUGIN IF NOT EXISTS ed25519 SONAME 'auth_ed25519'")
            how = f"IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}')"
        elif method == "mysql_native_password":
            how = f"IDENTIFIED BY '{PASSWORD}'"
        else:
            how = f"IDENTIFIED WITH {method} BY '{PASSWORD}'"
        execute(connection, f"CREATE USER someone@'127.0.0.1' {how}")
        execute(connection, f"GRANT ALL ON {root.database}.* TO someone@'127.0.0.1'")
    yield replace(root, user="someone", password=PASSWORD)
    with connect(root) as connection:
        execute(connection, "DROP USER someone@'127.0.0.1'")


def signs_in(address):
    with connect(address) as connection:
        return fetch_all(connection, "SELECT CURRENT_USER()") == [("someone@127.0.0.1",)]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", ELSEWHERE])
@pytest.mark.parametrize("method", ["mysql_native_password", "client_ed25519"])
def test_mariadb_accounts_sign_in_from_anywhere(mariadb, method, host):
    with account(mariadb, method) as address:
        assert signs_in(replace(address, host=host))
        with connect_loader(replace(address, host=host)):
            pass


@pytest.fixture
def mysql(servers):
    if "mysql" not in servers:
        pytest.skip("without a MySQL (TEST_MYSQL_COMMAND)")
    with servers["mysql"].fresh_database() as address:
        yield address


class TestMySQL:
    @pytest.mark.parametrize("method", EXCHANGE)
    @pytest.mark.parametrize("tls", ["off", "encrypt"])
    def test_accounts_sign_in_on_this_machine(self, mysql, method, tls):
        with account(mysql, method) as address:
            assert signs_in(replace(address, tls=tls))

    @pytest.mark.parametrize("method", EXCHANGE)
    @pytest.mark.parametrize("tls", ["off", "encrypt"])
    def test_accounts_elsewhere_need_verified_tls_or_a_known_key(self, mysql, method, tls):
        with account(mysql, method) as address:
            away = replace(address, host=ELSEWHERE, tls=tls)
            with pytest.raises(PasswordWithheld, match=r"TLS to verify"):
                signs_in(away)
            known = replace(away, server_key=key_of(mysql))
            if tls == "off":
                assert signs_in(known)
            else:
                with pytest.raises(PasswordWithheld):
                    signs_in(known)

    def test_a_server_with_another_key_than_the_known_one_is_refused(self, mysql):
        with account(mysql, EXCHANGE[0]) as address:
            other = RoguePasswordServer().public_key
            with pytest.raises(TargetProblem):
                signs_in(replace(address, host=ELSEWHERE, server_key=other))


def key_of(root):
    with connect(root) as connection:
        return fetch_all(connection, "SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'")[0][1]
