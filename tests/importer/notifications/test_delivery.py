"""Delivery to real servers: after failures, to a hanging server, to a redirect, and to a refused address."""

from datetime import timedelta

import pytest
from django.utils import timezone

from importer.engine.errors import Problem
from importer.models import Channel, Notification
from importer.models.channel import Event
from importer.notifications import channels, delivery, outbox
from importer.notifications import webhook as webhooks
from tests.documents import read
from tests.importer.notifications.receivers import Hook, Inbox

pytestmark = pytest.mark.django_db

Status = Notification.Status


@pytest.fixture
def notice(webhook: Channel) -> Notification:
    """A notification that waits to be sent."""
    outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
    return Notification.objects.get()


def tried(notice: Notification) -> Notification:
    """The notification after an attempt, which is made at once without its delay."""
    Notification.objects.filter(pk=notice.pk).update(next_at=timezone.now())
    Channel.objects.update(free_at=None)
    delivery.send(notice.pk)
    notice.refresh_from_db()
    return notice


def seconds_to_wait(notice: Notification) -> float:
    return (notice.next_at - timezone.now()).total_seconds()


def test_a_sent_notification_is_not_sent_again(notice: Notification, hook: Hook):
    assert delivery.due() == [notice.pk]
    assert tried(notice).status == Status.SENT
    assert tried(notice).attempts == 1
    assert [read(body)["what"] for _, body in hook.came] == ["It was due at 2 o'clock."]
    assert delivery.due() == []


def test_a_clock_that_was_set_back_a_day_delays_no_notification_for_a_day(notice: Notification):
    ahead = timezone.now() + timedelta(days=1)
    Notification.objects.update(next_at=ahead)
    Channel.objects.update(free_at=ahead)
    delivery.due()
    notice.refresh_from_db()
    assert seconds_to_wait(notice) <= delivery.LONGEST_DELAY
    free_at = Channel.objects.get(pk=notice.channel_id).free_at
    assert free_at <= timezone.now() + timedelta(seconds=delivery.LONGEST_PAUSE)


def test_what_waits_is_sent_at_once_or_given_up_unless_an_attempt_is_under_way(notice: Notification, hook: Hook):
    hook.answers = [500]
    assert tried(notice).status == Status.WAITING
    assert delivery.due() == []
    delivery.send_now(notice.channel_id)
    assert delivery.due() == [notice.pk]
    assert delivery._claim(notice.pk)
    free_at = Channel.objects.get().free_at
    delivery.send_now(notice.channel_id)
    assert (delivery.discard(notice.channel_id), delivery.due(), Channel.objects.get().free_at) == (0, [], free_at)
    Notification.objects.update(next_at=timezone.now())  # The worker has died.
    assert delivery.discard(notice.channel_id) == 1
    notice.refresh_from_db()
    assert (notice.status, notice.problem) == (Status.GIVEN_UP, delivery.DISCARDED)


def test_an_event_is_stored_once_for_each_channel(notice: Notification):
    outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
    assert Notification.objects.count() == 1


def test_a_third_attempt_sends_the_message_under_the_same_id(notice: Notification, hook: Hook):
    hook.answers = [500, 503, 204]
    assert (tried(notice).status, 5 < seconds_to_wait(notice) <= 10) == (Status.WAITING, True)
    assert notice.problem == "127.0.0.1 answered 500 Internal Server Error: as the test wants"
    assert (tried(notice).status, 15 < seconds_to_wait(notice) <= 20) == (Status.WAITING, True)
    assert (tried(notice).status, notice.problem) == (Status.SENT, "")
    assert {headers["X-Millrace-Id"] for headers, _ in hook.came} == {str(notice.key)}
    assert len({body for _, body in hook.came}) == 1


def test_a_notification_is_given_up_after_a_day_and_retried_once_on_request(notice: Notification, hook: Hook):
    hook.answers = [500, 500, 200]
    Notification.objects.update(created_at=timezone.now() - delivery.GIVEN_UP_AFTER + timedelta(minutes=1))
    assert tried(notice).status == Status.WAITING
    Notification.objects.update(created_at=timezone.now() - delivery.GIVEN_UP_AFTER)
    assert tried(notice).status == Status.GIVEN_UP
    assert tried(notice).attempts == 2
    assert delivery.retry(notice.pk)
    assert tried(notice).status == Status.SENT
    assert not delivery.retry(notice.pk)


def test_one_whose_attempts_all_end_without_a_word_is_given_up(notice: Notification, hook: Hook):
    Notification.objects.update(attempts=delivery.MOST_ATTEMPTS, problem=delivery.NO_WORD)
    assert (tried(notice).status, notice.problem, hook.came) == (Status.GIVEN_UP, delivery.NO_WORD, [])


def test_a_channel_sends_one_after_another_and_rests_after_a_failure(
    notice: Notification, webhook: Channel, hook: Hook
):
    outbox.enqueue(Event.LATE, "schedule 2", "It was due at 3 o'clock.")
    second = Notification.objects.latest("pk")
    assert delivery.due() == [notice.pk]
    hook.answers = [500, 200]
    delivery.send(notice.pk)
    assert delivery.due() == []
    delivery.send(second.pk)
    assert len(hook.came) == 1, "sent over a channel that rests"
    webhook.refresh_from_db()
    assert webhook.failures == 1
    Channel.objects.update(free_at=timezone.now())
    assert delivery.due() == [second.pk]
    assert tried(second).status == Status.SENT
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.free_at) == (0, None)


def test_one_that_hangs_is_left_after_a_while(notice: Notification, hook: Hook, monkeypatch):
    hook.answers = [0]
    monkeypatch.setattr(webhooks, "LONGEST", 0.2)
    assert tried(notice).problem == "127.0.0.1 gave no answer: not within 0.2 seconds."


def test_a_redirect_is_not_followed(notice: Notification, hook: Hook):
    hook.answers = [302]
    assert "redirects are not followed" in tried(notice).problem
    assert len(hook.came) == 1


def test_an_address_inside_a_network_is_refused_unless_allowed(notice: Notification, hook: Hook):
    Channel.objects.update(private_allowed=False)
    assert "inside a network" in tried(notice).problem
    assert hook.came == []


def test_notifications_of_a_channel_that_is_off_are_given_up(notice: Notification, hook: Hook):
    Channel.objects.update(on=False)
    outbox.enqueue(Event.LATE, "schedule 2", "It was due at 3 o'clock.")
    assert Notification.objects.count() == 1
    assert (tried(notice).status, hook.came) == (Status.GIVEN_UP, [])


def test_old_notifications_are_deleted_unless_they_wait(notice: Notification):
    long_ago = timezone.now() - timedelta(days=91)
    Notification.objects.update(created_at=long_ago)
    delivery.delete_old(timezone.now() - timedelta(days=90), 100)
    assert Notification.objects.exists()
    Notification.objects.update(status=Status.SENT)
    delivery.delete_old(timezone.now() - timedelta(days=90), 100)
    assert not Notification.objects.exists()


def test_addresses_that_the_mail_server_refuses_are_named_and_nobody_gets_a_second_mail(mail: Channel, inbox: Inbox):
    inbox.refused = ["bob@example.org"]
    outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
    notice = tried(Notification.objects.get())
    said = "The mail server refused bob@example.org (550); the others get the message."
    assert (notice.status, notice.problem) == (Status.SENT, said)
    assert [each["X-RcptTo"] for each in inbox.came] == ["ann@example.org"]
    with pytest.raises(Problem, match=r"refused bob@example\.org \(550\).*Correct or remove"):
        channels.test(mail)
    assert delivery.due() == []


def test_the_test_of_a_channel_says_what_stands_in_the_way(webhook: Channel, hook: Hook):
    channels.test(webhook)
    assert read(hook.came[0][1])["event"] == "test"
    hook.answers = [404]
    with pytest.raises(Problem, match="answered 404 Not Found"):
        channels.test(webhook)
    assert not Notification.objects.exists()
