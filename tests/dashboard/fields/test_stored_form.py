"""A form of something stored: changes of another tab stay, and what the page is never sent is asked for again."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse

from importer.access.policy import stored_role
from importer.models import Channel, Role, Schedule, SourceConnection, Target
from tests.dashboard.connections.test_pages import http_values, new, web  # noqa: F401
from tests.dashboard.schedules.conftest import connection, made, preset  # noqa: F401
from tests.dashboard.schedules.conftest import values as schedule_values
from tests.dashboard.targets.test_pages import values as target_values
from tests.people import admin, operator
from tests.targets import silent_target

pytestmark = pytest.mark.django_db
CHANGED = "It has changed since this page was opened"
NOT_KEPT = "What you entered is not kept. Enter it again."


@pytest.fixture
def browser(client):
    client.force_login(admin("ann"))
    return client


def shown(html: str, form: int = 0) -> str:
    return re.findall(r'name="shown" value="(\w+)"', html)[form]


def refused(answer) -> bool:
    return answer.status_code == 422 and CHANGED in answer.text


class TestAnotherTab:
    """Each opens the form, changes something stored in the meantime, and saves the form."""

    def test_of_a_schedule(self, browser, made, connection):  # noqa: F811
        url = reverse("schedule_edit", args=[made.pk])
        seen = {"shown": shown(browser.get(url).text)}
        Schedule.objects.filter(pk=made.pk).update(version=99)  # a run began: not a change of the form
        assert browser.post(url, schedule_values(connection, pattern="a-*.csv") | seen).status_code == 302
        for _ in range(2):  # it stays refused until the page is opened again
            answer = browser.post(url, schedule_values(connection, cron="0 6 * * *") | seen)
            assert refused(answer)
            assert shown(answer.text) == seen["shown"]
        seen = {"shown": shown(browser.get(url).text)}
        assert browser.post(url, schedule_values(connection, cron="0 6 * * *") | seen).status_code == 302
        made.refresh_from_db()
        assert (made.pattern, made.cron) == ("orders-*.csv", "0 6 * * *")

    def test_of_a_target(self, browser):
        target = silent_target("secret")
        url = reverse("target", args=[target.pk])
        seen = shown(browser.get(url).text)
        Target.objects.update(needs_approval=True)
        assert refused(browser.post(url, target_values(ceiling="3", password="secret", shown=seen)))
        target.refresh_from_db()
        assert target.needs_approval

    def test_of_a_connection(self, browser, web):  # noqa: F811
        browser.post(new("http"), http_values(web))
        stored = SourceConnection.objects.get()
        url = reverse("connection", args=[stored.pk])
        seen = shown(browser.get(url).text)
        stored.settings = stored.settings | {"auth": "none"}
        stored.save()
        assert refused(browser.post(url, http_values(web, name="other", shown=seen)))

    def test_of_a_channel(self, browser):
        channel = Channel.objects.create(name="night", kind="mail", addresses="night@example.org", events=["failed"])
        url = reverse("channel", args=[channel.pk])
        sent = {"name": "night", "on": "on", "addresses": "day@example.org", "events": ["failed"], "most_rejects": "0"}
        sent["shown"] = shown(browser.get(url).text)
        Channel.objects.update(events=["failed", "recovered"])
        assert refused(browser.post(url, sent))
        channel.refresh_from_db()
        assert (channel.addresses, channel.events) == ("night@example.org", ["failed", "recovered"])

    def test_of_the_notifications_of_a_schedule(self, browser, made):  # noqa: F811
        channel = Channel.objects.create(name="night", kind="mail", addresses="night@example.org")
        url = reverse("schedule_subscriptions", args=[made.pk])
        seen = shown(browser.get(url).text)
        assert browser.post(url, {f"channel-{channel.pk}": ["late"], "shown": seen}).status_code == 302
        answer = browser.post(url, {f"channel-{channel.pk}": ["failed"], "shown": seen})
        assert refused(answer)
        assert [box.event for _, boxes in answer.context["rows"] for box in boxes if box.here] == ["failed"]
        assert made.subscriptions.get().events == ["late"]

    def test_of_a_person(self, browser):
        bob = operator("bob")
        url = reverse("person", args=[bob.pk])
        seen = shown(browser.get(url).text)
        browser.post(url, {"email": "", "role": Role.VIEWER, "shown": seen})
        assert refused(browser.post(url, {"email": "bob@example.org", "role": Role.OPERATOR, "shown": seen}))
        assert stored_role(User.objects.get(username="bob")) == Role.VIEWER

    def test_of_groups_and_members(self, browser):
        bob, loaders, readers = operator("bob"), Group.objects.create(name="a"), Group.objects.create(name="b")
        seen = shown(browser.get(reverse("person", args=[bob.pk])).text, form=1)
        group_seen = shown(browser.get(reverse("group", args=[readers.pk])).text)
        bob.groups.add(loaders)
        answer = browser.post(reverse("person_groups", args=[bob.pk]), {"groups": [readers.pk], "shown": seen})
        assert refused(answer)
        assert list(bob.groups.all()) == [loaders]
        readers.user_set.add(bob)
        assert refused(browser.post(reverse("group_members", args=[readers.pk]), {"shown": group_seen}))


class TestSecret:
    def test_of_a_target_is_asked_for_again(self, browser):
        url = reverse("target", args=[silent_target("secret").pk])
        seen = {"shown": shown(browser.get(url).text)}
        answer = browser.post(url, target_values(ceiling="0", password="new") | seen).text
        assert re.search(
            rf'name="password"[^>]*is-invalid.*{NOT_KEPT}.*Left empty, the stored one stays', answer, re.DOTALL
        )
        assert NOT_KEPT not in browser.post(url, target_values(ceiling="0") | seen).text
        # The name of another one is found last of all.
        Target.objects.create(name="other", host="127.0.0.1", port=1, user="loader", database="osm", tls="off")
        assert NOT_KEPT in browser.post(url, target_values(name="other", password="new") | seen).text
        assert NOT_KEPT in browser.post(reverse("target_new"), target_values(name="", password="new", shown="")).text

    def test_of_a_connection_is_asked_for_again(self, browser, web):  # noqa: F811
        browser.post(new("http"), http_values(web))
        url = reverse("connection", args=[SourceConnection.objects.get().pk])
        seen = {"shown": shown(browser.get(url).text)}
        assert NOT_KEPT in browser.post(url, http_values(web, name="", password="new") | seen).text
        assert NOT_KEPT not in browser.post(url, http_values(web, name="", password="") | seen).text
