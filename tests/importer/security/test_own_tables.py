"""The database with the application's own tables is no target, whichever address it has and whichever way is tried."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection as own_connection

from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.sign_in import own_tables
from importer.engine.mysql.sign_in.own_tables import OWN_NAMES, SIGN, OwnTables
from importer.engine.schema.table import read_table
from tests.importer.management.installation import Installation
from tests.proxy import proxy
from tests.targets import TestServer
from tests.web_site import own_database

REFUSED = "of Millrace itself"
TRY = "from tests.importer.security.intruder import all_tries\nanswer = all_tries({data!r}, {places!r})"


def test_no_row_gets_into_the_own_tables(database: Address, server: TestServer, tmp_path: Path):
    installation = Installation.with_tables(tmp_path, own_database(database), DJANGO_SETTINGS_MODULE="tests.settings")
    with connect(replace(database, database="")) as connection:
        path = str(fetch_all(connection, "SELECT @@socket")[0][0])
    here = socket.gethostbyname(socket.gethostname())
    with (
        server.fresh_database() as data,
        proxy(database.host, database.port) as relay,
        proxy(database.host, database.port, on=here) as of_host,
    ):
        places = {
            "127.0.0.1": ("127.0.0.1", database.port),
            "localhost": ("localhost", database.port),
            # The server itself listens on 127.0.0.1 alone.
            "name": (socket.gethostname(), of_host.port),
            "socket": (path, database.port),
            "relay": ("127.0.0.1", relay.port),
        }
        own = {name: _url(host, port, database) for name, (host, port) in places.items()}
        answer = installation.python(TRY.format(data=_url(data.host, data.port, data), places=own))
    assert {door: text for door, text in answer["said"].items() if REFUSED not in text} == {}
    assert len(answer["said"]) == 7 * len(places) + 3
    assert not answer["came_in"]


def _url(host: str, port: int, address: Address) -> dict[str, str | int]:
    return {"host": host, "port": port, "user": address.user, "database": address.database}


@pytest.fixture
def narrow(database: Address, server: TestServer) -> Iterator[Address]:
    """An account with rights on single tables: on auth_user of the application, and on a table of somebody else's."""
    with connect(database) as connection:
        execute(connection, "CREATE TABLE importer_importjob (id INT)")
        execute(connection, "CREATE TABLE auth_user (id INT)")
        execute(connection, "CREATE TABLE sales (id INT)")
        execute(connection, "CREATE USER narrow@'127.0.0.1' IDENTIFIED BY ''")
        for table in ("auth_user", "sales"):
            execute(connection, f"GRANT INSERT, SELECT ON `{database.database}`.{table} TO narrow@'127.0.0.1'")
        yield replace(database, user="narrow")
        execute(connection, "DROP USER narrow@'127.0.0.1'")


def test_an_account_that_sees_single_tables_is_refused_by_their_names(narrow: Address, monkeypatch: pytest.MonkeyPatch):
    schema = narrow.database
    with connect(narrow) as connection:
        assert read_table(connection, schema, "auth_user").columns
        monkeypatch.setattr(own_tables, "_own_database", [schema.upper])
        assert read_table(connection, schema, "sales").columns
        with pytest.raises(OwnTables):
            read_table(connection, schema, "auth_user")


def test_no_name_of_an_own_table_is_overlooked():
    with_prefix = [each for each in own_connection.introspection.django_table_names() if OWN_NAMES.match(each)]
    assert with_prefix == own_connection.introspection.django_table_names()
    assert SIGN in with_prefix
