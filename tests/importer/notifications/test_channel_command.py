"""`millrace channel` as scripts use it."""

import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.contracts.documents import CHANNEL, CHANNEL_TEST
from importer.models import Channel, Notification
from importer.models.channel import Event
from importer.notifications import delivery, outbox
from tests.dashboard.job_data import make_job
from tests.documents import read
from tests.importer.notifications.receivers import Hook, Inbox
from tests.importer.notifications.runs import run_of

pytestmark = pytest.mark.django_db


def told(capsys, *args: str):
    """The command's output, parsed as JSON."""
    call_command("channel", *args, "--json")
    return read(capsys.readouterr().out)


def test_added_listed_and_tested(capsys, hook: Hook, inbox: Inbox):
    channel = told(capsys, "add", "ops", "--webhook", hook.url, "--allow-private", "--events", "failed")
    assert Channel.objects.get().secret == channel["secret"]
    team = told(capsys, "add", "team", "--mail", "ann@example.org", "bob@example.org", "--events")
    assert team == {"schema": CHANNEL.schema, "name": "team"}
    listed = {each["name"]: (each["to"], each["waiting"], each["on"]) for each in told(capsys, "list")["channels"]}
    assert listed == {"ops": ([hook.url], 0, True), "team": (["ann@example.org", "bob@example.org"], 0, True)}
    call_command("channel", "list")
    assert re.findall("; is sent: (.*)", capsys.readouterr().out) == ["failed", "nothing of its own"]
    assert told(capsys, "test", "ops") == {"schema": CHANNEL_TEST.schema, "name": "ops", "ok": True, "problem": ""}
    hook.answers = [500]
    with pytest.raises(CommandError, match="answered 500"):
        call_command("channel", "test", "ops")
    with pytest.raises(SystemExit):
        call_command("channel", "test", "ops", "--json")


def test_removed_with_what_waits_for_it(capsys, webhook: Channel):
    outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
    call_command("channel", "remove", webhook.name)
    assert "ops is removed. Not sent: 1 that waited for it." in capsys.readouterr().out
    assert (Channel.objects.count(), Notification.objects.count()) == (0, 0)
    with pytest.raises(CommandError, match=r"There is no channel ops\. Channels: none yet"):
        call_command("channel", "remove", "ops")


def test_what_waits_is_sent_now_or_discarded(capsys, webhook: Channel, redis):
    outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
    later = timezone.now() + timedelta(hours=1)
    Notification.objects.update(next_at=later)
    call_command("channel", "send-now", "ops")
    assert "A worker sends 1 message to ops now" in capsys.readouterr().out
    assert Notification.objects.get().next_at < later
    Channel.objects.update(on=False)
    with pytest.raises(CommandError, match=r"ops is switched off, so nothing is sent\. Switch it on in the list of ch"):
        call_command("channel", "send-now", "ops")
    assert Notification.objects.get().status == Notification.Status.WAITING
    for said in ("1 message to ops discarded", "0 messages to ops discarded"):
        call_command("channel", "discard", "ops")
        assert said in capsys.readouterr().out
    assert Notification.objects.get().problem == delivery.DISCARDED
    Channel.objects.update(on=True)
    call_command("channel", "send-now", "ops")
    assert "No message waits for ops." in capsys.readouterr().out


def test_a_channel_subscribes_to_events_of_a_schedule(capsys):
    Channel.objects.create(name="ops", kind="mail")
    schedule = run_of(make_job(chunks=1)).schedule
    for events in (["failed", "late"], ["late"], []):
        call_command("channel", "subscribe", "ops", schedule.name, "--events", *events)
        assert [each.events for each in schedule.subscriptions.all()] == [events][: len(events)]
    with pytest.raises(CommandError, match="There is no schedule nightly"):
        call_command("channel", "subscribe", "ops", "nightly")


def test_mail_is_refused_while_no_mail_server_is_set(settings):
    settings.EMAIL_BACKEND = ""
    with pytest.raises(CommandError, match=r"No mail server is set\. Set EMAIL_URL"):
        call_command("channel", "add", "ops", "--mail", "ann@example.org")
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("http://127.0.0.1:1/", [], "--allow-private"),
        ("http://10.0.0.8/hook", [], "--allow-private"),
        ("http://[::1]/", [], "--allow-private"),
        ("http://localhost/", [], "--allow-private"),
        ("http://169.254.169.254/", ["--allow-private"], "never connected to"),
        ("https://a b/", [], "a b is no host name"),
        (f"https://{'a' * 64}.example/", [], "is no host name"),
    ],
)
def test_what_the_test_would_refuse_is_not_saved(url, options, said):
    with pytest.raises(CommandError, match=said):
        call_command("channel", "add", "ops", "--webhook", url, *options)
    assert not Channel.objects.exists()


@pytest.mark.parametrize("path", ["/größe?an=ä", "/a b", "/%C3%A4"])
def test_any_path_that_is_saved_can_be_sent_to(hook: Hook, path):
    call_command("channel", "add", "ops", "--webhook", f"{hook.url.rpartition('/')[0]}{path}", "--allow-private")
    call_command("channel", "test", "ops")
    assert len(hook.came) == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("add", "ops", "--webhook", "h"), "That is no URL"),
        (("add", "ops", "--webhook", "https://h/", "--secret-env", "NOT_THERE"), "no environment variable NOT_THERE"),
        (("add", "ops", "--mail", "ann"), "“ann” is no mail address"),
        (("add", "ops", "--mail", "ann@example.org", "--events", "all"), "There is no event all"),
        (("test", "ops"), "There is no channel ops. Channels: none yet"),
    ],
)
def test_an_invalid_channel_is_refused_in_one_line(args, said):
    with pytest.raises(CommandError, match=said):
        call_command("channel", *args)
    assert not Channel.objects.exists()
