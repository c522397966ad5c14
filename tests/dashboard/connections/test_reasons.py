"""Who administers a connection or a channel and is no admin learns nothing about ports in the network."""

import re
import socket
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from importer.engine.errors import NoConnection
from importer.engine.mysql.sign_in.reasons import PLACE_REASON_HIDDEN
from importer.models import Channel, ImportJob, Notification, SourceConnection
from importer.notifications.channels import REASON_HIDDEN
from tests.dashboard.job_data import Status, make_job
from tests.people import admin, operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def ports(closed_port: int) -> Iterator[tuple[int, int]]:
    """A port where something listens that speaks no protocol of ours, and one where nothing listens."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        listening.settimeout(0.1)
        yield listening.getsockname()[1], closed_port


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def shown(browser: Client, name: str, thing: SourceConnection | Channel) -> str:
    return browser.get(reverse(name, args=[thing.pk])).content.decode()


@pytest.fixture(params=["ftp", "http", "s3"])
def connections(request, ports, monkeypatch) -> list[SourceConnection]:
    """The same connection to an open and to a closed port."""
    for module in ("http.SILENCE", "ftp.SILENCE", "s3.SILENCE"):
        monkeypatch.setattr(f"importer.connections.protocols.{module}", 0.5, raising=False)
    shapes = {"ftp": "ftp://127.0.0.1:{}/in", "http": "http://127.0.0.1:{}/in/", "s3": "s3://bucket/in"}
    made = []
    for port in ports:
        settings = {"s3": {"endpoint": f"http://127.0.0.1:{port}", "region": "here"}}.get(request.param, {})
        made.append(
            SourceConnection.objects.create(
                name=f"p{port}",
                kind=request.param,
                base=shapes[request.param].format(port),
                settings=settings,
                private_allowed=True,
            )
        )
    return made


def test_a_check_tells_who_is_no_admin_the_same_of_an_open_and_a_closed_port(connections):
    ann, root = operator("ann"), admin("root")
    told = []
    for each in connections:
        signed_in(ann).post(reverse("connection_check", args=[each.pk]))
        each.refresh_from_db()
        page = shown(signed_in(ann), "connection", each)
        assert PLACE_REASON_HIDDEN in page
        reason = each.findings[0]["message"]
        assert PLACE_REASON_HIDDEN not in reason
        assert reason.split(": ")[-1] in page_text(shown(signed_in(root), "connection", each))
        assert reason.split(": ")[-1] not in page_text(page)
        told.append(findings_of(page))
    assert told[0] == told[1]


def page_text(html: str) -> str:
    return html.replace("&#x27;", "'").replace("&quot;", '"')


def findings_of(html: str) -> list[str]:
    return re.findall(r"There is no connection[^<]*", html)


def test_the_command_tells_it_no_more(connections, capsys):
    operator("ann")
    said = []
    for each in connections:
        with pytest.raises(SystemExit):
            call_command("connection", "check", each.name, "--as", "ann")
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert PLACE_REASON_HIDDEN in said[0]


def test_the_problem_of_a_run_is_told_to_admins_alone():
    problem = NoConnection("The file could not be fetched: Connection refused.", "http://10.0.0.1:81/in/")
    job = make_job(Status.FAILED, chunks=1, problem=problem)
    for user, sees in ((operator("ann"), False), (admin("root"), True)):
        html = signed_in(user).get(reverse("job", args=[job.pk])).content.decode()
        assert ("Connection refused" in html) == sees
        assert (PLACE_REASON_HIDDEN in html) == (not sees)
    assert ImportJob.objects.get().problem["what"] == problem.what


class TestChannels:
    @pytest.fixture
    def channels(self, ports, monkeypatch) -> list[Channel]:
        monkeypatch.setattr("importer.notifications.webhook.LONGEST", 0.5)
        made = []
        for port in ports:
            channel = Channel(name=f"p{port}", kind="webhook", url=f"http://127.0.0.1:{port}/", private_allowed=True)
            channel.set_secret("a secret that is long enough")
            channel.save()
            made.append(channel)
        return made

    def test_a_test_tells_who_is_no_admin_the_same_of_an_open_and_a_closed_port(self, channels):
        ann, root = operator("ann"), admin("root")
        for user, same in ((ann, True), (root, False)):
            told = []
            for each in channels:
                answer = (
                    signed_in(user)
                    .post(reverse("channel_test", args=[each.pk]), headers={"HX-Request": "true"})
                    .content.decode()
                )
                told.append(re.sub(r'value="\w{64}"|p?\d+', "", answer))
                assert (REASON_HIDDEN in answer) == same
            assert (told[0] == told[1]) == same

    def test_so_does_the_command(self, channels):
        operator("ann")
        for each in channels:
            with pytest.raises(CommandError, match=REASON_HIDDEN):
                call_command("channel", "test", each.name, "--as", "ann")

    def test_so_do_the_latest_messages(self, channels):
        channel = channels[0]
        Notification.objects.create(
            channel=channel, event="failed", once="1", payload={}, next_at=timezone.now(), problem="Connection refused."
        )
        assert "Connection refused" not in shown(signed_in(operator("ann")), "channel", channel)
        assert "Connection refused" in shown(signed_in(admin("root")), "channel", channel)
