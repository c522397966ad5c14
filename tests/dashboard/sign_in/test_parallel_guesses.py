"""Guesses that come at the same time, to several real web server processes, on both kinds of own database."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from importer.engine.mysql.connection import Address
from tests.web_site import PASSWORD, WebSite, own_database, running_site

GUESSES = 120
AT_ONCE = 24
MOST = 10


class Site:
    """A running installation."""

    def __init__(self, site: WebSite) -> None:
        self._site = site

    def guess(self, name: str, password: str, address: str = "203.0.113.9") -> str:
        """What comes of a sign-in: "in", "wrong", or "too many"."""
        with requests.Session() as browser:
            browser.headers["X-Forwarded-For"] = f"198.51.100.1, {address}"
            answer = self._site.sign_in(browser, name, password)
        if answer.status_code == 302:
            return "in"
        assert answer.status_code == 200, answer.text
        return "too many" if "Too many attempts" in answer.text else "wrong"


@pytest.fixture(params=["sqlite", "mariadb"])
def site(request: pytest.FixtureRequest, mariadb: Address, tmp_path: Path) -> Iterator[Site]:
    """Three web server processes of eight threads, behind a proxy, with the account admin."""
    settings = {"TRUSTED_PROXIES": "127.0.0.1", "WEB_PROCESSES": "3", "WEB_THREADS": "8"}
    if request.param == "mariadb":
        settings["DATABASE_URL"] = own_database(mariadb)
    with running_site(tmp_path, **settings) as running:
        yield Site(running)


def test_of_120_guesses_at_once_10_are_evaluated_and_others_go_on(site: Site):
    with ThreadPoolExecutor(AT_ONCE + 1) as pool:
        guesses = [pool.submit(site.guess, "admin", f"guess {number}") for number in range(GUESSES)]
        # The person signs in meanwhile, from elsewhere.
        assert pool.submit(site.guess, "admin", PASSWORD, "192.0.2.1").result() == "in"
    outcomes = [each.result() for each in guesses]
    assert outcomes.count("wrong") == MOST
    assert outcomes.count("too many") == GUESSES - MOST
    assert site.guess("admin", PASSWORD) == "too many"


def test_60_names_at_once_with_one_password_are_30_evaluations(site: Site):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(lambda number: site.guess(f"name {number}", "Summer2026"), range(60)))
    assert outcomes.count("wrong") == 30
    assert site.guess("admin", PASSWORD) == "too many"
    assert site.guess("admin", PASSWORD, "192.0.2.1") == "in"


def test_right_passwords_at_once_all_get_in(site: Site):
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: site.guess("admin", PASSWORD), range(8)))
    assert set(outcomes) == {"in"}
