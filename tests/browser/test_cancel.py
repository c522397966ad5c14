"""What takes long can be cancelled on the page, which then is as before."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from importer.models import Target
from tests.browser.conftest import PHONE
from tests.hostile_servers import KINDS
from tests.people import admin

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_check_of_a_silent_server_is_cancelled(new_tab, live_server, client):
    client.force_login(admin("ann"))
    with KINDS["silent"]() as server:
        values = {"name": "far", "port": server.port, "user": "u", "database": "d", "tls": "off"}
        target = Target.objects.create(host="127.0.0.1", **values)
        page = new_tab(live_server.url, client, viewport=PHONE)
        page.goto(reverse("target", args=[target.pk]))
        check = page.get_by_role("button", name="Check now")
        check.click()
        expect(page.get_by_role("status")).to_contain_text("This takes longer than usual.")
        expect(check).to_be_disabled()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("status")).to_have_count(0)
        expect(check).to_be_enabled()
        expect(page.get_by_role("alert")).to_have_count(0)
