"""People in the browser of an admin: adding, the link that works once, roles, and the last admin who stays."""

import re
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from importer.access import people
from importer.models import Role
from tests.people import admin, operator, stranger

pytestmark = pytest.mark.django_db

PASSWORD = "mill-race-9"


@pytest.fixture
def ann(db):
    return admin("ann")


@pytest.fixture
def browser(client, ann):
    client.force_login(ann)
    return client


def said(answer):
    """The messages that the answer leaves for the next page."""
    return " ".join(str(each) for each in get_messages(answer.wsgi_request))


def link_on(answer):
    return re.search(r'id="link">http://testserver([^<]+)<', answer.content.decode())[1]


def add(browser, **changes):
    return browser.post(reverse("person_new"), {"name": "bob", "email": "", "role": "operator", **changes})


def set_password(link, password=PASSWORD, again=PASSWORD):
    """What somebody without a session gets from the link, and from the form behind it."""
    visitor = Client()
    opened = visitor.get(link, follow=True)
    if not opened.context["validlink"]:
        return opened
    address = opened.request["PATH_INFO"]
    return visitor.post(address, {"new_password1": password, "new_password2": again}, follow=True)


class TestAdding:
    def test_the_answer_shows_a_link_once(self, browser, settings):
        settings.EMAIL_BACKEND = ""
        answer = add(browser, email="bob@example.org")
        bob = User.objects.get(username="bob")
        assert (bob.email, bob.person.role, bob.has_usable_password()) == ("bob@example.org", Role.OPERATOR, False)
        assert "no-store" in answer["Cache-Control"]
        token = link_on(answer).rstrip("/").rpartition("/")[2]
        assert token not in browser.get(reverse("person", args=[bob.pk])).content.decode()

    @pytest.mark.parametrize(
        ("changes", "field", "reason"),
        [
            ({"name": ""}, "name", "required"),
            ({"name": "a b"}, "name", "valid username"),
            ({"name": "ann"}, "name", "already exists"),
            ({"name": "ANN"}, "name", "takes both for one name"),
            ({"email": "bob"}, "email", "valid email"),
            ({"role": "emperor"}, "role", "not one of the available choices"),
        ],
    )
    def test_what_is_wrong_is_said_beside_its_field_and_nobody_is_added(self, browser, changes, field, reason):
        answer = add(browser, **changes)
        assert answer.status_code == 422
        assert reason in " ".join(answer.context["form"].errors[field])
        assert User.objects.count() == 1


class TestLink:
    def test_sets_a_password_and_leads_to_the_sign_in(self, browser):
        answer = set_password(link_on(add(browser)))
        assert answer.request["PATH_INFO"] == reverse("login")
        assert "The password of bob is set" in answer.content.decode()
        assert User.objects.get(username="bob").check_password(PASSWORD)
        assert Client().login(username="bob", password=PASSWORD)

    def test_works_once(self, browser):
        link = link_on(add(browser))
        set_password(link)
        again = set_password(link, "another-password-1", "another-password-1")
        assert "This link works no more" in again.content.decode()
        assert User.objects.get(username="bob").check_password(PASSWORD)

    def test_expires(self, browser, monkeypatch, settings):
        link = link_on(add(browser))
        later = timezone.now().replace(tzinfo=None) + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT + 60)
        monkeypatch.setattr(people.default_token_generator, "_now", lambda: later)
        assert "This link works no more" in set_password(link).content.decode()

    def test_is_nothing_for_somebody_not_active(self, browser):
        link = link_on(add(browser))
        people.deactivate(User.objects.get(username="bob"))
        assert "This link works no more" in set_password(link).content.decode()

    @pytest.mark.parametrize("uid", ["MQ", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "x", "LTE"])
    def test_an_invented_one_sets_nothing(self, browser, ann, uid):
        answer = Client().get(reverse("invitation", args=[uid, "c0ffee-abc"]))
        assert answer.status_code == 200
        assert "This link works no more" in answer.content.decode()
        ann.refresh_from_db()
        assert not ann.has_usable_password()

    @pytest.mark.parametrize(
        ("password", "again", "reason"),
        [("short", "short", "too short"), ("password1", "password1", "too common"), (PASSWORD, "other", "match")],
    )
    def test_a_poor_password_is_refused_with_the_reason(self, browser, password, again, reason):
        link = link_on(add(browser))
        # The rule is there before the first try.
        assert "at least 8 characters" in Client().get(link, follow=True).text
        assert reason in set_password(link, password, again).text
        assert not User.objects.get(username="bob").has_usable_password()

    def test_a_new_one_replaces_a_forgotten_password_and_ends_the_sessions(self, browser):
        set_password(link_on(add(browser)))
        bob, elsewhere = User.objects.get(username="bob"), Client()
        elsewhere.force_login(bob)
        link = link_on(browser.post(reverse("person_link", args=[bob.pk])))
        assert elsewhere.get(reverse("jobs")).status_code == 200
        set_password(link, "another-password-1", "another-password-1")
        bob.refresh_from_db()
        assert bob.check_password("another-password-1")
        assert elsewhere.get(reverse("jobs")).status_code == 302

    def test_none_for_somebody_not_active_who_is_told_why(self, browser):
        bob = operator("bob")
        people.deactivate(bob)
        answer = browser.post(reverse("person_link", args=[bob.pk]))
        assert "bob is not active, and could not sign in. Activate the person first." in said(answer)


class TestOnePerson:
    def save(self, browser, user, role, email=""):
        return browser.post(reverse("person", args=[user.pk]), {"role": role, "email": email})

    def test_role_and_mail_change(self, browser):
        bob = stranger("bob")
        self.save(browser, bob, "admin", "b@example.org")
        bob = User.objects.get(pk=bob.pk)
        assert (bob.person.role, bob.is_staff, bob.email) == (Role.ADMIN, True, "b@example.org")
        self.save(browser, bob, "viewer")
        bob = User.objects.get(pk=bob.pk)
        assert (bob.person.role, bob.is_staff, bob.is_superuser) == (Role.VIEWER, False, False)

    def test_the_last_admin_keeps_the_role_and_the_page_says_why(self, browser, ann):
        answer = self.save(browser, ann, "viewer", "new@example.org")
        assert answer.status_code == 422
        assert "ann is the last admin. Make somebody else an admin first." in answer.content.decode()
        ann = User.objects.get(pk=ann.pk)
        assert (ann.is_staff, ann.person.role, ann.email) == (True, Role.ADMIN, "")

    def test_the_last_admin_stays_active_and_the_page_says_why(self, browser, ann):
        answer = browser.post(reverse("person_active", args=[ann.pk]), {"active": "no"}, follow=True)
        assert "ann is the last admin. Make somebody else an admin first." in answer.content.decode()
        ann.refresh_from_db()
        assert ann.is_active

    def test_one_admin_of_two_may_step_down_and_is_led_away(self, browser, ann):
        admin("second")
        assert self.save(browser, ann, "operator")["Location"] == reverse("jobs")
        assert browser.get(reverse("people")).status_code == 403

    def test_deactivated_is_signed_out_at_once_and_back_when_activated(self, browser):
        bob, elsewhere = operator("bob"), Client()
        elsewhere.force_login(bob)
        browser.post(reverse("person_active", args=[bob.pk]), {"active": "no"})
        assert elsewhere.get(reverse("jobs")).status_code == 302
        assert "Not active" in browser.get(reverse("person", args=[bob.pk])).content.decode()
        browser.post(reverse("person_active", args=[bob.pk]), {"active": "yes"})
        assert User.objects.get(pk=bob.pk).is_active

    def test_groups_are_ticked_and_unticked(self, browser):
        bob, shop, bank = stranger("bob"), *(Group.objects.create(name=name) for name in ("shop", "bank"))
        address = reverse("person_groups", args=[bob.pk])
        browser.post(address, {"groups": [shop.pk, bank.pk]})
        assert set(bob.groups.all()) == {shop, bank}
        browser.post(address, {"groups": [bank.pk]})
        assert list(bob.groups.all()) == [bank]
        assert browser.post(address, {"groups": [999]}).status_code == 422
        assert list(bob.groups.all()) == [bank]

    @pytest.mark.parametrize("name", ["person", "group"])
    def test_nobody_there(self, browser, name):
        assert browser.get(reverse(name, args=[999])).status_code == 404


class TestSecondFactors:
    def test_lost_ones_are_removed_and_sessions_end(self, browser):
        bob, eve, elsewhere = operator("bob"), operator("eve"), Client()
        for user in (bob, eve):
            for kind in ("totp", "recovery_codes"):
                Authenticator.objects.create(user=user, type=kind, data={})
        elsewhere.force_login(bob)
        assert "an app, recovery codes" in browser.get(reverse("person", args=[bob.pk])).content.decode()
        answer = browser.post(reverse("person_factors", args=[bob.pk]), follow=True)
        assert "bob signs in with the password alone now" in answer.content.decode()
        assert "Remove second factors" not in answer.content.decode()
        assert {each.user for each in Authenticator.objects.all()} == {eve}
        assert elsewhere.get(reverse("jobs")).status_code == 302


class TestTheList:
    def test_tells_role_groups_last_sign_in_and_who_is_not_active(self, browser):
        bob, eve = operator("bob"), stranger("eve")
        bob.groups.add(Group.objects.create(name="shop"))
        people.deactivate(eve)
        page = browser.get(reverse("people")).content.decode()
        rows = {name: page[page.index(f">{name}</a>") :] for name in ("ann", "bob", "eve")}
        assert "admin" in rows["ann"].partition("bob</a>")[0]
        assert "signed in" in rows["ann"].partition("bob</a>")[0]
        assert "shop" in rows["bob"].partition("eve</a>")[0]
        assert "not active" in rows["eve"]
        assert "operator" in rows["eve"]
        assert "never signed in" in rows["eve"]

    def test_asks_as_often_for_many_people_as_for_one(self, browser, django_assert_num_queries):
        for number in range(10):
            stranger(f"p{number}")
        with django_assert_num_queries(4):  # the session, the user, the people, their groups
            browser.get(reverse("people"))

    @pytest.mark.parametrize("who", ["ann", "oz"])
    def test_only_the_menu_of_an_admin_leads_there(self, client, who, ann):
        client.force_login(ann if who == "ann" else operator("oz"))
        assert (reverse("people") in client.get(reverse("jobs")).content.decode()) == (who == "ann")
