"""An account that does not see all of its server: each page that reads the server says what it does not see."""

import re
from collections.abc import Iterator
from html import unescape
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from importer import targets
from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.diagnosis.sessions import SEES_ALL_SESSIONS, SEES_LOCKS
from importer.engine.schema.alter_table import UNSEEN, progress_on_mysql
from importer.models import Chunk, Target
from tests.dashboard.api.program import Program
from tests.dashboard.job_data import make_job
from tests.dashboard.jobs.test_why import said
from tests.engine.mysql.diagnosis.scene import Scene, scene
from tests.engine.preflight.test_preflight import account
from tests.people import admin
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_servers]

PRESCRIBED = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP ON {db}.*"
PROCESS = "PROCESS ON *.*"
HELD = {
    "a table": ("LOCK TABLES t WRITE",),
    "a row": ("START TRANSACTION", "INSERT INTO t VALUES (7, 7)"),
}
# The functions that read the work of others on the server, and how pages say what they do not see.
READERS = {
    "importer/engine/mysql/diagnosis/sessions.py": "Snapshot.missing, on the card of the server and in the banner",
    "importer/engine/preflight/access.py": "the finding of the check",
    "importer/engine/schema/alter_table.py": "the words of the progress",
    "importer/engine/target/table_identity.py": "compared only where it is known, else by the time of creation",
}
READS = re.compile(r"performance_schema\.|\bINNODB_[A-Z]+|information_schema\.PROCESSLIST|SHOW (FULL )?PROCESSLIST")


def test_each_reader_of_what_others_do_is_known():
    folders = (Path(settings.BASE_DIR) / each for each in ("importer", "dashboard", "config"))
    files = (each for folder in folders for each in folder.rglob("*.py") if READS.search(each.read_text()))
    assert {str(each.relative_to(settings.BASE_DIR)) for each in files} == set(READERS)


@pytest.fixture
def made(server: TestServer) -> Iterator[Scene]:
    with server.fresh_database() as address, scene(address) as opened:
        yield opened


@pytest.fixture(params=["nothing", "the processes"])
def blind(request: pytest.FixtureRequest, server: TestServer, made: Scene) -> Iterator[tuple[Address, str]]:
    """An account that sees nothing or no more than the processes of others, and the grant that it has not."""
    sees_processes = request.param == "the processes"
    if sees_processes and server.flavour == "mariadb":
        pytest.skip("MariaDB shows locks to who sees the processes")
    with account(server, made.address, PRESCRIBED, *([PROCESS] if sees_processes else [])) as address:
        lacks = SEES_LOCKS if sees_processes else SEES_ALL_SESSIONS
        yield address, lacks.partition(" TO ")[0]


@pytest.fixture
def target(blind: tuple[Address, str]) -> Target:
    target = saved_target(blind[0], "shop")
    targets.check(target)
    return target


def text(answer) -> str:
    return " ".join(re.sub("<[^>]*>", " ", unescape(answer.text)).split())


def test_the_check_and_the_list_say_it(client, target: Target, blind: tuple[Address, str]):
    client.force_login(admin("root"))
    page = text(client.get(reverse("target", args=[target.pk])))
    assert "does not see transactions and locks of others" in page
    assert blind[1] in page
    assert re.search(r"\d hints?", text(client.get(reverse("targets"))))


@pytest.mark.parametrize("lock", HELD)
def test_the_page_of_an_import_that_waits_says_it(
    client, redis, made: Scene, target: Target, blind: tuple[Address, str], lock: str
):
    client.force_login(admin("root"))
    holder = made.other(*HELD[lock]).thread_id()
    made.address = blind[0]
    idle = made.other("SELECT 1").thread_id()  # of the account, and in nobody's way
    own = made.waiting("INSERT INTO t VALUES (7, 8)")
    job = make_job(table="t", target=target, schema_name=made.address.database, started_at=timezone.now())
    job.chunks.filter(status=Chunk.Status.LOADING).update(connection_id=own)
    parts = unescape(said(client, job, blind[1]))
    assert "This account sees only a part" in parts
    sees_processes = "performance_schema" in blind[1]
    # Who sees all is told who it could be; who does not is told of none that is in nobody's way.
    assert sees_processes or f"connection {idle} " not in parts
    assert ("not seen by this account" in parts) is not sees_processes
    if lock == "a table":
        assert "t is locked" in parts
        assert f"To see who holds it: {blind[1]}" in parts or f"connection {holder} " in parts


@pytest.mark.parametrize("lock", HELD)
def test_the_command_and_the_api_say_it(redis, made: Scene, target: Target, blind: tuple[Address, str], lock):
    """At once: not after the seconds in which nothing has moved."""
    made.other(*HELD[lock])
    made.address = blind[0]
    own = made.waiting("INSERT INTO t VALUES (7, 8)")
    job = make_job(table="t", target=target, schema_name=made.address.database, started_at=timezone.now())
    job.chunks.filter(status=Chunk.Status.LOADING).update(connection_id=own)
    out = StringIO()
    call_command("job", "why", str(job.pk), stdout=out)
    assert "sees only a part of what others do on its server. To see more: " in out.getvalue()
    assert f"{blind[1]} TO " in out.getvalue()
    program, address = Program(admin("root")), f"imports/{job.pk}/causes"
    wait_until(lambda: program.read(address)["unseen"], 20, "the look at the server")
    assert blind[1] in [each.partition(" TO ")[0] for each in program.read(address)["unseen"]]


# What else is about an import, its workers and their server: none of it is broken by what the account does not see.
OTHERS = ("job", "job_live", "job_timings", "target", "home", "workers", "lab_new", "lab_experiments")


def test_the_other_pages_do_without(client, redis, made: Scene, target: Target):
    client.force_login(admin("root"))
    made.other(*HELD["a row"])
    job = make_job(table="t", target=target, schema_name=made.address.database, started_at=timezone.now())
    about = {"job": [job.pk], "job_live": [job.pk], "job_timings": [job.pk], "target": [target.pk]}
    answers = {name: client.get(reverse(name, args=about.get(name, []))).status_code for name in OTHERS}
    assert set(answers.values()) == {200}, answers


def test_the_progress_of_keys_says_it(server: TestServer, made: Scene, blind: tuple[Address, str]):
    if server.flavour == "mariadb":
        pytest.skip("MariaDB counts it for everybody")
    with connect(blind[0]) as connection:
        assert progress_on_mysql(connection, 1).words == UNSEEN
    with connect(server.address) as connection:
        assert progress_on_mysql(connection, 1).words == ""
