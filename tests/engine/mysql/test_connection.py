from collections.abc import Iterator

import MySQLdb
import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load.methods import load_data_local
from importer.engine.mysql.connection import FEED_NAME, Address, connect, connect_loader, execute, fetch_all

pytestmark = pytest.mark.both_servers


def broken() -> Iterator[bytes]:
    """A feed that cannot be read."""
    yield b"1\n"
    raise ValueError("broken")


class TestConnect:
    def test_connect_speaks_to_the_server(self, database: Address):
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT DATABASE()") == [(database.database,)]

    def test_loader_session_is_strict_and_in_utc(self, database: Address):
        with connect_loader(database) as connection:
            mode, zone = fetch_all(connection, "SELECT @@sql_mode, @@time_zone")[0]
        assert "STRICT_ALL_TABLES" in mode
        assert zone == "+00:00"

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
