"""`make screenshots`: a picture of every page that visits.py lists, in both colour schemes, wide and on a phone.

Not a test: pytest collects this file only when it is named, for its fixtures. The pictures are in var/screenshots, one
folder for each scheme and width, and index.html shows each page's pictures side by side. A page that needs scrolling
sideways is named at the end, because a person who looks at hundreds of pictures misses that. The pages of visits.py
have no server; states.py has the states of a new import on one. `make screenshots SCREENSHOTS='schedule|target'` takes
only those whose picture's name this regular expression finds.
"""

import os
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext
from playwright.sync_api import Page as Tab

from tests.browser import states
from tests.browser.conftest import session
from tests.browser.visits import address, visits
from tests.filled.pages import Page
from tests.people import admin
from tests.stack import announce_workers
from tests.targets import saved_target

# Hundreds of pictures take minutes.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]

FOLDER = Path(__file__).resolve().parents[2] / "var" / "screenshots"
SCHEMES = ("light", "dark")
SIZES = {"1280": {"width": 1280, "height": 900}, "390": {"width": 390, "height": 844}}
WANTED = re.compile(os.environ.get("SCREENSHOTS", ""))
VARIANTS = [(scheme, size) for scheme in SCHEMES for size in SIZES]
# Drawn to the end at once: a picture shows no chart on its way.
STILL = "() => { if (window.Chart) Chart.defaults.animation = false; }"
LOADED = "() => !document.querySelector('.htmx-request')"
HEIGHT = "() => document.documentElement.scrollHeight"
TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize(("scheme", "size"), VARIANTS)
def test_take_screenshots(chromium: Browser, live_server, filled, for_visits, redis, scheme: str, size: str):
    folder, too_wide = FOLDER / f"{scheme}-{size}", []
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES[size], color_scheme=scheme)
    for number, (browser, pages) in enumerate(visits()):
        context.clear_cookies()
        if "sessionid" in browser.cookies:
            context.add_cookies([session(browser, live_server.url)])
        wanted = [each for each in pages if WANTED.search(file_name(number, each))]
        too_wide += pictures(context, wanted, number, folder)
    context.close()
    write_index()
    assert too_wide == []


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize(("scheme", "size"), VARIANTS)
def test_take_screenshots_of_a_new_import(
    chromium: Browser, live_server, client, database, redis, tmp_path, scheme: str, size: str
):
    states.make_tables(database)
    saved_target(database)
    client.force_login(admin("ann"))
    folder, too_wide = FOLDER / f"{scheme}-{size}", []
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES[size], color_scheme=scheme)
    context.add_cookies([session(client, live_server.url)])
    for state in states.STATES:
        name = f"new-import-{state.name}.png"
        if not WANTED.search(name):
            continue
        announce_workers()
        tab = context.new_page()
        tab.goto(states.address(state, states.uploaded(tmp_path, state)))
        tab.wait_for_function(LOADED)
        state.do(tab)
        settled(tab)
        if tab.evaluate(TOO_WIDE):
            too_wide.append(f"{folder.name}: {state.name}")
        picture(tab, folder / name)
        tab.close()
    context.close()
    write_index()
    assert too_wide == []


def pictures(context: BrowserContext, pages: Sequence[Page], number: int, folder: Path) -> Iterator[str]:
    """Take a picture of each page. Yields those that need scrolling sideways."""
    tab = context.new_page()
    tab.on("domcontentloaded", lambda shown: shown.evaluate(STILL))
    for page in pages:
        announce_workers()
        tab.goto(address(page))
        tab.wait_for_function(LOADED)
        settled(tab)
        if tab.evaluate(TOO_WIDE):
            yield f"{folder.name}: {page}"
        picture(tab, folder / file_name(number, page))
    tab.close()


def picture(tab: Tab, path: Path) -> None:
    """A picture of the whole page. The window is made as high: what sticks to its edge would hide the middle."""
    before = tab.viewport_size
    assert before
    tab.set_viewport_size({**before, "height": max(before["height"], tab.evaluate(HEIGHT))})
    settled(tab)
    tab.screenshot(path=path, full_page=True, animations="disabled")
    tab.set_viewport_size(before)


def settled(tab: Tab) -> None:
    """Wait until the browser has painted twice: charts draw in the frame after the one that gives them their size."""
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def file_name(number: int, page: Page) -> str:
    """The name of a page's picture: what the page is, and with whose session it was looked at."""
    return f"{number}-{re.sub(r'[^a-z0-9]+', '-', str(page).lower()).strip('-')[:80]}.png"


def write_index() -> None:
    """One page with the pictures of each page side by side."""
    rows = []
    for name in sorted({each.name for each in FOLDER.glob("*/*.png")}):
        shown = "".join(
            f'<a href="{scheme}-{size}/{name}"><img loading="lazy" src="{scheme}-{size}/{name}" alt=""></a>'
            for scheme, size in VARIANTS
        )
        rows.append(f"<h2>{escape(name)}</h2><div>{shown}</div>")
    style = "body{font:14px sans-serif;margin:1rem}div{display:flex;gap:1rem;align-items:start}img{width:320px}"
    (FOLDER / "index.html").write_text(
        f"<!doctype html><meta charset=utf-8><title>Screenshots</title><style>{style}</style>{''.join(rows)}"
    )
