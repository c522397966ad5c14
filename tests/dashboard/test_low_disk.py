"""The warning of a disk that is nearly full: on every page, for admins alone, before uploads are refused."""

from pathlib import Path

import pytest
from django.test import RequestFactory
from django.urls import get_resolver, reverse

from tests.people import admin, operator

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("page", ["jobs", "new", "schedules", "history", "labs", "targets", "people", "audit"])
def test_an_admin_is_warned_on_every_page(client, settings, page):
    client.force_login(admin("root"))
    assert "nearly full" not in client.get(reverse(page)).content.decode()
    settings.WARN_FREE_BYTES = 2**62
    shown = client.get(reverse(page)).content.decode()
    assert "A disk is nearly full." in shown
    assert "Below 512 MiB, uploads and working copies are refused." in shown


def test_a_full_disk_is_named_with_its_folder(client, settings):
    settings.REJECTS_DIR = Path("/proc/not-yet")
    client.force_login(admin("root"))
    shown = client.get(reverse("jobs")).content.decode()
    assert "A disk is full." in shown
    assert "0 bytes are free on the disk of /proc/not-yet." in shown


def test_others_do_not_learn_about_the_disk(client, settings):
    settings.WARN_FREE_BYTES = 2**62
    client.force_login(operator("ann"))
    assert "nearly full" not in client.get(reverse("jobs")).content.decode()


@pytest.mark.parametrize(("kept", "says"), [(2**62, "A disk of the server is full"), (0, "written to the log")])
def test_a_request_that_fails_on_a_full_disk_says_so(settings, kept, says):
    settings.KEEP_FREE_BYTES = kept
    answer = get_resolver().resolve_error_handler(500)(RequestFactory().get(reverse("jobs")))
    assert answer.status_code == 500
    assert says in answer.content.decode()
