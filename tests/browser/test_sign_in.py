"""Signing in with an app and with passkeys, in a real browser with a virtual authenticator."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests import totp

PASSWORD = "mill-race-9"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def page(new_tab, live_server, transactional_db):
    """Signed out, at localhost: passkeys work there and over HTTPS only."""
    User.objects.create_user("ann", password=PASSWORD)
    assert "//localhost:" in live_server.url
    page, complaints = new_tab(live_server.url), []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert complaints == []


@pytest.fixture
def authenticator(page: Page):
    """The protocol session of a browser with a virtual authenticator, and the authenticator's identification."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    return session, session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})["authenticatorId"]


def give_password(page: Page) -> None:
    page.goto("/")
    page.get_by_label("User name").fill("ann")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def confirm(page: Page) -> None:
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def open_security(page: Page) -> None:
    page.get_by_label("Menu of ann").click()
    page.get_by_role("link", name="Security").click()


def sign_out(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Menu of ann").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("User name")).to_be_visible()


def add_passkey(page: Page, name: str) -> None:
    open_security(page)
    page.get_by_role("link", name="Add a passkey").click()
    confirm(page)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add this passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text(name, exact=True)).to_be_visible()


def test_an_app_is_added_and_its_code_signs_in(page: Page):
    give_password(page)
    open_security(page)
    page.get_by_role("link", name="Add an app").click()
    confirm(page)
    picture = page.get_by_alt_text("QR code")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 0
    secret = page.locator("code").inner_text()
    page.get_by_label("Code that the app shows").fill("000")
    page.get_by_role("button", name="Add the app").click()
    expect(page.get_by_role("alert")).to_contain_text("not accepted")
    assert page.locator("code").inner_text() == secret
    page.get_by_label("Code that the app shows").fill(totp.code(secret))
    page.get_by_role("button", name="Add the app").click()
    expect(page.locator("#recovery-codes")).to_be_visible()
    recovery = page.locator("#recovery-codes").inner_text().split()[0]
    for code in (totp.code(secret), recovery):
        sign_out(page)
        give_password(page)
        expect(page.get_by_role("heading", name="One more step")).to_be_visible()
        page.get_by_label("Code from your app").fill(code)
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_label("Menu of ann")).to_be_visible()


def test_a_passkey_is_added_signs_in_without_a_password_and_is_removed(page: Page, authenticator):
    give_password(page)
    add_passkey(page, "blue key")
    expect(page.get_by_text("signs in without a password")).to_be_visible()
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_label("Menu of ann")).to_be_visible()
    open_security(page)
    page.get_by_role("link", name="Remove the passkey blue key").click()
    page.get_by_role("link", name="a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("blue key")).to_have_count(0)
    sign_out(page)
    give_password(page)
    expect(page.get_by_label("Menu of ann")).to_be_visible()


def test_a_passkey_is_the_second_factor_after_the_password(page: Page, authenticator):
    give_password(page)
    add_passkey(page, "phone")
    sign_out(page)
    give_password(page)
    expect(page.get_by_role("heading", name="One more step")).to_be_visible()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_label("Menu of ann")).to_be_visible()


def test_a_passkey_of_another_site_or_none_is_refused_with_the_reason(page: Page, authenticator):
    session, identification = authenticator
    give_password(page)
    add_passkey(page, "phone")
    sign_out(page)
    session.send("WebAuthn.setUserVerified", {"authenticatorId": identification, "isUserVerified": False})
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert").filter(has_text="No passkey was used")).to_be_visible()


def test_where_one_is_required_adding_one_opens_the_pages(page: Page, authenticator, settings):
    settings.REQUIRE_SECOND_FACTOR = True
    give_password(page)
    expect(page.get_by_role("alert")).to_contain_text("A second factor is required here")
    page.get_by_role("link", name="Imports").click()
    expect(page.get_by_role("heading", name="Security")).to_be_visible()
    add_passkey(page, "phone")
    page.get_by_role("link", name="Imports").click()
    expect(page.get_by_role("heading", name="Imports")).to_be_visible()
