"""Outbound requests are allowed or refused by the address that is connected to, not by the URL's text."""

import socket
import ssl
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.mysql.addresses import AddressRefused
from importer.security.outbound_addresses import connect_checked, parse_web_url, web_connection
from tests.file_servers.certificates import certificate_of_localhost


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "0x7f000001", "localhost", "10.1.2.3", "0.0.0.0", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
     "2002:7f00:1::", "fc00::1", "100.64.0.1", "224.0.0.1", "::127.0.0.1", "fec0::1", "::ffff:0:10.0.0.1", "5f00::1"],
)  # fmt: skip
def test_addresses_inside_are_refused_in_any_spelling_unless_allowed(host):
    with pytest.raises(AddressRefused, match="inside a network"):
        connect_checked(host, 9, private_allowed=False, seconds=5)


@pytest.mark.parametrize("host", ["169.254.169.254", "64:ff9b::a9fe:a9fe", "::169.254.169.254"])
def test_metadata_addresses_are_refused_even_where_private_ones_are_allowed(host):
    with pytest.raises(AddressRefused, match="metadata"):
        connect_checked(host, 80, private_allowed=True, seconds=5)


def test_a_name_is_resolved_once_so_that_it_cannot_change_after_the_check(listening, monkeypatch):
    answers = iter(["127.0.0.1"])  # a second look-up would end the test
    real = socket.getaddrinfo
    monkeypatch.setattr(
        "importer.security.outbound_addresses.socket.getaddrinfo",
        lambda host, *args, **kwargs: real(next(answers) if host == "moving.example" else host, *args, **kwargs),
    )
    with connect_checked("moving.example", listening, private_allowed=True, seconds=5) as reached:
        assert reached.getpeername() == ("127.0.0.1", listening)


@pytest.mark.parametrize("url", ["ftp://h/x", "https://", "h/x", "http://h:0/", "http://h:99999/", "http://[::1/"])
def test_an_invalid_url_is_refused(url):
    with pytest.raises(Problem, match="That is no URL"):
        parse_web_url(url)


def test_a_password_in_a_url_is_refused_and_not_repeated():
    with pytest.raises(Problem, match="a user or a password") as caught:
        parse_web_url("https://ann:sesame@h/x")
    assert "sesame" not in str(caught.value)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate_of_localhost(tmp_path_factory.mktemp("tls"))


def test_https_asks_for_a_certificate_of_that_host_by_an_authority_that_is_trusted(certificate: Path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

        def status(host: str, **trusted: str) -> int:
            url = f"https://{host}:{server.server_port}/"
            connection = web_connection(url, private_allowed=True, seconds=5, **trusted)
            with closing(connection):
                connection.request("GET", "/")
                return connection.getresponse().status

        assert status("localhost", tls_ca=str(certificate)) == 501
        with pytest.raises(ssl.SSLCertVerificationError, match="self-signed"):
            status("localhost")
        with pytest.raises(ssl.SSLCertVerificationError, match="not valid for"):
            status("127.0.0.1", tls_ca=str(certificate))
        server.shutdown()
