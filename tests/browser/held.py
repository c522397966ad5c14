"""Delays a request of a page until the test releases it."""

import re

from playwright.sync_api import Page, Request, Route

from tests.stack import wait_until


class HeldRequest:
    """The first request to an address, delayed until `release`. Later requests pass."""

    def __init__(self, page: Page, address: str | re.Pattern[str]) -> None:
        self._page, self._held = page, list[Route]()
        page.route(address, self._hold_first)

    def _hold_first(self, route: Route) -> None:
        if self._held:
            route.continue_()
        else:
            self._held.append(route)

    def sent(self) -> Request:
        """The request, once the browser has sent it."""
        # Playwright tells of requests only while a test asks it for something.
        wait_until(lambda: self._page.evaluate("true") and self._held, what="the request")
        return self._held[0].request

    def release(self) -> None:
        """Let the request go on, once the browser has sent it."""
        self.sent()
        self._held[0].continue_()
