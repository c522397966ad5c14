"""A target on a real server, and a token for the real web server."""

import socket
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User

from importer.access import tokens
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.management.command_line.remote.main import main
from importer.management.command_line.remote.there import There
from importer.models import Scope, Target
from tests.people import operator
from tests.stack import Stack
from tests.targets import target_with

CREATE = "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, amount DECIMAL(8,2))"
ROWS = b"id,name,amount\n1,ann,1.50\n2,bob,\n"
INTO = {"target": "warehouse", "table": "orders"}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def target(mariadb: Address, transactional_db) -> Target:
    return target_with(mariadb, CREATE)


@pytest.fixture
def silent(target: Target) -> Iterator[socket.socket]:
    """The listening socket of the target, which says nothing: plans wait for it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Target.objects.update(port=listening.getsockname()[1])
        yield listening


@pytest.fixture
def ann(transactional_db) -> User:
    return operator("ann")


@pytest.fixture
def token(ann: User) -> str:
    """Of an operator with grants on everything."""
    return tokens.make(ann, "nightly", 30, Scope.values)[1]


@pytest.fixture
def millrace(web: Stack, token: str) -> There:
    return There(web.url, token)


@pytest.fixture
def run(web: Stack, token: str, monkeypatch, capsys) -> Iterator[Run]:
    """Runs `millrace --server URL` with these words; exit code, output, and standard error."""
    monkeypatch.setenv("MILLRACE_TOKEN", token)

    def run_words(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["--server", web.url, *words])
        return int(ended.value.code or 0), *capsys.readouterr()

    return run_words


def rows(target: Target) -> list[tuple]:
    """The rows of the table orders."""
    with connect(target.address) as connection:
        return list(fetch_all(connection, "SELECT id, name, CAST(amount AS CHAR) FROM orders ORDER BY id"))
