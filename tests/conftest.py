"""Fixtures with real servers: private MariaDB and Redis, and MySQL if TEST_MYSQL_COMMAND is set."""

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import xxhash
from _pytest import main
from django.contrib.auth.management import create_permissions
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate
from redis import Redis

from config import garbage
from config.frames import in_one_piece
from importer import queue
from importer.engine.mysql.connection import Address
from importer.engine.mysql.sign_in import reasons
from importer.management.processes.private_servers import PrivateRedis
from importer.sources.store.file_store import FileStore, file_store
from tests import alternation, examples  # noqa: F401 - registers the profiles before pytest loads one
from tests.documents import all_checked
from tests.file_servers.s3 import S3Files, s3_files
from tests.filled.fixtures import filled, filled_once  # noqa: F401
from tests.prepared import copy_of_tables, copy_static_files
from tests.shell import Shell, running_shell
from tests.stack import Stack, running, wait_until
from tests.targets import TestServer, mariadb_server, mysql_server

# `TEST_MYSQL_COMMAND start PORT` starts a MySQL server and prints its URL; without it the tests run on MariaDB alone.
MYSQL_COMMAND = os.environ.get("TEST_MYSQL_COMMAND", "")
FLAVOURS = ["mariadb", "mysql"] if MYSQL_COMMAND else ["mariadb"]

# The marker of a test by the fixtures that it uses, directly or through others: what it needs apart from Python.
NEEDS = {
    "servers": "needs_database_server",
    # Private servers of their own.
    "small_pool": "needs_database_server",
    "slow_disk": "needs_database_server",
    "logging_server": "needs_database_server",
    "redis_server": "needs_redis",
    "processes": "needs_workers",
    "stack_env": "needs_workers",
    "running": "needs_workers",
    # S3, SFTP, FTP and HTTPS; the last two are the ones with a certificate.
    "s3_server": "needs_file_server",
    "sftp_server": "needs_file_server",
    "certificate": "needs_file_server",
    "chromium": "needs_browser",
}


garbage.pause()
# All that this process does, and its threads, as in processes of our own.
in_one_piece(main.pytest_cmdline_main)
in_one_piece(threading.Thread.run)


def pytest_addoption(parser: pytest.Parser) -> None:
    alternation.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    alternation.choose_seed(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how this run's choice of cases is repeated."""
    if not config.option.every_case:
        terminalreporter.write_line(f"--case-seed={config.option.case_seed} repeats this choice of cases.")


def pytest_collection_finish() -> None:
    """Look for garbage from now on: what is imported and collected is none."""
    garbage.resume()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark each test by its needs, so that `make quick` can skip every test that needs a server."""
    for item in items:
        for fixture in _fixtures(item):
            if marker := NEEDS.get(fixture):
                item.add_marker(marker)
    yield
    # After the options of the command line: of two twins, one may be left out by its name.
    alternation.alternate(config, items)
    # Tests with workers come last: others stop the workers, or leave them idle beside them.
    items.sort(key=lambda item: "stack" in _fixtures(item))


def _fixtures(item: pytest.Item) -> Sequence[str]:
    """The names of the fixtures that the test uses, directly or through others."""
    return getattr(item, "fixturenames", ())


@pytest.fixture(autouse=True, scope="session")
def failures_are_told_at_once() -> None:
    """No test waits for the moment at which all failures with a hidden reason are told."""
    reasons.TOLD_SECONDS = 0.0


@pytest.fixture(autouse=True, scope="session")
def documents_are_checked() -> Iterator[None]:
    """Each JSON document that a command prints in a test fits its schema."""
    with all_checked():
        yield


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """A SQLite database begins as a copy of one with all tables, which Django must not make again."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, django_db_keepdb: bool) -> None:
    """Makes the copy, by the name that this process has for it."""
    if django_db_keepdb:
        test = connection.settings_dict["TEST"]
        copy_of_tables(Path(test["NAME"]))
        test["MIGRATE"] = False


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Once made, the database is only emptied: nothing reads the permissions that Django would write again then."""
    post_migrate.disconnect(dispatch_uid=f"{create_permissions.__module__}.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session")
def var_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("var")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, TestServer]]:
    """All servers to test on, by flavour; started on first use, stopped at the end."""
    running = {"mariadb": mariadb_server(tmp_path_factory.mktemp("mariadb"))}
    if MYSQL_COMMAND:
        running["mysql"] = mysql_server(MYSQL_COMMAND)
    yield running
    for server in running.values():
        server.stop()


@pytest.fixture(params=FLAVOURS)
def server(request: pytest.FixtureRequest, servers: dict[str, TestServer]) -> TestServer:
    """A server of each kind for a test that is marked `both_servers`, and of one kind for others (alternation.py)."""
    return servers[request.param]


@pytest.fixture
def elsewhere(server: TestServer) -> Iterator[None]:
    """The server is at +05:00 during the test."""
    server.run("SET GLOBAL time_zone = '+05:00'")
    yield
    server.run("SET GLOBAL time_zone = 'SYSTEM'")


@pytest.fixture
def database(server: TestServer) -> Iterator[Address]:
    """An empty database on the server, dropped afterwards."""
    with server.fresh_database() as address:
        yield address


@pytest.fixture
def mariadb(servers: dict[str, TestServer]) -> Iterator[Address]:
    """An empty database on MariaDB, for tests to which the kind of server does not matter."""
    with servers["mariadb"].fresh_database() as address:
        yield address


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Files]:
    """A store with the bucket `files`."""
    with s3_files(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def store(s3_server: S3Files, settings, request) -> FileStore:
    """The installation has a store, below a prefix of this test's own."""
    settings.FILE_STORE = f"s3://files/{xxhash.xxh32_hexdigest(request.node.nodeid.encode())}"
    settings.FILE_STORE_ENDPOINT, settings.FILE_STORE_REGION = s3_server.url, "us-east-1"
    settings.FILE_STORE_ACCESS_KEY, settings.FILE_STORE_SECRET_KEY = s3_server.key, s3_server.secret
    made = file_store()
    assert made
    return made


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port where nothing listens: it is bound, so that no other process takes it during the test."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRedis]:
    server = PrivateRedis(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def redis(redis_server: PrivateRedis, settings) -> Iterator[Redis]:
    """A connection to the Redis of the live counters, for this test alone."""
    settings.REDIS_URL, settings.REDIS_IS_PRIVATE = redis_server.url, False
    queue.connection.cache_clear()
    yield queue.connection()
    queue.connection().flushdb()
    queue.connection.cache_clear()


@pytest.fixture(scope="session")
def stack_env(django_db_setup, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A function that runs `manage.py` on the test's database; no process is started."""
    return Stack(tmp_path_factory.mktemp("commands"))


@pytest.fixture(scope="session")
def shell(stack_env: Stack) -> Iterator[Shell]:
    """Runs `manage.py` on the test's database, in a tenth of the time of `stack_env.manage()`."""
    with running_shell(stack_env.env) as started:
        yield started


@pytest.fixture(scope="session")
def processes(django_db_setup, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    yield from running(tmp_path_factory.mktemp("stack"))


@pytest.fixture
def stack(processes: Stack) -> Stack:
    """Real processes on the test's database: Redis, Celery workers, beat."""
    processes.start_workers()
    return processes


@pytest.fixture
def web(stack: Stack, settings) -> Stack:
    """The stack, with its web server."""
    if not stack.web.popen:
        copy_static_files(settings.STATIC_ROOT)
        stack.web.start()
        wait_until(stack.answers, what="the web server")
    return stack


@pytest.fixture
def no_workers() -> None:
    """Stops the stack's workers until the next test with `stack`: this test takes the steps itself."""
    if Stack.started:
        Stack.started.stop_workers()
