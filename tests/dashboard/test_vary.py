"""What caches may do with answers: none gives a browser a part for the page, or a person what another one has seen."""

import pytest
from django.urls import reverse

from tests.dashboard.new_import.test_page import HTMX, uploaded

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["home", "jobs", "history", "labs", "new_source"])
def test_the_answer_depends_on_who_asks(browser, user, name):
    address = reverse(name, args=[uploaded(user).key] if name == "new_source" else [])
    page, part = browser.get(address), browser.get(address, headers=HTMX)
    assert page.content != part.content
    for answer in (page, part):
        assert "HX-Request" in answer["Vary"] or "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("address", ["/", "/jobs/", "/api/v1/imports", "/no/such/page/", "/accounts/login/"])
def test_no_cache_of_others_keeps_an_answer(browser, address):
    directives = browser.get(address)["Cache-Control"]
    assert "private" in directives
    assert "no-cache" in directives


def test_the_browser_forgets_all_pages_at_the_sign_out(browser):
    assert browser.post(reverse("logout"))["Clear-Site-Data"] == '"cache"'
