"""Second factors: codes from an app, recovery codes, and the setting that requires one."""

import re

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from dashboard.sign_in.urls import urlpatterns
from tests import totp
from tests.dashboard.sign_in.conftest import PASSWORD
from tests.dashboard.sign_in.test_sign_in import sign_in

pytestmark = pytest.mark.django_db


def confirm(client, name):
    """Open a page that wants the password again, and give it."""
    asked = client.get(reverse(name))
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    return client.post(asked["Location"], {"password": PASSWORD, "next": reverse(name)}, follow=True)


def add_app(client):
    """The secret of a new app."""
    page = confirm(client, "mfa_activate_totp").content.decode()
    secret = re.search(r"<code[^>]*>(\w+)</code>", page)[1]
    answer = client.post(reverse("mfa_activate_totp"), {"code": totp.code(secret)}, follow=True)
    assert "Each works once" in answer.content.decode()
    return secret


@pytest.fixture
def secret(client, user):
    """Of the app that ann, who is signed in, has added."""
    client.force_login(user)
    return add_app(client)


def second_step(code, client=None):
    """Sign in as ann and give a code; the last page."""
    client = client or Client()
    assert sign_in(client)["Location"] == reverse("mfa_authenticate")
    return client.post(reverse("mfa_authenticate"), {"code": code}, follow=True).content.decode()


class TestApp:
    def test_the_password_alone_is_not_enough(self, secret):
        client = Client()
        sign_in(client)
        assert client.get(reverse("jobs"))["Location"].startswith(reverse("login"))

    def test_the_code_leads_on_to_the_page_that_was_asked_for(self, secret):
        client = Client()
        client.post(reverse("login"), {"login": "ann", "password": PASSWORD, "next": reverse("targets")})
        answer = client.post(reverse("mfa_authenticate"), {"code": totp.code(secret)})
        assert answer["Location"] == reverse("targets")
        assert client.get(reverse("targets")).status_code == 200

    def test_a_code_works_once(self, secret):
        code = totp.code(secret)
        assert "Sign out" in second_step(code)
        cache.clear()  # Another process has another cache, in which allauth finds no used codes.
        assert "used before" in second_step(f" {code[:3]} {code[3:]} ")

    def test_codes_cannot_be_guessed(self, secret):
        client = Client()
        sign_in(client)
        for _ in range(configured.SIGN_IN_TRIES):
            page = client.post(reverse("mfa_authenticate"), {"code": "0000000"}).content.decode()
            assert "not accepted" in page
        page = client.post(reverse("mfa_authenticate"), {"code": totp.code(secret)}).content.decode()
        assert "Too many attempts" in page

    def test_cancelling_forgets_the_password(self, secret):
        client = Client()
        sign_in(client)
        client.post(reverse("logout"))
        assert client.get(reverse("mfa_authenticate"))["Location"] == reverse("login")

    def test_its_secret_is_stored_encrypted_and_moves_to_a_new_key(self, secret, settings):
        stored = str(list(Authenticator.objects.values_list("data", flat=True)))
        assert secret not in stored
        newest = Fernet.generate_key().decode()
        settings.ENCRYPTION_KEYS = [newest, *settings.ENCRYPTION_KEYS]
        call_command("rotate_keys")
        settings.ENCRYPTION_KEYS = [newest]
        assert "Sign out" in second_step(totp.code(secret))

    def test_without_its_key_nobody_gets_in_and_the_page_says_why(self, secret, settings):
        settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
        assert "encryption key is missing" in second_step(totp.code(secret))

    def test_removing_it_needs_the_password_and_ends_the_second_step(self, client, secret):
        other = Client()
        second_step(totp.code(secret), other)
        asked = other.get(reverse("mfa_deactivate_totp"), follow=True).content.decode()
        assert "Confirm that it is you" in asked
        assert "Remove the app" in confirm(other, "mfa_deactivate_totp").content.decode()
        other.post(reverse("mfa_deactivate_totp"))
        assert not Authenticator.objects.exists()
        assert sign_in(Client())["Location"] == reverse("home")


class TestRecoveryCodes:
    @pytest.fixture
    def codes(self, client, secret):
        page = client.get(reverse("mfa_view_recovery_codes")).content.decode()
        return re.search(r'<pre id="recovery-codes">([\d\s]+)</pre>', page)[1].split()

    def test_there_are_ten_and_each_works_once(self, codes):
        assert len(set(codes)) == 10
        assert "Sign out" in second_step(codes[0])
        assert "Sign out" not in second_step(codes[0])
        assert "Sign out" in second_step(codes[1])

    def test_they_can_be_copied_and_printed(self, client, codes):
        page = client.get(reverse("mfa_view_recovery_codes")).content.decode()
        assert all(each in page for each in ('data-copy="#recovery-codes"', "data-print"))

    def test_new_ones_replace_the_old(self, client, codes):
        client.post(reverse("mfa_generate_recovery_codes"))
        assert "Sign out" not in second_step(codes[0])


class TestRequired:
    @pytest.fixture(autouse=True)
    def required(self, settings):
        settings.REQUIRE_SECOND_FACTOR = True

    @pytest.mark.parametrize("name", ["jobs", "targets", "new", "uploads", "history_csv", "labs"])
    def test_nothing_opens_before_there_is_one(self, client, user, name):
        client.force_login(user)
        assert client.get(reverse(name))["Location"] == reverse("mfa_index")
        assert client.post(reverse(name))["Location"] == reverse("mfa_index")

    def test_the_page_that_adds_one_says_why_and_opens_the_rest(self, client, user):
        client.force_login(user)
        assert "is required" in client.get(reverse("mfa_index")).content.decode()
        add_app(client)
        assert client.get(reverse("jobs")).status_code == 200
        assert "is required" not in client.get(reverse("mfa_index")).content.decode()

    def test_signing_in_and_out_go_on(self, client, user):
        assert client.get(reverse("login")).status_code == 200
        client.force_login(user)
        assert client.post(reverse("logout"))["Location"] == reverse("login")

    def test_health_needs_none(self, client, user):
        client.force_login(user)
        assert client.get(reverse("healthz")).status_code in (200, 503)


@pytest.mark.parametrize(
    "pattern", [each for each in urlpatterns if each.name.startswith("mfa_")], ids=lambda p: p.name
)
def test_pages_of_ones_account_are_nobody_elses(client, user, pattern):
    """The key of another person is unknown, and strangers are sent to the sign-in."""
    args = [1] if "pk" in str(pattern.pattern) else []
    assert client.get(reverse(pattern.name, args=args))["Location"].startswith(reverse("login"))
    if args:
        Authenticator.objects.create(pk=1, user=user, type="webauthn", data={"name": "key"})
        client.force_login(User.objects.create_user("eve", password=PASSWORD))
        assert confirm_path(client, reverse(pattern.name, args=args)).status_code == 404


def confirm_path(client, path):
    asked = client.get(path)
    return client.post(asked["Location"], {"password": PASSWORD, "next": path}, follow=True)
