"""The flights are the same rows on both kinds of server, through every door: by command, by API, in the browser.

CI takes a few flights and every format, source and door at least once. `make doors` takes all flights and all
combinations, and prints a line for each.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from importer.engine.mysql.connection import Address, connect, execute
from importer.jobs.report import report as report_of
from importer.models import ImportJob, SourceFile, Target
from scripts.flights import ROWS, TABLE
from tests.conftest import FLAVOURS
from tests.dashboard.api.program import Program
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.file_servers.certificates import certificate_of_localhost
from tests.file_servers.web import web_files
from tests.importer.formats.flights import NULL, digest_of, flights, stored_digest
from tests.importer.formats.places import OF_CONNECTIONS, ORIGINS, STDIN, TEXTS, Places
from tests.importer.steps import run
from tests.people import operator
from tests.stack import PYTHON, ROOT, Stack
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")
COUNT = int(os.environ.get("FLIGHTS", "60"))
WHOLE = COUNT >= ROWS
MILLRACE = "from importer.management.command_line.main import main; main()"
SECONDS = 1200
# odfpy holds a spreadsheet in memory, some kilobytes a cell, and the other two are like jsonl and parquet.
TOO_LARGE = ("ods", "json", "arrow")
IN_CI = {
    ("mariadb", "command"): (STDIN, "sftp"),
    ("mariadb", "API"): ("glob", "xlsx", "arrow"),
    ("mariadb", "browser"): ("https", "csv", "ods"),
    ("mysql", "command"): ("s3",),
    ("mysql", "API"): ("sql", "parquet"),
    ("mysql", "browser"): ("json", "jsonl"),
}


def by_command(places: Places, target: Target, origin: str, stack: Stack) -> dict[str, object]:
    """Load with `millrace load`, in a process of its own; its report."""
    words = [*places.words(origin), "--to", target.name, "--table", "flights", "--json"]
    words += ["--null", NULL] if origin in TEXTS else []
    with (places.file("csv") if origin == STDIN else Path(os.devnull)).open("rb") as given:
        done = subprocess.run(
            [str(PYTHON), "-c", MILLRACE, "load", *words],
            cwd=ROOT, env={**stack.env, **places.environment}, stdin=given, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def by_api(places: Places, target: Target, origin: str, program: Program) -> dict[str, object]:
    """Upload the file, or name it at a connection, and start the import; its report."""
    body: dict[str, object] = {"target": target.name, "table": "flights"}
    if origin in OF_CONNECTIONS:
        body |= {"connection": places.connection(origin).name, "paths": [places.pattern(origin)]}
    else:
        file = places.file(origin)
        body["file"] = program.upload(file.read_bytes(), file.name)
    body |= {"null": [NULL]} if origin in TEXTS else {}
    begun = program.send("POST", "imports", body)
    assert begun.status_code == 201, begun.content
    run(ImportJob.objects.get())
    return program.read(f"imports/{begun.json()['job']}")


def by_browser(places: Places, target: Target, origin: str, person: User, browser: Client) -> dict[str, object]:
    """Upload the file, or choose it at a connection, and start the import on its page; its report."""
    if origin in OF_CONNECTIONS:
        address = reverse("new_from", args=[places.connection(origin).pk])
        listed = browser.get(address, {"pattern": places.pattern(origin)}).context["files"]
        assert browser.post(address, {"name": [each.name for each in listed]}).status_code == 302
        source = SourceFile.objects.latest("pk")
    else:
        file = places.file(origin)
        source = uploaded(person, file.read_bytes(), file.name)
    chosen = {**shown_form(show(browser, source)), "target": str(target.pk), "table": "flights"}
    chosen |= {"null_markers": NULL} if origin in TEXTS else {}
    answer = start(browser, source, **shown_form(show(browser, source, **chosen)))
    assert answer.status_code in (200, 302), answer.content.decode()
    return report_of(run(ImportJob.objects.get()))


@pytest.fixture(scope="module")
def places(tmp_path_factory, s3_server, sftp_server) -> Iterator[Places]:
    certificate = certificate_of_localhost(tmp_path_factory.mktemp("tls"))
    with web_files(certificate) as web:
        yield Places(flights(COUNT), tmp_path_factory.mktemp("doors"), web, certificate, s3_server, sftp_server)


@pytest.fixture
def target(database: Address) -> Target:
    with connect(database) as connection:
        execute(connection, TABLE)
    return saved_target(database)


@pytest.fixture
def load(settings, tmp_path: Path, places: Places, target: Target, stack_env: Stack, client: Client, monkeypatch):
    """Loads the flights through a door, from an origin; the report."""
    settings.UPLOAD_DIR, settings.IMPORT_FOLDERS = tmp_path / "uploads", [str(places.folder)]
    monkeypatch.setattr("importer.connections.protocols.folder.SETTLED", 0)
    person = operator("ann")
    client.force_login(person)
    doors: dict[str, Callable[[str], dict[str, object]]] = {
        "command": lambda origin: by_command(places, target, origin, stack_env),
        "API": lambda origin: by_api(places, target, origin, Program(person)),
        "browser": lambda origin: by_browser(places, target, origin, person, client),
    }
    return lambda door, origin: doors[door](origin)


def cells() -> Iterator[tuple[str, str, str]]:
    """Server, door and origin of each import that is tried. Only a command has a standard input."""
    for (server, door), few in IN_CI.items():
        every = [each for each in ORIGINS if each not in TOO_LARGE and (each != STDIN or door == "command")]
        yield from ((server, door, origin) for origin in (every if WHOLE else few) if server in FLAVOURS)


@pytest.mark.parametrize(("server", "door", "origin"), list(cells()), indirect=["server"])
def test_every_flight_arrives_as_it_is(server, door, origin, database, places, load):
    began = time.monotonic()
    report = load(door, origin)
    assert (report["outcome"], report["balanced"]) == ("succeeded", True), report
    with connect(database) as connection:
        found = stored_digest(connection)
    if WHOLE:
        count, digest = found
        print(f"\n| {server.flavour} | {door} | {origin} | {count:,} | {digest} | {time.monotonic() - began:.0f} s |")
    assert found == digest_of(places.rows)
