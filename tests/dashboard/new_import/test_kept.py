"""What a person keeps among the uploads, on the page of a new import."""

import pytest
from django.urls import reverse

from importer.sources import uploads
from tests.people import operator

pytestmark = pytest.mark.django_db


def test_the_use_is_shown_from_half_of_a_quota_on(browser, user, settings):
    settings.UPLOAD_QUOTA_BYTES, settings.UPLOAD_QUOTA_FILES = 10 * 2**20, 2000
    uploads.begin_upload("a.csv", 5 * 2**20, user)
    uploads.begin_upload("other.csv", 9 * 2**20, operator("ben"))
    assert "You keep" not in browser.get(reverse("new")).content.decode()
    uploads.begin_upload("b.csv", 3 * 2**20, user)
    assert "You keep 8 MiB of 10 MiB in 2 of 2,000 files here" in browser.get(reverse("new")).content.decode()


def test_a_limit_that_is_not_set_is_not_shown(browser, user, settings):
    settings.UPLOAD_QUOTA_BYTES, settings.UPLOAD_QUOTA_FILES = 0, 1
    uploads.begin_upload("a.csv", 2**20, user)
    assert "You keep 1 MiB in 1 of 1 files here" in browser.get(reverse("new")).content.decode()
