"""Guesses that come at the same time, to several real web server processes, on both kinds of own database."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
import requests

from importer.engine.mysql.connection import Address, connect
from scripts.servers import free_port
from tests.stack import ROOT, wait_until

PASSWORD = "mill-race-9"
GUESSES = 120
AT_ONCE = 24
MOST = 10


@dataclass(frozen=True)
class Site:
    """A running installation."""

    url: str

    def answers(self) -> bool:
        try:
            return requests.get(f"{self.url}/login/", timeout=5).ok
        except requests.RequestException:
            return False

    def guess(self, name: str, password: str, address: str = "203.0.113.9") -> str:
        """What comes of a sign-in: "in", "wrong", or "too many"."""
        with requests.Session() as browser:
            browser.headers["X-Forwarded-For"] = f"198.51.100.1, {address}"
            page = browser.get(f"{self.url}/login/", timeout=60).text
            token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
            assert token
            form = {"csrfmiddlewaretoken": token[1], "login": name, "password": password}
            answer = browser.post(f"{self.url}/login/", form, allow_redirects=False, timeout=60)
        if answer.status_code == 302:
            return "in"
        assert answer.status_code == 200, answer.text
        return "too many" if "Too many attempts" in answer.text else "wrong"


@pytest.fixture(params=["sqlite", "mariadb"])
def site(request: pytest.FixtureRequest, mariadb: Address, tmp_path: Path) -> Iterator[Site]:
    """Three web server processes of eight threads, behind a proxy, with the account admin."""
    port = free_port()
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path / "var")}
    env |= {"ADMIN_PASSWORD": PASSWORD, "TRUSTED_PROXIES": "127.0.0.1", "PYTHONPATH": str(ROOT)}
    env |= {"PORT": str(port), "WEB_PROCESSES": "3", "WEB_THREADS": "8"}
    if request.param == "mariadb":
        with connect(mariadb) as connection:
            connection.cursor().execute(f"ALTER DATABASE `{mariadb.database}` CHARACTER SET utf8mb4")
        user, password = quote(mariadb.user, safe=""), quote(mariadb.password, safe="")
        env["DATABASE_URL"] = f"mysql://{user}:{password}@{mariadb.host}:{mariadb.port}/{mariadb.database}"
    subprocess.run([sys.executable, "manage.py", "prepare"], cwd=ROOT, env=env, check=True)
    log = (tmp_path / "web.log").open("wb")
    web = subprocess.Popen(
        [sys.executable, "-m", "scripts.processes", "web"], cwd=ROOT, env=env, stdout=log, stderr=log
    )
    running = Site(f"http://127.0.0.1:{port}")
    wait_until(running.answers, what="the web server")
    yield running
    web.send_signal(signal.SIGTERM)
    web.wait(timeout=30)
    log_text = (tmp_path / "web.log").read_text()
    assert "Traceback" not in log_text, log_text


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
