"""Signing in with a password, signing out, and a new password."""

from urllib.parse import urlencode

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, reverse

from dashboard.sign_in.known_browsers import COOKIE
from dashboard.sign_in.middleware import NOT_DONE
from importer.access import people, tokens
from importer.access.counts import count
from importer.models import AccessToken
from tests.dashboard.sign_in.conftest import PASSWORD

pytestmark = pytest.mark.django_db

ELSEWHERE = "203.0.113.9"


def sign_in(client, password=PASSWORD, name="ann", **extra):
    return client.post(reverse("login"), {"login": name, "password": password}, **extra)


class TestSignIn:
    def test_right_password_leads_to_the_page_that_was_asked_for(self, client, user):
        redirected = client.get(reverse("targets"))
        answer = client.post(redirected["Location"], {"login": "ann", "password": PASSWORD, "next": reverse("targets")})
        assert answer["Location"] == reverse("targets")
        assert client.get(reverse("targets")).status_code == 200

    def test_what_was_sent_after_the_end_of_the_session_leads_back_to_its_form(self, client, user):
        page = f"{reverse('targets')}?sort=name"
        for sender, back in ((f"http://testserver{page}", page), ("http://evil.example/", reverse("home")), ("", "/")):
            answer = client.post(reverse("target_new"), {"name": "x"}, headers={"Referer": sender})
            assert answer["Location"] == f"{reverse('login')}?{urlencode({'next': back}, safe='/')}"
            assert NOT_DONE in client.get(answer["Location"]).content.decode()

    def test_a_script_learns_whether_the_session_lasts(self, client, user):
        assert client.get(reverse("signed_in")).json() == {"signed_in": False}
        client.force_login(user)
        assert client.get(reverse("signed_in")).json() == {"signed_in": True}

    @pytest.mark.parametrize(
        "elsewhere",
        ["https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example", "javascript:alert(1)",
         "https:evil.example", "http://testserver@evil.example/", "\t//evil.example"],
    )  # fmt: skip
    def test_it_does_not_lead_to_another_site(self, client, user, elsewhere):
        answer = client.post(reverse("login"), {"login": "ann", "password": PASSWORD, "next": elsewhere})
        assert answer["Location"] == reverse(configured.LOGIN_REDIRECT_URL)
        assert "evil" not in client.get(reverse("login"), {"next": elsewhere})["Location"]

    def test_wrong_password_says_so_and_does_not_repeat_it(self, client, user):
        page = sign_in(client, "wrong-horse").content.decode()
        assert "correct user name and password" in page
        assert "wrong-horse" not in page

    def test_a_field_left_empty_is_named(self, client, user):
        assert "Enter a user name and a password" in sign_in(client, "").content.decode()

    def test_who_is_signed_in_needs_no_sign_in(self, client, user):
        client.force_login(user)
        assert client.get(reverse("login"))["Location"] == reverse("home")

    def test_somebody_deactivated_is_told_so_only_with_the_right_password(self, client, user):
        User.objects.update(is_active=False)
        assert "correct user name" in sign_in(client, "wrong").content.decode()
        answer = client.post(reverse("login"), {"login": "ann", "password": PASSWORD}, follow=True)
        assert "not active" in answer.content.decode()
        assert "_auth_user_id" not in client.session

    @pytest.mark.parametrize("name", ["account_signup", "account_reset_password", "account_email"])
    def test_nobody_makes_their_own_account(self, client, name):
        with pytest.raises(NoReverseMatch):
            reverse(name)
        assert "ign up" not in client.get(reverse("login")).content.decode()


class TestSigningOut:
    def test_it_ends_the_session(self, client, user):
        client.force_login(user)
        assert client.post(reverse("logout"))["Location"] == reverse("login")
        assert client.get(reverse("jobs")).status_code == 302

    def test_it_needs_a_form_of_ours(self, user):
        client = Client(enforce_csrf_checks=True)
        client.force_login(user)
        answer = client.post(reverse("logout"))
        assert answer.status_code == 403
        assert "open for too long" in answer.content.decode()
        assert "_auth_user_id" in client.session

    def test_a_link_signs_nobody_out(self, client, user):
        client.force_login(user)
        assert client.get(reverse("logout")).status_code == 405
        assert "_auth_user_id" in client.session


class TestPasswordChange:
    def change(self, client, current=PASSWORD, new="new-mill-10", again="new-mill-10"):
        form = {"oldpassword": current, "password1": new, "password2": again}
        return client.post(reverse("account_change_password"), form, follow=True).content.decode()

    def test_the_new_password_counts_and_other_browsers_are_signed_out(self, client, user):
        other = Client()
        sign_in(other)
        sign_in(client)
        assert "Password successfully changed" in self.change(client)
        assert client.get(reverse("jobs")).status_code == 200
        assert other.get(reverse("jobs")).status_code == 302
        user.refresh_from_db()
        assert user.check_password("new-mill-10")

    @pytest.mark.parametrize(("chosen", "left"), [({}, {"ann", "eve"}), ({"end_tokens": "on"}, {"eve"})])
    @pytest.mark.parametrize("by_link", [False, True])
    def test_it_ends_tokens_if_that_is_chosen(self, client, user, chosen, left, by_link):
        for each in (user, User.objects.create_user("eve")):
            tokens.make(each, "nightly", 9)
        if by_link:
            where, names = client.get(reverse("invitation", args=people.invitation(user)))["Location"], "new_password"
        else:
            client.force_login(user)
            where, names = reverse("account_change_password"), "password"
        assert "End 1 token too" in client.get(where).content.decode()
        form = {"oldpassword": PASSWORD, f"{names}1": "new-mill-10", f"{names}2": "new-mill-10"}
        client.post(where, form | chosen)
        user.refresh_from_db()
        assert user.check_password("new-mill-10")
        assert set(AccessToken.objects.values_list("user__username", flat=True)) == left

    @pytest.mark.parametrize(
        ("form", "reason"),
        [
            ({"current": "wrong"}, "not your current password"),
            ({"new": "short", "again": "short"}, "too short"),
            ({"new": "password123", "again": "password123"}, "too common"),
            ({"again": "another-10"}, "same password each time"),
        ],
    )
    def test_what_is_wrong_is_said(self, client, user, form, reason):
        client.force_login(user)
        assert reason in self.change(client, **form)
        user.refresh_from_db()
        assert user.check_password(PASSWORD)

    def test_the_current_password_cannot_be_guessed_with_a_stolen_session(self, client, user):
        client.force_login(user)
        for _ in range(configured.SIGN_IN_TRIES):
            assert "not your current password" in self.change(client, "wrong")
        assert "Too many attempts" in self.change(client)

    def test_it_needs_a_sign_in(self, client):
        assert client.get(reverse("account_change_password"))["Location"].startswith(reverse("login"))


class TestGuessing:
    @pytest.fixture(autouse=True)
    def fewer_tries(self, settings):
        """Than usual: as many sign-ins as the usual limits allow take seconds."""
        settings.SIGN_IN_TRIES, settings.SIGN_IN_TRIES_ADDRESS, settings.SIGN_IN_TRIES_NAME = 4, 8, 20

    def test_it_ends_after_some_failures_even_with_the_right_password(self, client, user, settings):
        for _ in range(settings.SIGN_IN_TRIES):
            assert "Too many" not in sign_in(client, "wrong").content.decode()
        assert "Too many attempts. Wait 5 minutes" in sign_in(client).content.decode()
        assert "_auth_user_id" not in client.session

    def test_it_may_go_on_after_the_time(self, client, user, settings):
        settings.SIGN_IN_TRIES = 1
        sign_in(client, "wrong")
        settings.SIGN_IN_SECONDS = 0
        assert sign_in(client).status_code == 302

    def test_other_spellings_of_a_name_are_no_other_name(self, client, user, settings):
        settings.SIGN_IN_TRIES = 2
        sign_in(client, "wrong", "ANN")
        sign_in(client, "wrong", " ann ")
        assert "Too many" in sign_in(client, "wrong", "Ann").content.decode()

    def test_320_other_names_in_between_change_nothing(self, client, user, settings):
        for _ in range(settings.SIGN_IN_TRIES):
            sign_in(client, "wrong")
        for other in range(320):
            count({f"name other {other}": settings.SIGN_IN_TRIES_NAME}, settings.SIGN_IN_SECONDS)
        assert "Too many" in sign_in(client).content.decode()

    def test_many_names_with_one_password_lock_their_address(self, client, user, settings):
        answers = [sign_in(client, "Summer2026", f"name {number}").content.decode() for number in range(16)]
        assert sum("Too many" not in each for each in answers) == settings.SIGN_IN_TRIES_ADDRESS
        assert "Too many" in sign_in(client).content.decode()

    def test_other_people_go_on_elsewhere(self, client, user):
        for number in range(16):
            sign_in(client, "Summer2026", f"name {number}", REMOTE_ADDR=ELSEWHERE)
        assert sign_in(client).status_code == 302

    def test_guessing_from_one_address_does_not_lock_out_another(self, client, user):
        for _ in range(16):
            sign_in(client, "wrong", REMOTE_ADDR=ELSEWHERE)
        assert sign_in(client).status_code == 302

    def test_guessing_from_everywhere_ends_too(self, client, user):
        answers = [sign_in(client, "wrong", REMOTE_ADDR=f"203.0.113.{number}") for number in range(25)]
        assert sum("Too many" not in each.content.decode() for each in answers) == 20

    def test_own_sign_ins_in_between_do_not_clear_the_count_of_the_address(self, client, user, settings):
        User.objects.create_user("eve", password=PASSWORD)
        locked = 0
        for number in range(16):
            eve = Client()
            sign_in(eve, name="eve")
            locked += "Too many" in sign_in(Client(), "wrong", f"name {number}").content.decode()
        assert locked == 16 - settings.SIGN_IN_TRIES_ADDRESS

    def test_right_passwords_do_not_count(self, user):
        assert {sign_in(Client()).status_code for _ in range(12)} == {302}


class TestKnownBrowser:
    def test_nobody_is_locked_out_there_by_others_at_the_same_address(self, client, user):
        sign_in(client)
        client.post(reverse("logout"))
        stranger = Client()
        for number in range(60):
            sign_in(stranger, "wrong", f"name {number}")
            sign_in(stranger, "wrong")
        assert "Too many" in sign_in(stranger).content.decode()
        assert sign_in(client).status_code == 302

    def test_its_own_guesses_are_limited(self, client, user):
        sign_in(client)
        client.post(reverse("logout"))
        for _ in range(configured.SIGN_IN_TRIES):
            sign_in(client, "wrong")
        assert "Too many" in sign_in(client).content.decode()

    def test_it_is_known_for_one_person_only(self, client, user):
        User.objects.create_user("eve", password=PASSWORD)
        sign_in(client, name="eve")
        client.post(reverse("logout"))
        for _ in range(configured.SIGN_IN_TRIES):
            sign_in(client, "wrong")
        del client.cookies[COOKIE]
        assert "Too many" in sign_in(client).content.decode()

    @pytest.mark.parametrize("cookie", ["x", "WyJ1c2VyIDEiLCJhIl0:1vN:x", ""])
    def test_a_made_up_cookie_is_worth_nothing(self, client, user, settings, cookie):
        settings.SIGN_IN_TRIES = 1
        sign_in(client, "wrong")
        client.cookies[COOKIE] = cookie
        assert "Too many" in sign_in(client).content.decode()
