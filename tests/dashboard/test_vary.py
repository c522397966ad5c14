"""Pages that answer htmx with a part of themselves: no cache gives a browser the part for the page."""

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
