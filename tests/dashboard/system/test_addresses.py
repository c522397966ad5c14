"""What people type as an address leads to the page that they mean; other unknown addresses are not found."""

import pytest
from django.urls import Resolver404, resolve, reverse

from dashboard.system.addresses import PAGES, THINGS
from tests.dashboard.job_data import Status, make_job

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("word", PAGES)
def test_a_word_leads_to_a_page_and_is_none_itself(client, word):
    with pytest.raises(Resolver404):
        resolve(f"/{word}/")
    for typed in (word, f"{word}/", word.upper()):
        answer = client.get(f"/{typed}")
        assert (answer.status_code, answer["Location"]) == (302, reverse(PAGES[word]))


def test_one_of_many_is_found_by_its_number(browser):
    job = make_job(Status.SUCCEEDED, chunks=1)
    for word in ("imports", "import", "job"):
        assert browser.get(f"/{word}/{job.pk}", follow=True).redirect_chain[-1][0] == reverse("job", args=[job.pk])
    assert browser.get(f"/imports/{job.pk + 1}/", follow=True).status_code == 404


@pytest.mark.parametrize("word", sorted(set(THINGS.values())))
def test_each_kind_has_its_pages_below_its_list(word):
    assert resolve(f"{reverse(word)}7/").kwargs == {"pk": 7}


def test_who_is_not_signed_in_signs_in_first(client):
    assert client.get("/room/", follow=True).redirect_chain[-1][0] == f"{reverse('login')}?next={reverse('storage')}"


@pytest.mark.parametrize("path", ["/nothing/", "/room/7/", "/imports/seven/", "/imports/7/live/", "/imports/\u0667/"])
def test_other_addresses_are_not_found(browser, path):
    assert browser.get(path).status_code == 404
    assert browser.post("/imports/").status_code == 404
