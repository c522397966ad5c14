"""`manage.py channel` as scripts use it."""

import json

import pytest
from django.core.management import CommandError, call_command

from importer.models import Channel
from tests.dashboard.job_data import make_job
from tests.importer.notifications.receivers import Hook
from tests.importer.notifications.runs import run_of

pytestmark = pytest.mark.django_db


def told(capsys, *args: str):
    """The command's output, parsed as JSON."""
    call_command("channel", *args, "--json")
    return json.loads(capsys.readouterr().out)


def test_added_listed_and_tested(capsys, hook: Hook):
    channel = told(capsys, "add", "ops", "--webhook", hook.url, "--private", "--events", "failed")
    assert Channel.objects.get().secret == channel["secret"]
    assert told(capsys, "add", "team", "--mail", "ann@example.org", "bob@example.org") == {"name": "team"}
    listed = {each["name"]: (each["to"], each["waiting"], each["on"]) for each in told(capsys, "list")}
    assert listed == {"ops": ([hook.url], 0, True), "team": (["ann@example.org", "bob@example.org"], 0, True)}
    assert told(capsys, "test", "ops") == {"name": "ops", "ok": True, "problem": ""}
    hook.answers = [500]
    with pytest.raises(CommandError, match="answered 500"):
        call_command("channel", "test", "ops")
    with pytest.raises(SystemExit):
        call_command("channel", "test", "ops", "--json")


def test_a_channel_subscribes_to_events_of_a_schedule(capsys):
    Channel.objects.create(name="ops", kind="mail")
    schedule = run_of(make_job(chunks=1)).schedule
    for events in (["failed", "late"], ["late"], []):
        call_command("channel", "subscribe", "ops", schedule.name, "--events", *events)
        assert [each.events for each in schedule.subscriptions.all()] == [events][: len(events)]
    with pytest.raises(CommandError, match="There is no schedule nightly"):
        call_command("channel", "hear", "ops", "nightly")


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
