"""Channels: for staff alone; made, tested, switched and deleted, with what became of their messages."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from dashboard.channels.waiting import NOT_TAKEN, ON_THEIR_WAY
from importer.access import people
from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.models import AuditEvent, Channel, Level, Notification, Subscription
from importer.notifications import channels, delivery
from importer.worker.hosts import presence
from tests.dashboard.api.program import Program, problem
from tests.dashboard.job_data import make_job
from tests.importer.notifications.receivers import Hook, web_catcher
from tests.importer.notifications.runs import run_of
from tests.people import admin, operator, stranger

pytestmark = pytest.mark.django_db

SECRET = "sesame sesame sesame"


@pytest.fixture
def staff(client):
    client.force_login(admin("root"))
    return client


@pytest.fixture
def hook():
    with web_catcher() as caught:
        yield caught


def values(hook: Hook, **changes):
    """A webhook's form that is right but for what the test changes."""
    made = {"name": "ops", "on": "on", "url": hook.url, "private_allowed": "on", "secret": SECRET}
    return {**made, "events": ["failed", "recovered"], "most_rejects": "0", **changes}


def new(kind: str) -> str:
    return f"{reverse('channel_new')}?kind={kind}"


def page_of(answer) -> str:
    return answer.content.decode()


def test_who_has_no_grant_gets_none_of_it(client):
    channel = Channel.objects.create(name="night", kind="mail", addresses="night@example.org")
    client.force_login(stranger("eve"))
    assert client.get(reverse("channel_new")).status_code == 403
    assert client.get(reverse("channel", args=[channel.pk])).status_code == 404
    assert "night@example.org" not in client.get(reverse("channels")).content.decode()


@pytest.mark.parametrize(("level", "sees"), [(Level.LOAD, False), (Level.ADMINISTER, True)])
def test_where_it_sends_to_is_for_who_administers_it(client, capsys, level, sees):
    """The address of a webhook may be all that is needed to send to it."""
    Channel.objects.create(name="ops", kind="webhook", url="https://hooks.example.org/T01/secret")
    client.force_login(operator("ann", level))
    call_command("channel", "list", "--as", "ann")
    call_command("channel", "list", "--json", "--as", "ann")
    for shown in (page_of(client.get(reverse("channels"))), *capsys.readouterr().out.split("\n", 1)):
        assert "ops" in shown
        assert ("hooks.example.org" in shown) == sees


class TestWhoAdministersOne:
    """An operator without a grant on a target: messages are about the imports of all."""

    @pytest.fixture
    def ops(self, hook) -> Channel:
        channel = Channel(name="ops", kind="webhook", url=hook.url, private_allowed=True, events=["failed", "late"])
        return channels.save(channel, SECRET)

    @pytest.fixture
    def bob(self, ops) -> User:
        bob = stranger("bob")
        people.grant(bob, "channel", Level.ADMINISTER, ops)
        return bob

    @pytest.mark.parametrize(
        "changes", [{"url": "https://192.0.2.1/bob"}, {"events": ["failed", "regression"]}], ids=["elsewhere", "more"]
    )
    def test_neither_sends_it_elsewhere_nor_adds_events(self, client, ops, bob, hook, changes):
        client.force_login(bob)
        before = Channel.objects.values().get()
        answer = client.post(reverse("channel", args=[ops.pk]), values(hook, **changes))
        assert answer.status_code == 422
        assert "Only admins may change where a channel sends to, or add events to it." in page_of(answer)
        told = problem(Program(bob).send("PATCH", f"channels/{ops.pk}", changes), 422)
        assert told["what"].startswith("Only admins may change where a channel sends to")
        with acting_as(bob), pytest.raises(Forbidden):
            channels.save(Channel(**before | changes))
        assert Channel.objects.values().get() == before

    def test_does_not_let_it_reach_private_addresses(self, ops, bob):
        Channel.objects.update(private_allowed=False)
        with acting_as(bob), pytest.raises(Forbidden):
            channels.save(Channel(**Channel.objects.values().get() | {"private_allowed": True}))

    def test_is_told_so_beside_the_fields(self, client, ops, bob):
        for user, told in ((bob, True), (admin("root"), False)):
            client.force_login(user)
            page = page_of(client.get(reverse("channel", args=[ops.pk])))
            assert ("Only an admin changes it" in page) == ("Only an admin adds events" in page) == told
            assert bool(re.search('<input[^>]* name="url"[^>]* readonly', page)) == told
            boxes = re.findall('<input[^>]* name="events"[^>]*>', page)
            assert [each for each in boxes if "disabled" in each] == [
                each for each in boxes if told and "checked" not in each
            ]

    def test_changes_the_rest(self, client, ops, bob, hook):
        client.force_login(bob)
        fewer = values(hook, name="hooks", events=["late"])
        assert client.post(reverse("channel", args=[ops.pk]), fewer).status_code == 302
        assert Program(bob).send("PATCH", f"channels/{ops.pk}", {"on": False}).status_code == 200
        assert Channel.objects.values_list("name", "events", "on").get() == ("hooks", ["late"], False)

    def test_reads_messages_of_what_the_person_may_see_alone(self, client, ops, bob):
        granted, other = make_job(table="orders"), make_job()
        people.grant(bob, "target", Level.LOOK, granted.target, ["osm.orders"])
        about = [{"job": granted}, {"job": other}, {"run": run_of(other)}, {}]
        for number, each in enumerate(about):
            payload = {"title": f"title {number}", "what": f"what {number}"}
            values = {"event": "failed", "status": "given up", "payload": payload, "next_at": timezone.now()}
            Notification.objects.create(channel=ops, once=str(number), **values, **each)
        for user, read in ((bob, {0}), (admin("root"), {0, 1, 2, 3})):
            client.force_login(user)
            page = page_of(client.get(reverse("channel", args=[ops.pk])))
            for number in range(4):
                assert (f"title {number}" in page, f"what {number}" in page) == (number in read,) * 2
            assert page.count("A message that you may not read") == 4 - len(read)

    def test_saves_addresses_as_they_are(self, client):
        channel = Channel.objects.create(name="team", kind="mail", addresses="ann@example.org\nbob@example.org")
        client.force_login(operator("bob"))
        sent = {"name": "team", "on": "on", "addresses": "ann@example.org\r\nbob@example.org", "most_rejects": "3"}
        assert client.post(reverse("channel", args=[channel.pk]), sent).status_code == 302
        assert Channel.objects.get().most_rejects == 3


def test_a_webhook_is_made_tested_switched_off_and_deleted(staff, hook):
    page = page_of(staff.post(new("webhook"), values(hook), follow=True))
    made = Channel.objects.get()
    assert (made.secret, made.events, made.on) == (SECRET, ["failed", "recovered"], True)
    assert SECRET not in page
    tested = staff.post(reverse("channel_test", args=[made.pk]), headers={"HX-Request": "true"})
    assert "The test was taken" in page_of(tested)
    hook.answers = [500]
    tested = page_of(staff.post(reverse("channel_test", args=[made.pk]), headers={"HX-Request": "true"}))
    assert "answered 500 Internal Server Error: as the test wants" in tested
    staff.post(reverse("channel_switch", args=[made.pk]), {"on": "no"})
    assert AuditEvent.objects.latest("pk").details == {"switched": "off"}
    assert "Off" in page_of(staff.get(reverse("channels")))
    staff.post(reverse("channel_delete", args=[made.pk]))
    assert not Channel.objects.exists()


def test_an_edit_without_a_secret_keeps_it(staff, hook):
    staff.post(new("webhook"), values(hook))
    made = Channel.objects.get()
    assert staff.post(reverse("channel", args=[made.pk]), values(hook, secret="", name="night")).status_code == 302
    made.refresh_from_db()
    assert (made.name, made.secret) == ("night", SECRET)
    staff.post(reverse("channel", args=[made.pk]), values(hook, secret="another long secret"))
    made.refresh_from_db()
    assert made.secret == "another long secret"


@pytest.mark.parametrize(
    ("kind", "field", "value", "said"),
    [
        ("webhook", "url", "ftp://h/x", "That is no URL"),
        ("webhook", "url", "https://ann:pw@h/x", "Take it out"),
        ("webhook", "secret", "short", "Take at least 16"),
        ("webhook", "secret", "", "Take at least 16"),
        ("webhook", "events", ["all"], "not one of the available choices"),
        ("webhook", "most_rejects", "-1", "greater than or equal to 0"),
        ("webhook", "name", "a b", "Letters, digits"),
        ("mail", "addresses", "ann@example.org bob", "“bob” is no mail address"),
        ("mail", "addresses", " ", "no address"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_saved(staff, hook, kind, field, value, said):
    answer = staff.post(new(kind), values(hook, addresses="ann@example.org") | {field: value})
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    ("kind", "field", "changes", "said"),
    [
        ("webhook", "url", {"private_allowed": ""}, "“Private addresses allowed”"),
        ("webhook", "url", {"url": "http://169.254.169.254/"}, "never connected to"),
        ("webhook", "url", {"url": "http://a b/"}, "no host name"),
        ("mail", "addresses", {}, "No mail server is set"),
    ],
)
def test_a_channel_whose_test_would_be_refused_is_not_saved(staff, hook, settings, kind, field, changes, said):
    settings.EMAIL_BACKEND = ""
    answer = staff.post(new(kind), values(hook, addresses="ann@example.org", **changes))
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert not Channel.objects.exists()


def test_who_is_told_of_one_schedule_is_chosen_beside_what_is_told_of_all(staff):
    schedule = run_of(make_job(chunks=1)).schedule
    team, ops = (Channel.objects.create(name=name, kind="mail", events=["failed"]) for name in ("team", "ops"))
    told = reverse("schedule_subscriptions", args=[schedule.pk])
    staff.post(told, {f"channel-{team.pk}": ["late", "no_file"]})
    assert "nonsense is not one of" in staff.post(told, {f"channel-{team.pk}": ["nonsense"]}).text
    assert list(Subscription.objects.values_list("channel", "events")) == [(team.pk, ["late", "no_file"])]
    boxes = dict(staff.get(told).context["rows"])
    assert [each.event for each in boxes[team] if each.here] == ["late", "no_file"]
    assert [each.event for each in boxes[ops] if each.everywhere] == ["failed"]
    staff.post(told)
    assert not Subscription.objects.exists()


def test_messages_are_shown_with_their_state_and_one_that_was_given_up_can_be_sent_again(staff):
    channel = Channel.objects.create(name="team", kind="mail", addresses="ann@example.org")
    payload = {"title": "orders <b>failed", "what": "No."}
    once = {"channel": channel, "event": "failed", "payload": payload, "next_at": timezone.now()}
    Notification.objects.create(once="1", status="sent", sent_at=timezone.now(), **once)
    lost = Notification.objects.create(once="2", status="given up", attempts=32, problem="it refused ann", **once)
    assert "1 given up" in page_of(staff.get(reverse("channels")))
    page = page_of(staff.get(reverse("channel", args=[channel.pk])))
    assert "Attempt 32: it refused ann" in page
    made = timezone.localtime(lost.created_at)
    assert "given up</span>, of <time" in page
    assert f">{made.day} {made:%b, %H:%M}</time>" in page
    assert "<b>failed" not in page
    staff.post(reverse("notice_again", args=[lost.pk]))
    lost.refresh_from_db()
    assert (lost.status, lost.attempts) == ("waiting", 0)


@pytest.mark.parametrize("on", [True, False])
def test_messages_that_nobody_has_tried_to_send_wait_for_a_cause_as_well(staff, redis, on):
    channel = Channel.objects.create(name="team", kind="mail", addresses="ann@example.org", on=on)
    pages = [reverse("channels"), reverse("channel", args=[channel.pk])]
    assert "No worker is running." not in "".join(page_of(staff.get(each)) for each in pages)
    payload = {"title": "orders failed", "what": "No."}
    Notification.objects.create(channel=channel, event="failed", payload=payload, once="1", next_at=timezone.now())
    off = "" if on else " The channel is off."
    for queues, why in (
        ([], "No worker is running."),
        (["load"], "No worker serves control, scan."),
        (["control"], ""),
    ):
        if queues:
            presence.announce("load@here", 1, queues)
        said = f"{why}{off}".strip() or ON_THEIR_WAY
        assert [said in page_of(staff.get(each)) for each in pages] == [True, True]


def test_messages_that_wait_long_say_for_how_long_and_can_be_sent_or_discarded(staff, redis):
    channel = Channel.objects.create(name="team", kind="mail", addresses="ann@example.org")
    presence.announce("load@here", 1, ["control"])
    waiting = {"channel": channel, "event": "failed", "payload": {"title": "orders failed", "what": "No."}}
    notice = Notification.objects.create(**waiting, once="1", next_at=timezone.now())
    listed, address = reverse("channels"), reverse("channel", args=[channel.pk])
    for each in (listed, address):
        assert ON_THEIR_WAY in page_of(staff.get(each))
    Notification.objects.update(created_at=timezone.now() - timedelta(days=5, minutes=1))
    said = {each: page_of(staff.get(each)).replace("\xa0", " ") for each in (listed, address)}
    assert f"For 5 days. {NOT_TAKEN}" in said[listed]
    assert f"<strong>1 message waits for 5 days.</strong> {NOT_TAKEN}" in said[address]
    Notification.objects.update(next_at=timezone.now() + timedelta(hours=1), problem="it refused ann")
    assert "it refused ann The next try is due 59 minutes from now." in page_of(staff.get(address)).replace("\xa0", " ")
    Channel.objects.update(on=False)
    assert ("Send now" in page_of(staff.get(address)), "Discard" in page_of(staff.get(address))) == (False, True)
    # From a page that was opened before: a worker would give up what waits.
    assert "team is switched off, so nothing is sent." in page_of(staff.post(f"{address}send-now/", follow=True))
    assert delivery.due() == []
    Channel.objects.update(on=True)
    assert "A worker sends them now" in page_of(staff.post(f"{address}send-now/", follow=True))
    assert delivery.due() == [notice.pk]
    shown = page_of(staff.post(f"{address}discard/", follow=True))
    assert "1 message discarded." in shown
    assert "Send again" in shown
    assert "message waits" not in shown
    assert AuditEvent.objects.latest("pk").details == {"discarded": 1}


def test_why_messages_wait_is_said_first_also_for_those_after_the_oldest(staff, redis):
    channel = Channel.objects.create(name="team", kind="mail", addresses="ann@example.org")
    address = reverse("channel", args=[channel.pk])
    due = timezone.now() - timedelta(days=4)
    for number in range(25):
        Notification.objects.create(
            channel=channel, event="failed", payload={"title": "orders failed", "what": "No."}, once=str(number),
            next_at=due, attempts=int(not number), problem="" if number else "No mail server is set.",
        )  # fmt: skip
    page = page_of(staff.get(address))
    said = "<strong>25 messages wait.</strong> No worker is running. No mail server is set. The next try was due "
    assert page.index(said) < page.index('class="card"')
    Notification.objects.filter(pk__gt=Notification.objects.earliest("pk").pk).delete()
    page = page_of(staff.get(address))
    assert "<strong>1 message waits.</strong>" in page
    assert "Was due <time" in page
    Notification.objects.update(status="sent", sent_at=due)
    assert "message waits" not in page_of(staff.get(address))
