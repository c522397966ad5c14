"""Receivers, and channels that send to them."""

from collections.abc import Iterator

import pytest

from importer.models import Channel
from importer.models.channel import Event
from importer.notifications import channels
from tests.importer.notifications.receivers import Hook, Inbox, mail_catcher, web_catcher

SECRET = "sesame sesame sesame"


@pytest.fixture
def hook() -> Iterator[Hook]:
    with web_catcher() as caught:
        yield caught


@pytest.fixture
def inbox(settings) -> Iterator[Inbox]:
    with mail_catcher() as (caught, port):
        settings.EMAIL_BACKEND = "importer.notifications.smtp.Backend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        yield caught


@pytest.fixture
def webhook(hook: Hook, db) -> Channel:
    """A webhook that subscribes to all events."""
    values = {"url": hook.url, "private_allowed": True, "events": Event.usual()}
    return channels.save(Channel(name="ops", kind="webhook", **values), SECRET)


@pytest.fixture
def mail(inbox: Inbox, db) -> Channel:
    """A mail channel with two addresses that subscribes to all events."""
    values = {"addresses": "ann@example.org\nbob@example.org", "events": Event.usual()}
    return channels.save(Channel(name="team", kind="mail", **values))
