"""Guesses that come at the same time, to several real web server processes, on both kinds of own database.

The tests share an installation, so each guesses from an address of its own.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from tests.targets import TestServer
from tests.web_site import PASSWORD, WebSite, own_database, running_site

GUESSES = 120
AT_ONCE = 24
MOST = 10


class Site:
    """A running installation."""

    def __init__(self, site: WebSite) -> None:
        self._site = site

    def guess(self, name: str, password: str, address: str) -> str:
        """What comes of a sign-in: "in", "wrong", or "too many"."""
        with requests.Session() as browser:
            browser.headers["X-Forwarded-For"] = f"198.51.100.1, {address}"
            answer = self._site.sign_in(browser, name, password)
        if answer.status_code == 302:
            return "in"
        assert answer.status_code == 200, answer.text
        return "too many" if "Too many attempts" in answer.text else "wrong"


@pytest.fixture(scope="module", params=["sqlite", "mariadb"])
def site(
    request: pytest.FixtureRequest, servers: dict[str, TestServer], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """Three web server processes of eight threads, behind a proxy, with the account admin."""
    settings = {"TRUSTED_PROXIES": "127.0.0.1", "WEB_PROCESSES": "3", "WEB_THREADS": "8"}
    settings["TEST_PASSWORD_HASHER"] = "tests.hashing.OverlappingHasher"
    # However long the guesses of a test take, they are of one time.
    settings["SIGN_IN_SECONDS"] = "86400"
    with ExitStack() as databases:
        if request.param == "mariadb":
            settings["DATABASE_URL"] = own_database(databases.enter_context(servers["mariadb"].fresh_database()))
        with running_site(tmp_path_factory.mktemp("site"), **settings) as running:
            yield Site(running)


def test_of_120_guesses_at_once_10_are_evaluated_and_others_go_on(site: Site):
    with ThreadPoolExecutor(AT_ONCE + 1) as pool:
        guesses = [pool.submit(site.guess, "admin", f"guess {number}", "203.0.113.9") for number in range(GUESSES)]
        # During the guesses the person signs in from another address.
        assert pool.submit(site.guess, "admin", PASSWORD, "192.0.2.1").result() == "in"
    outcomes = [each.result() for each in guesses]
    assert outcomes.count("wrong") == MOST
    assert outcomes.count("too many") == GUESSES - MOST
    assert site.guess("admin", PASSWORD, "203.0.113.9") == "too many"


def test_60_names_at_once_with_one_password_are_30_evaluations(site: Site):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(lambda number: site.guess(f"name {number}", "Summer2026", "203.0.113.10"), range(60)))
    assert outcomes.count("wrong") == 30
    assert site.guess("admin", PASSWORD, "203.0.113.10") == "too many"
    assert site.guess("admin", PASSWORD, "192.0.2.2") == "in"


def test_right_passwords_at_once_all_get_in(site: Site):
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: site.guess("admin", PASSWORD, "203.0.113.11"), range(8)))
    assert set(outcomes) == {"in"}
