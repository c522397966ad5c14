"""The list of one's own sessions."""

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.sign_in.browsers import browser_name
from tests.dashboard.sign_in.conftest import PASSWORD
from tests.dashboard.sign_in.test_sign_in import ELSEWHERE, sign_in

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def other(user):
    """A browser elsewhere in which ann is signed in."""
    other = Client()
    sign_in(other, REMOTE_ADDR=ELSEWHERE, HTTP_USER_AGENT=FIREFOX)
    return other


def is_in(client):
    return client.get(reverse("jobs")).status_code == 200


def test_each_browser_is_listed_with_address_and_name(client, other):
    sign_in(client)
    page = client.get(reverse("usersessions_list")).content.decode()
    assert page.count("<strong>") == 2
    assert "Firefox on Linux" in page
    assert ELSEWHERE in page
    assert page.count("this browser") == 1


def test_a_browser_that_is_not_listed_joins_the_list(client, user):
    sign_in(client, HTTP_USER_AGENT=FIREFOX)
    UserSession.objects.all().delete()
    page = client.get(reverse("usersessions_list"), REMOTE_ADDR=ELSEWHERE, HTTP_USER_AGENT=FIREFOX).text
    listed = UserSession.objects.get()
    assert f"from {ELSEWHERE}, first seen {timezone.localtime(listed.created_at):%Y-%m-%d %H:%M}" in page
    assert (page.count("Firefox on Linux"), page.count("this browser")) == (1, 1)
    assert "Sign out everywhere else" in page


def test_one_is_signed_out(client, other):
    sign_in(client)
    session = UserSession.objects.get(ip=ELSEWHERE)
    client.post(reverse("usersessions_list"), {"session": session.pk})
    assert (is_in(client), is_in(other)) == (True, False)


def test_all_others_are_signed_out(client, other):
    sign_in(client)
    client.post(reverse("usersessions_list"))
    assert (is_in(client), is_in(other)) == (True, False)
    assert client.get(reverse("usersessions_list")).content.decode().count("<strong>") == 1


@pytest.mark.parametrize("named", ["other", "x", "-1", "9" * 30, "²"])
def test_nobody_ends_a_session_of_another_person(client, other, named):
    User.objects.create_user("eve", password=PASSWORD)
    sign_in(client, name="eve")
    named = UserSession.objects.get(ip=ELSEWHERE).pk if named == "other" else named
    assert client.post(reverse("usersessions_list"), {"session": named}).status_code == 404
    client.post(reverse("usersessions_list"))
    assert is_in(other)


def test_a_new_password_leaves_one(client, other):
    sign_in(client)
    form = {"oldpassword": PASSWORD, "password1": "new-mill-10", "password2": "new-mill-10"}
    client.post(reverse("account_change_password"), form)
    assert client.get(reverse("usersessions_list")).content.decode().count("<strong>") == 1


def test_a_sign_in_without_an_address_is_listed_too(client, user):
    sign_in(client, REMOTE_ADDR="")
    assert UserSession.objects.get().ip == "::"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("curl/8.0", "curl/8.0"),
        ("", "A browser"),
    ],
)
def test_names_of_browsers(user_agent, name):
    assert browser_name(user_agent) == name


def test_a_session_that_was_there_before_signing_in_is_worth_nothing(client, user):
    """Fixation: an attacker has planted the cookie of a session of their own."""
    attacker = Client()
    attacker.get(reverse("login"))
    session = attacker.session
    session["planted"] = True
    session.save()
    client.cookies["sessionid"] = attacker.cookies["sessionid"] = session.session_key
    sign_in(client)
    assert is_in(client)
    assert client.cookies["sessionid"].value != session.session_key
    assert not is_in(attacker)


@pytest.mark.parametrize("key", ["x" * 32, "", "../../etc/passwd", "1' OR '1'='1"])
def test_an_invented_session_is_nobodys(client, other, key):
    client.cookies["sessionid"] = key
    assert not is_in(client)


def test_a_copied_session_ends_with_signing_out(client, user):
    sign_in(client)
    copy = Client()
    copy.cookies["sessionid"] = client.cookies["sessionid"].value
    assert is_in(copy)
    client.post(reverse("logout"))
    assert not is_in(copy)
