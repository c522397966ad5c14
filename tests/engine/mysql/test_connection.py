import socket
from collections.abc import Iterator
from dataclasses import replace
from threading import Thread

import MySQLdb
import pytest

from importer.engine.errors import TargetProblem, TargetUnreachable
from importer.engine.load.methods import load_data_local
from importer.engine.mysql.connection import FEED_NAME, Address, connect, connect_loader, execute, fetch_all
from importer.engine.mysql.error_messages import RIGHTS
from importer.engine.mysql.sign_in.encryption import TlsRequired
from tests.engine.loads import rows_of, run_sql
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers


def broken() -> Iterator[bytes]:
    """A feed that cannot be read."""
    yield b"1\n"
    raise ValueError("broken")


class TestConnect:
    def test_connect_speaks_to_the_server(self, database: Address):
        assert rows_of(database, "SELECT DATABASE()") == [(database.database,)]

    def test_loader_session_is_strict_and_in_utc(self, database: Address):
        with connect_loader(database) as connection:
            mode, zone = fetch_all(connection, "SELECT @@sql_mode, @@time_zone")[0]
        assert "STRICT_ALL_TABLES" in mode
        assert zone == "+00:00"

    def test_an_account_without_any_right_gets_the_grant(self, server: TestServer, database: Address):
        server.run(f"CREATE USER {database.database}@'%' IDENTIFIED BY 'x'")
        poor = replace(database, user=database.database, password="x")
        with pytest.raises(TargetProblem, match="error 1044") as refused, connect(poor):
            pass
        pattern = database.database.replace("_", "\\_")
        assert refused.value.advice == f"GRANT {RIGHTS} ON `{pattern}`.* TO '{poor.user}'@'%';"
        server.run(refused.value.advice)
        assert rows_of(poor, "SELECT 1") == [(1,)]

    def test_tls_is_named_where_it_may_be_what_is_missing(self, server: TestServer, database: Address):
        server.run(f"CREATE USER {database.database}@'%' IDENTIFIED BY 'x' REQUIRE SSL")
        with (
            pytest.raises(TargetProblem, match="error 1045") as refused,
            connect(replace(database, user=database.database, password="x")),
        ):
            pass
        assert "REQUIRE SSL" in refused.value.advice
        assert "--tls verify" in refused.value.advice

    def test_a_server_that_requires_tls_says_so(self, server: TestServer, database: Address):
        if server.flavour == "mariadb":
            pytest.skip("MariaDB 10.11 without a certificate refuses to turn it on")
        server.run("SET GLOBAL require_secure_transport = ON")
        try:
            with pytest.raises(TlsRequired, match="requires TLS"), connect(database):
                pass
        finally:
            run_sql(replace(database, tls="encrypt"), "SET GLOBAL require_secure_transport = OFF")

    @pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
    def test_a_port_of_another_program_is_said_to_be_none_of_a_server(self, greeting: bytes):
        with socket.create_server(("127.0.0.1", 0)) as other:

            def greet() -> None:
                client, _ = other.accept()
                client.sendall(greeting)
                client.close()

            thread = Thread(target=greet)
            thread.start()
            with (
                pytest.raises(TargetUnreachable, match="no MySQL or MariaDB server greets there"),
                connect(Address("127.0.0.1", other.getsockname()[1], "me", "", "shop")),
            ):
                pass
            thread.join()

    def test_a_connection_waits_as_long_as_its_server_waits_for_a_lock(self, database: Address):
        with connect_loader(database) as holder:
            execute(holder, "CREATE TABLE t (n INT PRIMARY KEY)")
            execute(holder, "INSERT INTO t VALUES (1)")
            with (
                pytest.raises(TargetProblem, match="error 1205"),
                connect_loader(database, read_timeout=1, session={"innodb_lock_wait_timeout": 5}) as waiting,
            ):
                execute(waiting, "INSERT INTO t VALUES (1)")

    def test_a_load_that_requests_no_file_does_not_end_with_the_error_of_the_feed_before(self, database: Address):
        statement = f"LOAD DATA LOCAL INFILE '{FEED_NAME}' INTO TABLE "
        with connect_loader(database) as connection:
            execute(connection, "CREATE TABLE t (n INT)")
            with pytest.raises(ValueError, match="broken"):
                load_data_local.load(connection, f"{statement} t", broken())
            with pytest.raises(MySQLdb.ProgrammingError, match="doesn't exist"):
                load_data_local.load(connection, f"{statement} nowhere", [b"1\n"])
            assert load_data_local.load(connection, f"{statement} t", [b"1\n2\n"]).records == 2
