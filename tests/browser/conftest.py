"""A real browser, one for each file of tests."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def chromium():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program, "no Chromium is installed; `make setup` installs one"
    with pytest.MonkeyPatch.context() as environment, sync_playwright() as playwright:
        # Playwright's event loop runs in this thread all the time, which Django takes for asynchronous code.
        environment.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
