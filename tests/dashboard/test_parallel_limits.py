"""Limits under requests that come at the same time, at two real web server processes, on both kinds of own database.

The tests share an installation. Those of sign-ins guess from an address each.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from tests.targets import TestServer
from tests.web_site import PASSWORD, PATIENCE, WebSite, own_database, running_site

AT_ONCE = 18
GUESSES, MOST = 60, 10
NAMES, MOST_NAMES = 45, 30
OPERATORS = {name: f"password of {name}" for name in ("ann", "ben")}
MB = 2**20
TUS = {"Tus-Resumable": "1.0.0"}
SETTINGS = {
    "WEB_PROCESSES": "2", "WEB_THREADS": "8", "TRUSTED_PROXIES": "127.0.0.1",
    "TEST_PASSWORD_HASHER": "tests.hashing.OverlappingHasher",
    # However long the guesses of a test take, they are of one time.
    "SIGN_IN_SECONDS": "86400",
    "UPLOADS_PER_MINUTE": "20", "UPLOAD_QUOTA_BYTES": str(65 * MB), "UPLOAD_QUOTA_FILES": "9",
}  # fmt: skip


pytestmark = pytest.mark.one_of("site", shared=True)


@pytest.fixture(scope="module", params=["sqlite", "mariadb"])
def site(
    request: pytest.FixtureRequest, servers: dict[str, TestServer], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebSite]:
    """Two web server processes of eight threads, behind a proxy, with the account admin and two operators."""
    with ExitStack() as databases:
        own = {}
        if request.param == "mariadb":
            own["DATABASE_URL"] = own_database(databases.enter_context(servers["mariadb"].fresh_database()))
        with running_site(tmp_path_factory.mktemp("site"), operators=OPERATORS, **SETTINGS, **own) as running:
            yield running


class SignInForm:
    """The form of the sign-in page, opened once and sent by many browsers."""

    def __init__(self, site: WebSite) -> None:
        self._url = f"{site.url}/login/"
        opened = requests.get(self._url, timeout=PATIENCE)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', opened.text)
        assert token
        self._token, self._cookies = token[1], opened.cookies

    def guess(self, name: str, password: str, address: str) -> str:
        """What comes of a sign-in: "in", "wrong", or "too many"."""
        answer = requests.post(
            self._url,
            {"csrfmiddlewaretoken": self._token, "login": name, "password": password},
            headers={"X-Forwarded-For": f"198.51.100.1, {address}"},
            cookies=self._cookies,
            allow_redirects=False,
            timeout=PATIENCE,
        )
        if answer.status_code == 302:
            return "in"
        assert answer.status_code == 200, answer.text
        return "too many" if "Too many attempts" in answer.text else "wrong"


class TestSignIn:
    @pytest.fixture
    def form(self, site: WebSite) -> SignInForm:
        return SignInForm(site)

    def test_of_many_guesses_at_once_10_are_evaluated_and_others_go_on(self, form: SignInForm):
        with ThreadPoolExecutor(AT_ONCE + 1) as pool:
            guesses = [pool.submit(form.guess, "admin", f"guess {number}", "203.0.113.9") for number in range(GUESSES)]
            # During the guesses the person signs in from another address.
            assert pool.submit(form.guess, "admin", PASSWORD, "192.0.2.1").result() == "in"
        outcomes = [each.result() for each in guesses]
        assert outcomes.count("wrong") == MOST
        assert outcomes.count("too many") == GUESSES - MOST
        assert form.guess("admin", PASSWORD, "203.0.113.9") == "too many"

    def test_of_many_names_at_once_with_one_password_30_are_evaluated(self, form: SignInForm):
        def guess(number: int) -> str:
            return form.guess(f"name {number}", "Summer2026", "203.0.113.10")

        with ThreadPoolExecutor(AT_ONCE) as pool:
            assert list(pool.map(guess, range(NAMES))).count("wrong") == MOST_NAMES
        assert form.guess("admin", PASSWORD, "203.0.113.10") == "too many"
        assert form.guess("admin", PASSWORD, "192.0.2.2") == "in"

    def test_right_passwords_at_once_all_get_in(self, form: SignInForm):
        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(lambda _: form.guess("admin", PASSWORD, "203.0.113.11"), range(8)))
        assert set(outcomes) == {"in"}


def announce(site: WebSite, browser: requests.Session, size: int) -> requests.Response:
    metadata = "filename " + base64.b64encode(b"flights.csv").decode()
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata, **token(browser)}
    return browser.post(f"{site.url}/uploads/", headers=headers, timeout=PATIENCE)


def token(browser: requests.Session) -> dict[str, str]:
    return {"X-CSRFToken": str(browser.cookies["csrftoken"])}


def upload_and_look(site: WebSite, browser: requests.Session) -> set[int]:
    """Upload a small file and open a page; the statuses of the answers."""
    begun = announce(site, browser, 8)
    headers = {**TUS, **token(browser), "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    part = browser.patch(f"{site.url}{begun.headers['Location']}", b"a,b\n1,2\n", headers=headers, timeout=PATIENCE)
    page = browser.get(f"{site.url}/new/", timeout=PATIENCE)
    return {begun.status_code, part.status_code, page.status_code}


def test_nobody_gets_more_than_the_limits_and_another_person_goes_on(site: WebSite):
    ann, ben = (site.signed_in(*each) for each in OPERATORS.items())
    admin = site.signed_in()
    with ThreadPoolExecutor(AT_ONCE + 1) as pool:
        large = [pool.submit(announce, site, ann, 10 * MB) for _ in range(36)]
        assert pool.submit(upload_and_look, site, ben).result() == {201, 204, 200}
        # 6 of 10 MiB are within 65 MiB; 20 are looked at.
        assert Counter(each.result().status_code for each in large) == {201: 6, 413: 14, 429: 16}
        small = [pool.submit(announce, site, admin, 1) for _ in range(36)]
        assert pool.submit(upload_and_look, site, ben).result() == {201, 204, 200}
        assert Counter(each.result().status_code for each in small) == {201: 9, 413: 11, 429: 16}
    assert 0 < int(announce(site, ann, 1).headers["Retry-After"]) <= 60
