"""Connections without a request: how long they stay open, and what closes them."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import psutil
import pytest

from config.serving import worker
from tests.config.serving.tus import answer_of, begin_request, is_unanswered
from tests.stack import wait_until
from tests.web_site import WebSite, running_site

# Seconds after which gunicorn itself closes an idle connection.
OF_GUNICORN = 2
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Expect": "100-continue"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebSite]:
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, most))
    with running_site(tmp_path_factory.mktemp("site"), WEB_PROCESSES="1", WEB_THREADS="2") as running:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
        yield running


def idle(site: WebSite) -> socket.socket:
    """A connection whose request has been answered."""
    connection = begin_request(site, "HEAD", "/healthz", 0, b"", {})
    assert answer_of(connection).startswith("HTTP/1.1 200")
    return connection


def test_a_proxy_can_use_its_connection_again_later(site: WebSite):
    with idle(site) as connection:
        connection.settimeout(OF_GUNICORN + 1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        ask(site, connection)
        assert answer_of(connection).startswith("HTTP/1.1 200")


def test_an_idle_connection_ends_before_the_requests_of_a_server_that_ends(site: WebSite):
    try:
        with idle(site) as connection, begin_request(site, "POST", "/login/", 500, b"", FORM) as request:
            # Asked for its body, it is under way: before, it would be a connection without a request, too.
            assert answer_of(request).startswith("HTTP/1.1 100")
            site.ask_to_end()
            assert connection.recv(1) == b""
            assert is_unanswered(request)
    finally:
        assert site.stop() == 0
        site.start()


def ask(site: WebSite, connection: socket.socket) -> None:
    connection.sendall(f"HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode())


def test_in_a_crowd_each_new_connection_closes_the_oldest_idle_one(site: WebSite):
    with ExitStack() as kept:
        connections = [kept.enter_context(site.connect()) for _ in range(worker.CROWDED)]
        # The first ones are closed only after they have had time for a request.
        wait_until(lambda: kept.enter_context(idle(site)) and not is_unanswered(connections[0]))
        assert is_unanswered(connections[-1])


def test_a_crowd_that_comes_at_once_is_answered_whole(site: WebSite):
    with ExitStack() as kept:
        with site.held_up():
            crowd = [kept.enter_context(site.connect()) for _ in range(worker.CROWDED + 200)]
            for each in crowd:
                ask(site, each)
        for each in crowd:
            assert answer_of(each).startswith("HTTP/1.1 200")


def test_a_process_may_open_more_files_than_it_was_started_with(site: WebSite):
    for process in site.children():
        allowed, most = process.rlimit(psutil.RLIMIT_NOFILE)
        assert allowed == min(most, worker.OPEN_FILES)
