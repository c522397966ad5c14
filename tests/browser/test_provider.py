"""Signing in with a real identity provider (OpenID Connect) in a real browser."""

from collections.abc import Iterator

import pytest
import requests
from django.contrib.auth.models import User
from oidc_provider_mock import User as Claims
from oidc_provider_mock import run_server_in_thread
from playwright.sync_api import Page, expect

from tests.people import operator

CALLBACK = "/login/oidc/callback/"
CLAIMS = (
    Claims(sub="1001", claims={"email": "Ann@example.org", "email_verified": True, "preferred_username": "ann.other"}),
    Claims(sub="1002", claims={"email": "ann@example.org", "email_verified": False}),
    Claims(sub="1003", claims={"email": "ann@example.org", "email_verified": "false"}),
    Claims(sub="1004", claims={"email": "new@example.org", "email_verified": True, "preferred_username": "ann"}),
    Claims(sub="1005", claims={}),
    Claims(sub="1006", claims={"email": "new@example.org", "email_verified": False, "preferred_username": "eve"}),
)


@pytest.fixture
def provider(monkeypatch, live_server, settings) -> Iterator[str]:
    """The address of a provider at which Millrace is registered."""
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")  # It is on this machine.
    with run_server_in_thread(require_client_registration=True, user_claims=CLAIMS) as server:
        issuer = f"http://localhost:{server.server_port}"
        known = requests.get(f"{issuer}/.well-known/openid-configuration", timeout=30).json()
        wanted = {"redirect_uris": [live_server.url + CALLBACK], "token_endpoint_auth_method": "client_secret_post"}
        client = requests.post(known["registration_endpoint"], json=wanted, timeout=30).json()
        settings.OIDC_ISSUER, settings.OIDC_NAME = issuer, "Example"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = client["client_id"], client["client_secret"]
        yield issuer


@pytest.fixture
def page(new_tab, live_server, transactional_db, provider) -> Iterator[Page]:
    page, complaints = new_tab(live_server.url), []
    page.on("console", lambda message: complaints.append(message.text) if "Policy" in message.text else None)
    yield page
    assert complaints == []


@pytest.fixture
def ann(transactional_db) -> User:
    ann = operator("ann")
    ann.email = "ann@example.org"
    ann.save()
    return ann


def come_from_provider(page: Page, subject: str, path: str = "/") -> None:
    page.goto(path)
    page.get_by_role("link", name="Sign in with Example").click()
    page.get_by_role("button", name=subject, exact=True).first.click()


def test_who_was_invited_signs_in_by_the_verified_address_and_later_without_it(page: Page, ann: User):
    come_from_provider(page, "1001", "/targets/")
    expect(page.get_by_label("Menu of ann")).to_be_visible()
    expect(page.get_by_role("heading", name="Targets")).to_be_visible()
    User.objects.update(email="")
    page.context.clear_cookies()
    come_from_provider(page, "1001")
    expect(page.get_by_label("Menu of ann")).to_be_visible()
    assert User.objects.count() == 1


@pytest.mark.parametrize("subject", ["1002", "1003"])
@pytest.mark.parametrize("sign_up", [False, True])
def test_an_address_that_is_not_verified_opens_nobodys_account(page: Page, ann: User, settings, subject, sign_up):
    settings.OIDC_SIGN_UP = sign_up
    come_from_provider(page, subject)
    expect(page.get_by_text("Example has not verified the address ann@example.org")).to_be_visible()
    assert User.objects.count() == 1


def test_whom_nobody_has_invited_gets_no_account(page: Page, ann: User):
    come_from_provider(page, "1004")
    expect(page.get_by_text("Nobody here has the address new@example.org")).to_be_visible()
    assert User.objects.count() == 1


def test_whom_nobody_has_invited_becomes_a_viewer_by_setting(page: Page, ann: User, settings):
    settings.OIDC_SIGN_UP = True
    come_from_provider(page, "1004")
    expect(page.get_by_label("Menu of")).to_be_visible()
    new = User.objects.get(email="new@example.org")
    assert (new.is_staff, new.is_superuser, new.has_usable_password()) == (False, False, False)
    assert new.username != "ann"


def test_a_new_account_has_no_address_that_is_not_verified(page: Page, settings):
    settings.OIDC_SIGN_UP = True
    for subject in ("1006", "1004"):
        come_from_provider(page, subject)
        expect(page.get_by_label("Menu of")).to_be_visible()
        page.context.clear_cookies()
    assert dict(User.objects.values_list("username", "email")) == {"eve": "", "ann": "new@example.org"}


def test_somebody_deactivated_stays_out(page: Page, ann: User):
    User.objects.update(is_active=False)
    come_from_provider(page, "1001")
    expect(page.get_by_text("not active")).to_be_visible()


def test_who_cancels_is_told_so(page: Page, ann: User):
    page.goto("/")
    page.get_by_role("link", name="Sign in with Example").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("heading", name="Not signed in")).to_be_visible()


def test_a_wrong_secret_is_a_page_and_no_traceback(page: Page, ann: User, settings):
    settings.OIDC_CLIENT_SECRET = "wrong"
    come_from_provider(page, "1001")
    expect(page.get_by_role("heading", name="Not signed in")).to_be_visible()


def test_a_provider_that_does_not_answer_is_a_page_and_no_traceback(page: Page, settings):
    settings.OIDC_ISSUER = "http://localhost:1"
    page.goto("/")
    page.get_by_role("link", name="Sign in with Example").click()
    expect(page.get_by_role("heading", name="Not signed in")).to_be_visible()


def test_a_made_up_answer_signs_nobody_in(page: Page, ann: User):
    page.goto(f"{CALLBACK}?code=x&state=y")
    expect(page.get_by_role("heading", name="Not signed in")).to_be_visible()


def test_the_providers_second_factor_is_enough_where_one_is_required(page: Page, ann: User, settings):
    settings.REQUIRE_SECOND_FACTOR = True
    come_from_provider(page, "1001")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()


def test_without_a_provider_there_is_no_way_to_one(page: Page, settings):
    settings.OIDC_ISSUER = ""
    page.goto("/")
    expect(page.get_by_label("User name")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in with")).to_have_count(0)
    assert page.goto("/login/oidc/").status == 404
    assert page.goto(CALLBACK).status == 404
