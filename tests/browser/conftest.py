"""A real browser, one for all tests of the folder, and somebody signed in to the real web server."""

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, Response, expect, sync_playwright

from tests.people import admin
from tests.stack import Stack, wait_until
from tests.targets import on_mariadb

# How long a page may take to show what is expected: longer than Playwright's 5 s, a busy machine is no failure.
expect.set_options(timeout=20_000)
# The first one found is used. The headless shell has no windows, and takes half the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCREEN, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# Opens a tab at a site, in which the client's person is signed in, if there is one.
NewTab = Callable[..., Page]
# Pages are the same for both servers; the way of an import is tried on each (test_import.py).
database = on_mariadb


@pytest.fixture(scope="package")
def chromium():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program, "no Chromium is installed; `make setup` installs one"
    with pytest.MonkeyPatch.context() as environment, sync_playwright() as playwright:
        # Playwright's event loop runs in this thread all the time, which Django takes for asynchronous code.
        environment.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_tab(chromium: Browser, transactional_db: None) -> Iterator[NewTab]:
    """With the options of a browser's context. No tab asks for anything after the test."""
    contexts = []

    def open_tab(url: str, client: Client | None = None, **options: Any) -> Page:
        contexts.append(chromium.new_context(base_url=url, **{"viewport": SCREEN, **options}))
        if client:
            contexts[-1].add_cookies([session(client, url)])
        return contexts[-1].new_page()

    yield open_tab
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_tab: NewTab, web: Stack, client) -> Page:
    client.force_login(User.objects.create_superuser("admin"))
    page = new_tab(web.url, client)
    page.on("response", _print_answer)
    return page


def _print_answer(answer: Response) -> None:
    """For the report of a failed test: every answer but those of static files, with the time of day."""
    path = urlsplit(answer.url).path
    if not path.startswith("/static/"):
        print(f"{datetime.now():%H:%M:%S.%f}", answer.status, answer.request.method, path)


def session(client: Client, url: str) -> dict[str, str]:
    """The cookie of whom the client has signed in."""
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}


@pytest.fixture
def for_visits(settings) -> None:
    """What the pages of visits.py need: a provider to sign in with, and no question for the password on the way."""
    settings.OIDC_ISSUER, settings.OIDC_NAME = "http://127.0.0.1:1", "Keys"
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 3600  # seconds; on a busy machine, all pages take minutes


@pytest.fixture
def opened(new_tab: NewTab, live_server, client):
    """Opens pages signed in, with the options of a browser's context; the test fails if the policy stopped anything."""
    client.force_login(admin("ann"))
    complaints = []

    def complain(message):
        if "Content Security Policy" in message.text or message.type == "error":
            complaints.append(message.text)

    def open_page(path, **options):
        page = new_tab(live_server.url, client, **options)
        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(live_server.url + path)
        return page

    open_page.complaints = complaints  # for a test that makes a request fail
    yield open_page
    # htmx reports as an error every request that a newer one replaced.
    assert [text for text in complaints if not text.startswith("htmx:")] == []


def expect_no_scrolling_sideways(page: Page) -> None:
    """Charts take their new width a moment after the window does, hence waiting."""
    narrow_enough = "document.documentElement?.scrollWidth <= window.innerWidth"
    wait_until(lambda: page.evaluate(narrow_enough), 20, f"{page.url} needs no scrolling sideways")
