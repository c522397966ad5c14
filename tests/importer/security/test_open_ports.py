"""Who may not see the network learns nothing of a port, neither by words nor by the time that an answer takes."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest

from importer import targets
from importer.access.acting import acting_as
from importer.connections import operations
from importer.engine.errors import Problem
from importer.engine.mysql.sign_in import reasons
from importer.models import Channel, SourceConnection, Target
from importer.notifications import channels, webhook
from tests.hostile_servers import KINDS
from tests.importer.connections.protocol_checks import find
from tests.people import admin, operator

pytestmark = pytest.mark.django_db

TOLD = 15.0  # seconds, far beyond those of the first answer, and less than a sign-in may take otherwise


@contextmanager
def filtered() -> Iterator[int]:
    """A port that answers no request for a connection, as behind a firewall: its queue is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, ExitStack() as opened:
        for _ in range(4):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


@pytest.fixture
def ports(closed_port: int, mariadb) -> Iterator[dict[str, int]]:
    """Ports of which somebody might learn what is there."""
    hostile = "silent", "greets by the byte", "greets in noise"
    with ExitStack() as opened:
        servers = {each: opened.enter_context(KINDS[each]()).port for each in hostile}
        yield {"closed": closed_port, "filtered": opened.enter_context(filtered()), "database": mariadb.port, **servers}


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """The seconds for which each failure was held back."""
    held: list[float] = []
    monkeypatch.setattr(reasons, "FIRST_ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(reasons, "TOLD_SECONDS", TOLD)
    monkeypatch.setattr(webhook, "LONGEST", 0.5)
    monkeypatch.setattr(reasons, "time", SimpleNamespace(monotonic=time.monotonic, sleep=held.append))
    return held


def check_target(port: int) -> str:
    target = Target.objects.create(name="t", host="127.0.0.1", port=port, user="nobody", database="d", tls="off")
    return str(targets.check(target))


def check_place(kind: str, port: int) -> str:
    """What a check, a list and the folders of a place tell."""
    place = f"127.0.0.1:{port}"
    made = SourceConnection(name=kind, kind=kind, base=f"{kind}://{place}/in", private_allowed=True)
    made.settings = {"user": "me"}
    if kind == "s3":
        made.base, made.settings = "s3://files/in", {"endpoint": f"http://{place}", "region": "here"}
        made.set_secrets({"secret_key": "secret"})
        made.settings |= {"access_key": "key"}
    made.save()
    operations.check(made)
    told = [str(operations.told_findings(made))]
    for each in (lambda: find(made, "a.csv"), lambda: operations.seen(made, "a.csv")):
        with pytest.raises(Problem) as caught:
            each()
        told.append(str(caught.value))
    return str(told)


def check_channel(port: int) -> str:
    made = Channel(name="hook", kind="webhook", url=f"http://127.0.0.1:{port}/", private_allowed=True)
    made.set_secret("a secret that is long enough")
    with pytest.raises(Problem) as caught:
        channels.test(made)
    return str(caught.value)


def checked(kind: str, port: int) -> str:
    doors = {"target": check_target, "webhook": check_channel}
    return doors[kind](port) if kind in doors else check_place(kind, port)


@pytest.mark.parametrize("kind", ["target", "webhook", "http", "ftp", "sftp", "s3"])
def test_each_port_is_told_alike_and_at_the_same_time(kind: str, ports: dict[str, int], waits: list[float]):
    told = {}
    for name, port in ports.items():
        with acting_as(operator(f"ann-{name}".replace(" ", "-"))):
            told[name] = checked(kind, port).replace(str(port), "PORT")
        Target.objects.all().delete()
        SourceConnection.objects.all().delete()
        # Each failure is held back, so all of them have come before the time for which they are.
        assert len(waits) == (1 if kind in ("target", "webhook") else 3), (name, told[name])
        assert all(0 < each <= TOLD for each in waits)
        waits.clear()
    assert len(set(told.values())) == 1, told


def test_an_admin_is_told_the_reason_at_once(ports: dict[str, int], waits: list[float]):
    with acting_as(admin("root")):
        assert "No server answers there" in check_target(ports["closed"])
        assert "Connection refused" in check_place("http", ports["closed"])
    assert waits == []
