"""Everybody can use every page: axe-core finds nothing on it, in light and in dark colours, and no script complains."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from django.urls import reverse
from playwright.sync_api import ConsoleMessage, Locator, expect
from playwright.sync_api import Page as Tab

from dashboard import urls
from tests.browser.conftest import PHONE, SCREEN, expect_no_scrolling_sideways, session
from tests.browser.held import HeldRequest
from tests.browser.visits import NO_PAGE, address, html_of, visits
from tests.filled.pages import ACTIONS, LOOKED_AT, PAGES, Page

# 120 pages in two schemes take a minute of processor time, most of it in the browser.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1200)]

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
# All rules that axe-core has switched on, its best practices included, but those of colours. The style sheets need not
# be parsed for axe-core, which takes a fifth of its time: the one rule that reads them is experimental, and off.
OF_COLOURS = ["color-contrast", "link-in-text-block"]
PRELOAD = {"preload": {"assets": ["media"]}}
RULES = PRELOAD | {"rules": {each: {"enabled": False} for each in OF_COLOURS}}
# Everything is open that can be opened, no menu covers what is below it, and no colour is on its way to another one.
PREPARE = """() => {
    const still = new CSSStyleSheet();
    still.replaceSync("* { transition: none !important; } .menu > .dropdown-menu { position: static !important; }");
    document.adoptedStyleSheets = [still];
    for (const each of document.querySelectorAll("details")) each.open = true;
}"""
LOADED = "() => !document.querySelector('.htmx-request')"
FIND = """async (options) => {
    const { violations } = await axe.run(window.unlike ?? document, { ...options, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}"""
# What the rules of colours are for: the first elements that look alike to them on all pages together. Most of the time
# would go into the same colours again. Keeps them in window.unlike, and returns what they look like. Nothing is seen
# through a solid background. What is out of the flow may have anything behind it, so it is looked at on each page.
UNLIKE = """(seen) => {
    const MOST = 2, SOLID = /^(rgb|okl..)\\([^/]*\\),none,1,none$/, found = [], backs = new Map([[null, ""]]);
    const back = (each) => {
        if (!backs.has(each)) {
            const { backgroundColor, backgroundImage, opacity, filter, position } = getComputedStyle(each);
            const own = [backgroundColor, backgroundImage, opacity, filter].join();
            const flows = ["static", "relative", "sticky"].includes(position) || !each.closest("main") ? "" : location;
            const behind = back(each.parentElement), isFaded = behind.startsWith("faded") || !own.endsWith(",1,none");
            const seen = SOLID.test(own) && !isFaded ? "" : (isFaded ? "faded" : "") + behind;
            backs.set(each, seen + (own === "rgba(0, 0, 0, 0),none,1,none" ? "" : own) + flows);
        }
        return backs.get(each);
    };
    const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim().length > 1;
    const OFF = ":disabled, :disabled *, [aria-disabled=true] *";
    const isOff = (each) => each.matches(OFF) || each.closest("label")?.control?.disabled;
    window.unlike = [...document.querySelectorAll("body *")].filter((each) => {
        const isField = each.matches("input, select, textarea"), around = each.parentElement;
        if (!isField && ![...each.childNodes].some(isText)) return false;
        const { width, height, right, bottom } = each.getBoundingClientRect();
        const isShown = Math.min(width, height) > 1 && right > 0 && bottom + scrollY > 0;
        if (!isShown || !each.checkVisibility({ checkVisibilityCSS: true })) return false;
        const { color, fontSize, fontWeight, textShadow, textDecorationLine, borderBottom } = getComputedStyle(each);
        const isLarge = parseFloat(fontSize) >= (fontWeight < 700 ? 24 : 18.66); // pixels (WCAG 2.2, 1.4.3)
        const isIn = [[...around.childNodes].some(isText), getComputedStyle(around).color];
        const link = each.matches("a, [role=link]") && [fontWeight, textDecorationLine, borderBottom, ...isIn];
        const looks = [isField && each.type, isOff(each), isLarge, color, textShadow, link, back(each)].join("|");
        if ((seen[looks] ?? 0) >= MOST) return false;
        seen[looks] = (seen[looks] ?? 0) + 1;
        found.push(looks);
        return true;
    });
    return found;
}"""


def expect_reachable(tab: Tab) -> None:
    """The page has no fault of reach in either colour scheme, and fits a phone."""
    tab.set_viewport_size(PHONE)
    expect_no_scrolling_sideways(tab)
    tab.set_viewport_size(SCREEN)
    tab.evaluate(AXE)
    tab.evaluate(PREPARE)
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        expect(tab.locator("html")).to_have_attribute("data-bs-theme", scheme)
        assert tab.evaluate(FIND, PRELOAD) == []


PACE = 110  # milliseconds from key to key
TYPED = re.compile('hx-trigger="[^"]*input')
ASKING = ":is([hx-trigger*=input], [hx-trigger*=input] *):is([type=text], [type=search], input:not([type])):visible"
# A chart's axis that says one thing at several places.
REPEATED = """() => Object.values(window.Chart?.instances ?? {}).flatMap(({ scales }) => Object.values(scales))
    .map(({ ticks }) => ticks.map(({ label }) => label).filter(Boolean))
    .filter((labels) => new Set(labels).size < labels.length).map((labels) => `ticks ${labels}`)"""


class Looker:
    """Goes from page to page in one browser, and keeps what axe-core finds and what the browser reports."""

    def __init__(self, tab: Tab) -> None:
        self.tab, self.found = tab, list[str]()
        self.seen = {scheme: Counter[str]() for scheme in ("light", "dark")}
        self.page = Page("")
        tab.on("console", self._hear)
        tab.on("pageerror", lambda error: self._note(str(error)))

    def look(self, page: Page) -> None:
        self.page = page
        answer = self.tab.goto(address(page))
        assert answer
        assert answer.status == page.status, page
        assert self.tab.url.endswith(address(page)), page
        self.tab.evaluate(PREPARE)
        self.tab.wait_for_function(LOADED)
        for each in self.tab.evaluate(REPEATED) + self.tab.evaluate(FIND, RULES):
            self._note(each)
        for scheme, seen in self.seen.items():
            self.tab.emulate_media(color_scheme=scheme)
            expect(self.tab.locator("html")).to_have_attribute("data-bs-theme", scheme)
            unlike = self.tab.evaluate(UNLIKE, seen)
            seen.update(unlike)
            for each in self.tab.evaluate(FIND, PRELOAD | {"runOnly": OF_COLOURS}) if unlike else ():
                self._note(f"{scheme}: {each}")

    def _hear(self, message: ConsoleMessage) -> None:
        # That a whole page is an answer like "not found" is reported, too.
        if message.type == "error" and (self.page.status < 400 or "Failed to load" not in message.text):
            self._note(message.text)

    def _note(self, text: str) -> None:
        self.found.append(f"{self.page}: {text}")


@pytest.fixture
def tab(chromium, live_server, filled, for_visits) -> Iterator[Tab]:
    context = chromium.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    context.add_init_script(AXE)
    yield context.new_page()
    context.close()


def test_each_page_has_a_visit(filled):
    """What has no visit says that it is never opened: buttons lead to it."""
    seen = visits()
    admin, _ = seen[0]
    visited = {page.name for _, pages in seen for page in pages} | {page.name for page in PAGES}
    arguments = {each.name: each.args for each in ACTIONS}
    answers = {}
    for each in urls.pages:
        if each.name not in visited | set(NO_PAGE):
            first = [LOOKED_AT if name == "key" else 1 for name in each.pattern.converters]
            answers[each.name] = admin.get(reverse(each.name, args=arguments.get(each.name, first))).status_code
    assert {name: status for name, status in answers.items() if status != 405} == {}


def expect_no_letter_lost(tab: Tab, field: Locator, where: str) -> None:
    """The rest is typed while the server has not answered what the first letters ask; what it asks then is answered."""
    first, rest = "um", "satz"
    asked = HeldRequest(tab, re.compile(f"={first}(&|$)"))
    field.fill(first)
    asked.sent()
    with tab.expect_response(re.compile(f"={first}{rest}(&|$)")):
        field.press_sequentially(rest, delay=PACE)
        asked.release()
    tab.wait_for_function(LOADED)
    expect(field, where).to_have_value(first + rest)
    expect(field, where).to_be_focused()


def test_no_page_loses_letters_or_is_silent_without_a_network(tab: Tab, live_server):
    """Of fields that ask while somebody types, and of pages that renew themselves."""
    admin, pages = visits()[0]
    tab.context.add_cookies([session(admin, live_server.url)])
    looked = Counter[str]()
    for page in pages:
        html = html_of(admin, page)
        if not TYPED.search(html) and "data-refresh" not in html:
            continue
        tab.goto(address(page))
        tab.wait_for_function(LOADED)
        for field in tab.locator(ASKING).all()[:2]:
            looked["letters"] += 1
            expect_no_letter_lost(tab, field, str(page))
        if "data-refresh" in html:
            tab.context.set_offline(True)
            tab.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
            said = tab.get_by_role("alert").filter(has_text="Millrace does not answer")
            expect(said, str(page)).to_be_visible()
            tab.context.set_offline(False)
            looked["network"] += 1
    assert min(looked["letters"], looked["network"]) >= 5, looked


def test_axe_finds_nothing_and_no_script_complains(tab: Tab, live_server):
    looker = Looker(tab)
    for browser, pages in visits():
        tab.context.clear_cookies()
        if "sessionid" in browser.cookies:
            tab.context.add_cookies([session(browser, live_server.url)])
        for page in pages:
            looker.look(page)
    assert looker.found == []
