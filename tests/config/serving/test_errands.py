"""Checks, previews and plans at a real web server: each has a process whose time and memory the system bounds."""

import http.client
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from threading import Event
from typing import Any

import psutil
import pytest
import requests

from config.serving.errands import ERRAND, Errand
from config.serving.front import Front
from dashboard.access import errands
from dashboard.access.api_rules import API
from dashboard.access.rules import RULES
from tests.config.serving.test_front import FakeClient, ask, front, in_time, scope
from tests.config.serving.tus import Uploader
from tests.hostile_servers import KINDS, HostileServer
from tests.stack import wait_until
from tests.web_site import PATIENCE, WebSite, running_site

BOB = {"bob": "bobs-password-7"}
AT_ONCE = 6
MANY = 24
ORDINARY = b"id,name\n" + b"".join(b"%d,name %d\n" % (number, number) for number in range(500))
SETTINGS = {"WEB_PROCESSES": "1", "CHECKS_PER_MINUTE": "0", "WEB_THREADS": "2", "ERRANDS_AT_ONCE": str(AT_ONCE)}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[WebSite]:
    with running_site(tmp_path_factory.mktemp("site"), operators=BOB, **SETTINGS) as running:
        yield running


@pytest.fixture
def silent(site: WebSite) -> Iterator[HostileServer]:
    """A server that answers nothing, and is the target 1 of the site."""
    with KINDS["silent"]() as server:
        site.manage("target", "add", "far", f"mysql://somebody@127.0.0.1:{server.port}/shop", "--replace")
        yield server


def check(site: WebSite, browser: requests.Session, number: int = 1) -> requests.Response:
    """Have a target checked."""
    headers = {"X-CSRFToken": browser.cookies["csrftoken"], "Accept": "text/html"}
    return browser.post(f"{site.url}/targets/{number}/check/", headers=headers, timeout=PATIENCE)


def uploaded(site: WebSite, browser: requests.Session, content: bytes, name: str) -> str:
    """Upload a file; the address of its preview."""
    uploader = Uploader(site, browser)
    upload = uploader.begin(len(content), name)
    assert uploader.send(upload, 0, content).status_code == 204
    return f"{site.url}/new/{upload.rstrip('/').rpartition('/')[2]}/"


def children(site: WebSite) -> list[psutil.Process]:
    """The processes that answer errands: the grandchildren of the web process."""
    (web,) = psutil.Process(site._process.pid).children()
    (forking,) = web.children()
    return [each for each in forking.children() if each.status() != psutil.STATUS_ZOMBIE]


def test_24_checks_of_a_silent_server_leave_others_served(site: WebSite, silent: HostileServer):
    ann, bob = site.signed_in(), site.signed_in("bob", BOB["bob"])
    told: list[requests.Response] = []
    slow = [threading.Thread(target=lambda: told.append(check(site, ann))) for _ in range(MANY)]
    for each in slow:
        each.start()
    for _ in range(AT_ONCE):
        assert silent.opened.acquire(timeout=PATIENCE)
    wait_until(lambda: len(told) == MANY - AT_ONCE, what="the refusals")
    assert {each.status_code for each in told} == {429}
    assert all("Retry-After" in each.headers for each in told)
    assert "at once already" in told[0].text
    assert requests.get(f"{site.url}/healthz", timeout=PATIENCE).ok
    preview = bob.get(uploaded(site, bob, ORDINARY, "bob.csv"), timeout=PATIENCE)
    assert preview.status_code == 200
    assert "bob.csv" in preview.text
    assert ann.get(f"{site.url}/jobs/", timeout=PATIENCE).ok
    for child in children(site):
        child.kill()
    for each in slow:
        each.join(PATIENCE)
    assert {each.status_code for each in told} == {429, 413}
    assert "or failed" in told[-1].text


def test_who_goes_away_ends_the_check(site: WebSite, silent: HostileServer):
    cookies = site.signed_in().cookies
    sent = {"Cookie": "; ".join(f"{each.name}={each.value}" for each in cookies), "X-CSRFToken": cookies["csrftoken"]}
    with closing(http.client.HTTPConnection(site.place.address, site.port)) as connection:
        connection.request("POST", "/targets/1/check/", headers=sent)
        assert silent.opened.acquire(timeout=PATIENCE)
    assert silent.closed.acquire(timeout=PATIENCE)


def test_a_process_answers_one_errand_after_another(site: WebSite):
    browser = site.signed_in()
    address = uploaded(site, browser, ORDINARY, "a.csv")
    assert browser.get(address, timeout=PATIENCE).ok
    before = {each.pid for each in children(site)}
    assert browser.get(address, timeout=PATIENCE).ok
    assert {each.pid for each in children(site)} == before


@pytest.fixture(scope="module")
def strict(tmp_path_factory) -> Iterator[WebSite]:
    """A site whose errands have little memory and time."""
    limits = {"ERRAND_BYTES": str(48 * 2**20), "ERRAND_SECONDS": "8"}
    with running_site(tmp_path_factory.mktemp("strict"), **SETTINGS, **limits) as running:
        yield running


def test_a_check_that_needs_too_much_memory_ends_with_a_message(strict: WebSite):
    browser = strict.signed_in()
    with KINDS["endless rows"]() as server:
        strict.manage("target", "add", "endless", f"mysql://somebody@127.0.0.1:{server.port}/shop")
        ended = check(strict, browser)
        assert server.closed.acquire(timeout=PATIENCE)
    found = re.search("more memory than there is for it|needed more memory than 48", ended.text)
    assert found, re.findall("No connection to[^<]*", ended.text)
    assert browser.get(uploaded(strict, browser, ORDINARY, "a.csv"), timeout=PATIENCE).ok


def test_a_check_that_takes_too_long_is_killed(strict: WebSite):
    browser = strict.signed_in()
    with KINDS["silent"]() as server:
        strict.manage("target", "add", "far", f"mysql://somebody@127.0.0.1:{server.port}/shop")
        late = check(strict, browser, number=2)
        assert late.status_code == 424
        assert "has taken 8 seconds" in late.text
        assert server.closed.acquire(timeout=PATIENCE)


def greedy(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """An application whose only page is an errand, which does what its address says."""
    if errand := environ.get(ERRAND):
        errand.seconds = 0.0 if errand.ended else 2.0
        answer = b"late" if errand.ended and errand.ended.late else b"ended"
    else:
        answer = {"/ordinary": lambda: b"done", "/memory": lambda: bytes(2**27)[:4], "/endless": Event().wait}[
            environ["PATH_INFO"]
        ]()
    start("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]


@pytest.fixture
def served() -> Iterator[Front]:
    made = front(greedy)
    made.start_errands([])
    yield made
    made.end_errands()


@pytest.mark.parametrize(("path", "told"), [("/ordinary", b"done"), ("/memory", b"ended"), ("/endless", b"late")])
def test_the_system_bounds_a_child_and_the_application_says_so(served: Front, path: str, told: bytes):
    async def test() -> None:
        assert (await ask(served, scope(path=path.encode()), FakeClient())).body == told
        assert (await ask(served, scope(path=b"/ordinary"), FakeClient())).body == b"done"

    in_time(test)


def test_each_errand_is_an_address_that_has_the_method():
    for name, methods in (*errands.LOOKING.items(), *errands.CHANGING.items()):
        assert name in RULES or set(methods) & set(API[name]), name
    assert set(errands.READ_WHOLE_FILES) <= {*errands.LOOKING, *errands.CHANGING}


def test_a_server_without_the_agreement_gets_the_answer(client, django_user_model, db):
    client.force_login(django_user_model.objects.create_superuser("root"))
    assert client.get("/new/tables/").status_code == 200
    errand = Errand()
    client.get("/new/tables/", **{ERRAND: errand})
    assert errand.seconds
    errand.held.close()


def test_without_the_process_that_forks_another_web_process_begins(site: WebSite):
    browser = site.signed_in()
    address = uploaded(site, browser, ORDINARY, "again.csv")
    for child in children(site):
        child.kill()
    (web,) = psutil.Process(site._process.pid).children()
    (forking,) = web.children()
    forking.kill()

    def answers() -> bool:
        with suppress(requests.RequestException):
            return browser.get(address, timeout=PATIENCE).ok
        return False

    wait_until(answers, what="another web process")
