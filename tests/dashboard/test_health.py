"""/healthz tells what an installation lacks, also what nobody would notice but for its speed."""

import pytest
from django.urls import reverse

from importer.engine.native import loader

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")
def test_healthz_says_which_build_of_the_c_library_is_in_use(client):
    answer = client.get(reverse("healthz")).json()
    assert answer["native"] == loader.build_in_use()
    assert answer["native"] in loader.BUILDS


def test_healthz_says_that_the_c_library_is_missing(client, monkeypatch):
    monkeypatch.setattr(loader, "library", lambda: None)
    answer = client.get(reverse("healthz")).json()
    assert answer["native"] is None
    assert answer["database"] is True
    assert {"redis", "workers"} <= set(answer)
