"""The link that sets a password goes by mail, if mail is set up and works; otherwise it is shown."""

import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from importer.access import people
from importer.models import AuditEvent
from tests.importer.notifications.receivers import mail_catcher
from tests.people import admin, stranger

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox(settings):
    with mail_catcher() as (caught, port):
        settings.EMAIL_BACKEND = "importer.notifications.smtp.Backend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        settings.SITE_URL = "https://millrace.example.org"
        yield caught


@pytest.fixture
def browser(client):
    client.force_login(admin("ann"))
    return client


def add(browser, email):
    answer = browser.post(reverse("person_new"), {"name": "bob", "email": email, "role": "operator"})
    return answer.content.decode()


def link_in(mail):
    return re.search(r"https://millrace.example.org(/invitation/\S+)", mail.get_payload())[1]


def opens(link):
    return Client().get(link, follow=True).context["validlink"]


def test_is_sent_and_not_shown(browser, inbox):
    page = add(browser, "bob@example.org")
    assert "The link is sent to bob@example.org." in page
    assert 'id="link"' not in page
    mail = inbox.came[0]
    assert (mail["To"], mail["Subject"]) == ("bob@example.org", "Millrace: your password")
    assert "as bob" in mail.get_payload()
    assert opens(link_in(mail))
    details = AuditEvent.objects.get(action="person_new").details
    assert details["sent_to"] == "bob@example.org"
    assert link_in(mail).split("/")[-2] not in str(details)


def test_can_be_shown_instead(browser, inbox):
    add(browser, "bob@example.org")
    address = reverse("person_link", args=[User.objects.get(username="bob").pk])
    assert 'id="link"' in browser.post(address, {"show": "yes"}).content.decode()
    assert len(inbox.came) == 1
    assert "The link is sent to" in browser.post(address).content.decode()
    assert len(inbox.came) == 2


def test_is_shown_for_somebody_without_an_address(browser, inbox):
    assert 'id="link"' in add(browser, "")
    assert not inbox.came


def test_is_shown_with_the_reason_if_no_server_takes_the_mail(browser, inbox, settings):
    settings.EMAIL_PORT = 1
    page = add(browser, "bob@example.org")
    assert "The link is not sent: The mail server did not take it" in page
    assert 'id="link"' in page


def test_the_command_sends_it_as_well(inbox):
    bob = stranger("bob")
    people.set_email(bob, "bob@example.org")
    out = StringIO()
    call_command("user", "reset", "bob", stdout=out)
    assert "is sent to bob@example.org" in out.getvalue()
    assert opens(link_in(inbox.came[0]))
    call_command("user", "reset", "bob", "--show-link", stdout=out)
    assert "/invitation/" in out.getvalue()
    assert len(inbox.came) == 1


def test_the_command_prints_it_if_no_server_takes_the_mail(inbox, settings):
    settings.EMAIL_PORT = 1
    out, err = StringIO(), StringIO()
    call_command("user", "add", "bob", "--role", "viewer", "--email", "b@example.org", stdout=out, stderr=err)
    assert "The link is not sent" in err.getvalue()
    assert "/invitation/" in out.getvalue()
